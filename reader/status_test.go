package reader_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/scratch/document"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// Whatever becomes of one sidecar is said of that one, and the others' fields
// are there.
func TestOneBadSidecarHidesNoOther(t *testing.T) {
	link := func(make func(old, new string) error) func(*state) error {
		return func(s *state) error {
			other := filepath.Join(s.TempDir(), "other")
			if err := os.WriteFile(other, s.text("reset", "cleared", "true"), 0o600); err != nil {
				return err
			}
			return make(other, s.path("reset"))
		}
	}
	text := func(text func(good string) string) func(*state) error {
		return func(s *state) error {
			s.put("reset", []byte(text(string(s.text("reset", "cleared", "true")))))
			return nil
		}
	}
	constant := func(c string) func(*state) error { return text(func(string) string { return c }) }
	cases := []struct {
		name   string
		do     func(*state) error
		status store.Status
	}{
		{"nothing", func(*state) error { return nil }, store.Missing},
		{"a good one", text(func(s string) string { return s }), store.OK},
		{"empty", constant(""), store.Invalid},
		{"a newline", constant("\n"), store.Invalid},
		{"a BOM", text(func(s string) string { return "\xef\xbb\xbf" + s }), store.Invalid},
		{"an empty object", constant("{}"), store.Invalid},
		{"an array", constant("[1,2]"), store.Invalid},
		{"half of it", text(func(s string) string { return s[:len(s)/2] }), store.Invalid},
		{"a null", text(func(s string) string { return strings.Replace(s, "\"cleared\":true", "\"cleared\":null", 1) }), store.Foreign},
		{"a bare NaN", text(func(s string) string { return strings.Replace(s, "\"cleared\":true", "\"cleared\":NaN", 1) }), store.Invalid},
		{"a newer format", text(func(s string) string { return strings.Replace(s, `"format":1`, `"format":2`, 1) }), store.Newer},
		{"too much", constant(strings.Repeat(" ", document.MaxSize+1)), store.Invalid},
		{"an edited value", text(func(s string) string { return strings.Replace(s, "\"cleared\":true", "\"cleared\":false", 1) }), store.Foreign},
		{"an added field", text(func(s string) string { return strings.Replace(s, "\n}", ",\"x\":1\n}", 1) }), store.Foreign},
		{"another owner's", func(s *state) error { s.put("reset", s.text("watchdog", "note", `"x"`)); return nil }, store.Foreign},
		{"another state's", func(s *state) error { s.id = "another"; s.commit("reset", "cleared", "true"); return nil }, store.Foreign},
		{"a directory", func(s *state) error { return os.Mkdir(s.path("reset"), 0o700) }, store.Unreadable},
		{"a symbolic link", link(os.Symlink), store.Unreadable},
		{"a dangling link", func(s *state) error { return os.Symlink("nowhere", s.path("reset")) }, store.Unreadable},
		{"a hard link", link(os.Link), store.Unreadable},
		{"a named pipe", func(s *state) error { return syscall.Mkfifo(s.path("reset"), 0o600) }, store.Unreadable},
	}
	if os.Geteuid() != 0 { // nothing is unreadable to root
		cases = append(cases, struct {
			name   string
			do     func(*state) error
			status store.Status
		}{"no permission", func(s *state) error { s.commit("reset", "cleared", "true"); return os.Chmod(s.path("reset"), 0) }, store.Unreadable})
	}
	var got strings.Builder
	for _, c := range cases {
		s := newState(t, declaration())
		statetest.Damaged(s.dir, "sidecar-unreadable", "sidecar-foreign", "sidecar-invalid", "sidecar-newer")
		s.commit("cost", "turns", "7")
		if err := c.do(s); err != nil {
			t.Fatal(err)
		}
		v := view(t, s.open())
		o, ok := v.Owner("reset")
		if !ok || o.Status != c.status {
			t.Errorf("%s: status %q, want %q", c.name, o.Status, c.status)
		}
		if fine := c.status == store.OK || c.status == store.Missing; fine != (o.Err == nil) {
			t.Errorf("%s: error %v", c.name, o.Err)
		}
		if (c.status == store.OK) == o.Version.IsZero() || (c.status == store.OK) == o.WrittenAt.IsZero() {
			t.Errorf("%s: version %v, written at %v", c.name, o.Version, o.WrittenAt)
		}
		for _, status := range []store.Status{store.Invalid, store.Newer, store.Foreign, store.Unreadable} {
			if is := errors.Is(o.Err, status); is != (status == c.status) {
				t.Errorf("%s: %v: is it %q? %v", c.name, o.Err, status, is)
			}
		}
		if turns, err := reader.FieldOf(v, "turns", schema.Uint).Get(); err != nil || turns != 7 {
			t.Errorf("%s: the other owner's field reads %d, %v", c.name, turns, err)
		}
		if names := ownerNames(v); names != "cost reset watchdog" {
			t.Errorf("%s: owners %s", c.name, names)
		}
		if text, err := v.MarshalJSON(); err != nil || !strings.Contains(string(text), `"turns":7`) {
			t.Errorf("%s: JSON %s, %v", c.name, text, err)
		}
		if o.Err != nil {
			fmt.Fprintf(&got, "%s: %s\n", c.name, strings.NewReplacer(s.dir, "STATE", v.StateID(), "ID").Replace(o.Err.Error()))
		}
	}
	if os.Geteuid() == 0 {
		golden(t, "owner_errors.txt", got.String())
	}
}

func TestUnknownOwnerIsNone(t *testing.T) {
	v := view(t, newState(t, declaration()).open())
	for _, name := range []string{"", "Cost", "costs", "zzz"} {
		if o, ok := v.Owner(name); ok || o != (reader.OwnerStatus{}) {
			t.Errorf("%q: got %+v, %v", name, o, ok)
		}
	}
}

// The offset of a syntax error is there for programs too.
func TestOwnerErrorHoldsTheOffset(t *testing.T) {
	s := newState(t, declaration())
	statetest.Damaged(s.dir, "sidecar-invalid")
	s.put("cost", []byte(`{"turns":012}`))
	o, _ := view(t, s.open()).Owner("cost")
	var syntax *document.SyntaxError
	if !errors.As(o.Err, &syntax) || syntax.Offset != 10 {
		t.Errorf("got %v, want a *SyntaxError at byte 10", o.Err)
	}
}
