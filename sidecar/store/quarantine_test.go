//go:build unix

package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// put makes raw the sidecar of cost.
func put(t *testing.T, d *Store, raw string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(d.Path(), "cost.json"), []byte(raw), 0o600); err != nil {
		t.Fatal(err)
	}
}

func movePending(t *testing.T, d *Store, intact func([]byte) bool) Quarantined {
	t.Helper()
	pending, err := d.Quarantine("cost.json", intact)
	if err != nil {
		t.Fatal(err)
	}
	return pending
}

// inQuarantine returns the contents of what is kept, in the order of its names.
func inQuarantine(t *testing.T, d *Store) (kept []string) {
	t.Helper()
	dir := filepath.Join(d.Path(), metaName, quarantineName)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		raw, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, string(raw))
	}
	return kept
}

func TestALoopOfQuarantinesKeepsTheSameBytesOnce(t *testing.T) {
	d := newState(t)
	for i := range 50 {
		put(t, d, "broken")
		pending := movePending(t, d, nil)
		if raw, err := os.ReadFile(pending.Path); err != nil || string(raw) != "broken" {
			t.Fatalf("%d: %q (%v) is kept", i, raw, err)
		}
		if pending.Sum != sumOf([]byte("broken")) || !strings.HasSuffix(pending.Path, pending.Sum) {
			t.Fatalf("%d: %+v does not name the sum", i, pending)
		}
		if len(pending.Dropped) > 0 {
			t.Fatalf("%d: the same bytes were dropped: %v", i, pending.Dropped)
		}
	}
	if got := inQuarantine(t, d); len(got) != 1 {
		t.Errorf("%d files are kept, want 1", len(got))
	}
}

// The first shows how it began, the last ones what it is like now, and the
// last intact one is what somebody may want back (C-98).
func TestTheQuarantineKeepsTheFirstTheLastAndTheIntact(t *testing.T) {
	d := newState(t)
	intact := func(raw []byte) bool { return bytes.HasPrefix(raw, []byte("good")) }
	var dropped []string
	for i := range 40 {
		text := fmt.Sprintf("bad %02d", i)
		if i == 3 || i == 7 {
			text = fmt.Sprintf("good %02d", i)
		}
		put(t, d, text)
		pending := movePending(t, d, intact)
		for _, gone := range pending.Dropped {
			if _, err := os.Lstat(gone.Path); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s was not dropped: %v", gone.Path, err)
			}
			dropped = append(dropped, gone.Sum)
		}
	}
	want := []string{"bad 00", "good 07", "bad 34", "bad 35", "bad 36", "bad 37", "bad 38", "bad 39"}
	if diff := cmp.Diff(want, inQuarantine(t, d)); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	if len(dropped) != 40-len(want) || dropped[0] != sumOf([]byte("bad 01")) {
		t.Errorf("%d were said to be dropped, the first of them %s", len(dropped), dropped[0])
	}
}

func TestTheQuarantineHasAMostOfBytes(t *testing.T) {
	d := newState(t)
	for i := range 7 {
		put(t, d, strings.Repeat(fmt.Sprint(i), mostRead))
		movePending(t, d, nil)
	}
	total := 0
	for _, text := range inQuarantine(t, d) {
		total += len(text)
	}
	if total != mostBytes {
		t.Errorf("%d bytes are kept, want %d", total, mostBytes)
	}
}

// Nobody has read them, so nobody knows what would go.
func TestWhatIsUnreadIsNeverRemoved(t *testing.T) {
	d := newState(t)
	path := filepath.Join(d.Path(), "cost.json")
	things := []func() error{
		func() error { return unix.Mkfifo(path, 0o600) },
		func() error { return os.Symlink("nowhere", path) },
		func() error { return os.Mkdir(path, 0o700) },
		func() error { return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, mostRead+1)) },
	}
	for i := range mostUnread {
		if err := things[i%len(things)](); err != nil {
			t.Fatal(err)
		}
		if pending := movePending(t, d, nil); pending.Sum != "" || len(pending.Dropped) > 0 {
			t.Errorf("%d: %+v", i, pending)
		}
	}
	if err := things[0](); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Quarantine("cost.json", nil); err == nil || !strings.Contains(err.Error(), "remove them") {
		t.Errorf("the quarantine has no most of them: %v", err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode().Type() != os.ModeNamedPipe {
		t.Errorf("it was moved all the same: %v (%v)", info, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for i := range 2 * mostKept { // what can be read still comes and goes
		put(t, d, fmt.Sprint(i))
		movePending(t, d, nil)
	}
	entries, err := os.ReadDir(filepath.Join(d.Path(), metaName, quarantineName))
	if err != nil || len(entries) != mostUnread+mostKept {
		t.Errorf("%d things kept (%v), want %d", len(entries), err, mostUnread+mostKept)
	}
}

// What somebody put there, or changed there, is not ours to remove; what a
// killed process left half written is.
func TestTheQuarantineRemovesOnlyWhatItMade(t *testing.T) {
	d := newState(t)
	put(t, d, "zero")
	edited := movePending(t, d, nil).Path
	dir := filepath.Dir(edited)
	if err := os.WriteFile(edited, []byte("edited"), 0o600); err != nil {
		t.Fatal(err)
	}
	foreign := []string{"notes.txt", "cost.json", "cost.json.7", "cost.json.000009.unheard", "cost.json.99999999999999999999." + sumOf(nil), "other.json.000001." + sumOf(nil)}
	for _, name := range foreign {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	litter := filepath.Join(dir, ".cost.json.000002."+sumOf(nil)+"123")
	if err := os.WriteFile(litter, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range 3 * mostKept {
		put(t, d, fmt.Sprint(i))
		movePending(t, d, nil)
	}
	for _, name := range append(foreign, filepath.Base(edited)) {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(litter); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("litter stays: %v", err)
	}
}

// An unreadable or odd thing beside it stops no quarantine (C-99).
func TestAnOddSiblingStopsNoQuarantine(t *testing.T) {
	d := newState(t)
	put(t, d, "zero")
	dir := filepath.Dir(movePending(t, d, nil).Path)
	closed := filepath.Join(dir, entryName("cost.json", 2, sumOf([]byte("closed"))))
	if err := errors.Join(
		os.WriteFile(closed, []byte("closed"), 0),
		os.Mkdir(filepath.Join(dir, entryName("cost.json", 3, sumOf(nil))), 0o700),
		unix.Mkfifo(filepath.Join(dir, entryName("cost.json", 4, sumOf([]byte("pipe")))), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	put(t, d, "one")
	if got := filepath.Base(movePending(t, d, nil).Path); got != entryName("cost.json", 5, sumOf([]byte("one"))) {
		t.Errorf("kept as %s", got)
	}
}

func TestKeepLeavesTheFileAlone(t *testing.T) {
	d := newState(t)
	put(t, d, "foreign")
	for range 3 {
		pending, err := d.Keep("cost.json", []byte("foreign"), nil)
		if err != nil || pending.Sum != sumOf([]byte("foreign")) {
			t.Fatalf("%+v (%v)", pending, err)
		}
	}
	if diff := cmp.Diff([]string{"foreign"}, inQuarantine(t, d)); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	if raw, err := d.ReadFile("cost.json", nil, 100); err != nil || string(raw) != "foreign" {
		t.Errorf("the file is %q (%v)", raw, err)
	}
}

func TestNothingTakesThePlaceOfTheQuarantine(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"a link":      func(p string) error { return os.Symlink(t.TempDir(), p) },
		"a file":      func(p string) error { return os.WriteFile(p, nil, 0o600) },
		"a pipe":      func(p string) error { return unix.Mkfifo(p, 0o600) },
		"a dead link": func(p string) error { return os.Symlink("nowhere", p) },
	} {
		d := newState(t)
		path := filepath.Join(d.Path(), metaName, quarantineName)
		if err := make(path); err != nil {
			t.Fatal(err)
		}
		put(t, d, "broken")
		_, err := d.Quarantine("cost.json", nil)
		if !errors.Is(err, ErrIrregular) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v, want %v of %s", name, err, ErrIrregular, path)
		}
		if raw, err := d.ReadFile("cost.json", nil, 100); err != nil || string(raw) != "broken" {
			t.Errorf("%s: the file is %q (%v)", name, raw, err)
		}
	}
}
