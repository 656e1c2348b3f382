package reader_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// harmed is a state with a reset.json of 4 KiB and two owners beside it.
func harmed(t *testing.T) (s *state, text []byte) {
	t.Helper()
	s = newState(t, declaration())
	s.commit("cost", "turns", "7", "total_usd", `"1.25"`)
	s.commit("watchdog", "note", `"all is well"`)
	const size, anotherCommit = 4096, len(`,"0123456789abc"`)
	least := len(s.text("reset", "cleared", "true", "future", `""`)) + anotherCommit
	text = s.text("reset", "cleared", "true", "future", fmt.Sprintf("%q", strings.Repeat("x", size-least)))
	if len(text) != size {
		t.Fatalf("the sidecar has %d bytes, want %d", len(text), size)
	}
	s.put("reset", text)
	return s, text
}

// unharmed reports whether v tells that reset is damaged and shows the others'
// fields.
func unharmed(v *reader.View) error {
	if o, _ := v.Owner("reset"); !slices.Contains([]store.Status{store.Invalid, store.Newer, store.Foreign}, o.Status) || o.Err == nil {
		return fmt.Errorf("reset is %v (%v)", o.Status, o.Err)
	}
	turns, err := reader.FieldOf(v, "turns", schema.Uint).Get()
	if err != nil || turns != 7 {
		return fmt.Errorf("turns is %d (%v)", turns, err)
	}
	note, err := reader.FieldOf(v, "note", schema.String).Get()
	if err != nil || note != "all is well" {
		return fmt.Errorf("note is %q (%v)", note, err)
	}
	return nil
}

// Whatever happens to one byte or bit of a sidecar, its owner is named as
// damaged and the other owners' fields are there.
func TestEveryTruncationAndFlippedBitIsNoticed(t *testing.T) {
	s, text := harmed(t)
	statetest.Damaged(s.dir, "sidecar-invalid")
	file, err := os.OpenFile(s.path("reset"), os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r := s.open()
	look := func(what string, at int) {
		t.Helper()
		if err := unharmed(view(t, r)); err != nil {
			t.Errorf("%s %d: %v", what, at, err)
		}
	}
	put := func(c byte, at int) {
		t.Helper()
		if _, err := file.WriteAt([]byte{c}, int64(at)); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range text {
		for bit := range 8 {
			put(c^1<<bit, i)
			look("with bit", 8*i+bit)
		}
		put(c, i)
	}
	if o, _ := view(t, r).Owner("reset"); o.Status != store.OK {
		t.Fatalf("unharmed, it is %v (%v)", o.Status, o.Err)
	}
	for size := len(text) - 1; size >= 0; size-- {
		if err := file.Truncate(int64(size)); err != nil {
			t.Fatal(err)
		}
		look("cut to bytes", size)
	}
}
