package sidecar

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// Row FC8: a sidecar that has grown to its bound refuses what would make it
// longer, says so and keeps what it has; what makes it shorter is welcome.
func TestAFullSidecarKeepsWhatItHas(t *testing.T) {
	s := newUsage(t)
	long := strings.Repeat("x", schema.MaxString)
	put := func(n int) func(*Tx) {
		return func(tx *Tx) { skillsMap(tx).Key(fmt.Sprint("skill ", n)).CreatedBy().Set(long) }
	}
	w, n := s.open("creator"), 0
	for ; ; n++ {
		before := s.text("creator")
		c, err := w.Update(t.Context(), func(tx *Tx) error { put(n)(tx); return nil })
		if err == nil {
			continue
		}
		wantError(t, err, ErrValue, "creator.json", "1048576")
		if !same(c, Commit{}) || s.text("creator") != before {
			t.Errorf("a commit that did not fit is %+v", c)
		}
		break
	}
	if n < 2 {
		t.Fatalf("it was full after %d keys", n)
	}
	if c := s.update("creator", func(tx *Tx) { skillsMap(tx).Delete("skill 0"); put(n)(tx) }); c.Outcome != Applied {
		t.Errorf("one for another is %+v", c)
	}
}

// Row FF2: who deletes a state under its Writers gets no empty one in its place:
// they say that it is gone, claims too, and none of them makes it again, also one
// that was opened to create it.
func TestADeletedStateIsNotMadeAgain(t *testing.T) {
	dir := newLatches(t)
	w := openLatches(t, dir, "hook", &Options{Create: true})
	if won, _, err := w.Claim(t.Context(), "fired"); !won {
		t.Fatal(err)
	}
	raise := func(tx *Tx) error { tx.Apply(op("turn", schema.VerbRaise, "1")); return nil }
	update(t, w, raise)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, err := w.Update(t.Context(), raise)
		wantError(t, err, store.Moved)
		for _, field := range []string{"fired", "ended"} {
			won, by, err := w.Claim(t.Context(), field)
			wantError(t, err, store.Moved)
			if won || by != (Claimant{}) {
				t.Errorf("%s: won %v by %+v", field, won, by)
			}
		}
	}
	_, err := Open(t.Context(), dir, latches(), "hook", nil)
	wantError(t, err, store.NoState)
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("somebody has made it again: %v", err)
	}
}
