package statedir

import (
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
func put(t *testing.T, d *Dir, raw string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(d.Path(), "cost.json"), []byte(raw), 0o600); err != nil {
		t.Fatal(err)
	}
}

func quarantined(t *testing.T, d *Dir) Quarantined {
	t.Helper()
	kept, err := d.Quarantine().Move("cost.json")
	if err != nil {
		t.Fatal(err)
	}
	return kept
}

// inQuarantine returns the contents of the kept files, in the order of their
// names.
func inQuarantine(t *testing.T, d *Dir) (kept []string) {
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

func TestQuarantineKeepsTheSameBytesOnce(t *testing.T) {
	d := newState(t)
	for i := range 2 * maxQuarantined {
		put(t, d, "broken")
		kept := quarantined(t, d)
		if raw, err := os.ReadFile(kept.Path); err != nil || string(raw) != "broken" {
			t.Fatalf("%d: %q (%v) is kept", i, raw, err)
		}
		if kept.Sum != sumOf([]byte("broken")) || !strings.HasSuffix(kept.Path, kept.Sum) || len(kept.Dropped) > 0 {
			t.Fatalf("%d: got %+v", i, kept)
		}
	}
	if got := inQuarantine(t, d); len(got) != 1 {
		t.Errorf("%d files are kept, want 1", len(got))
	}
}

func TestQuarantineKeepsTheNewest(t *testing.T) {
	d := newState(t)
	if _, err := d.Quarantine().Reject("cost.json.patch", []byte("rejected"), "overflow"); err != nil {
		t.Fatal(err)
	}
	var want []string
	for i := range 3 * maxQuarantined {
		text := fmt.Sprintf("bad %02d", i)
		put(t, d, text)
		kept := quarantined(t, d)
		if want = append(want, text); len(want) <= maxQuarantined {
			continue
		}
		if len(kept.Dropped) != 1 || kept.Dropped[0].Sum != sumOf([]byte(want[0])) {
			t.Errorf("%d: dropped %+v", i, kept.Dropped)
		}
		want = want[1:]
	}
	want = append(want, "rejected", "overflow\n")
	if diff := cmp.Diff(want, inQuarantine(t, d)); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}

func TestQuarantineLeavesOtherFilesAlone(t *testing.T) {
	d := newState(t)
	put(t, d, "zero")
	dir := filepath.Dir(quarantined(t, d).Path)
	foreign := []string{"notes.txt", "cost.json", "cost.json.7", "cost.json.000009.unheard", "cost.json.99999999999999999999." + sumOf(nil), "other.json.000001." + sumOf(nil)}
	for _, name := range foreign {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	folder := newEntry("cost.json", 1, sumOf(nil)).name
	if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 2 * maxQuarantined {
		put(t, d, fmt.Sprint(i))
		quarantined(t, d)
	}
	for _, name := range append(foreign, folder) {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

func TestQuarantineIgnoresUnreadableEntries(t *testing.T) {
	d := newState(t)
	put(t, d, "zero")
	dir := filepath.Dir(quarantined(t, d).Path)
	at := func(number int, sum string) string {
		return filepath.Join(dir, newEntry("cost.json", number, sum).name)
	}
	if err := errors.Join(
		os.WriteFile(at(2, sumOf([]byte("closed"))), []byte("closed"), 0),
		os.Mkdir(at(3, sumOf(nil)), 0o700),
		unix.Mkfifo(at(4, sumOf([]byte("pipe"))), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	put(t, d, "one")
	if got := quarantined(t, d).Path; got != at(5, sumOf([]byte("one"))) {
		t.Errorf("kept as %s", got)
	}
}

func TestKeepLeavesTheFileAlone(t *testing.T) {
	d := newState(t)
	put(t, d, "foreign")
	for range 3 {
		kept, err := d.Quarantine().Keep("cost.json", []byte("foreign"))
		if err != nil || kept.Sum != sumOf([]byte("foreign")) {
			t.Fatalf("%+v (%v)", kept, err)
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
		_, err := d.Quarantine().Move("cost.json")
		if !errors.Is(err, ErrIrregular) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v, want %v of %s", name, err, ErrIrregular, path)
		}
		if raw, err := d.ReadFile("cost.json", nil, 100); err != nil || string(raw) != "broken" {
			t.Errorf("%s: the file is %q (%v)", name, raw, err)
		}
	}
}
