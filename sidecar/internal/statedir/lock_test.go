package statedir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"github.com/google/go-cmp/cmp"
)

func openLock(t *testing.T, d *Dir, name string) *Lock {
	t.Helper()
	m, err := d.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	l, err := d.OpenLock(m, name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// The lock files of a directory that was moved away are intact, and hold
// nothing: nobody else comes by there.
func TestLockInAMovedDirectoryIsLost(t *testing.T) {
	d := newState(t)
	l := openLock(t, d, OwnerLock("cost"))
	if err := l.Acquire(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(d.Path(), metaName), filepath.Join(d.Path(), "elsewhere")); err != nil {
		t.Fatal(err)
	}
	wantError(t, l.Held(), status.Lost)
	if err := Create(d.Path(), declaration()); err != nil {
		t.Fatal(err)
	}
	wantError(t, l.Held(), status.Lost)
}

func TestRecordIsReplacedWhole(t *testing.T) {
	d := newState(t)
	name := OwnerRecord("watchdog")
	litter := filepath.Join(d.meta.Path(), "."+name+"424200000000000")
	if err := os.WriteFile(litter, []byte("{\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"one", "two"} {
		if err := d.WriteRecord(name, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := d.ReadRecord(name, nil, 10); string(got) != text || err != nil {
			t.Errorf("read %q (%v), want %q", got, err, text)
		}
	}
	if _, err := os.Lstat(litter); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what a killed writer left is there: %v", err)
	}
}

// A reader that opened a file just before it was replaced reads the old one,
// whole.
func TestReplacedFileIsReadWhole(t *testing.T) {
	d := newState(t)
	path := filepath.Join(d.Path(), "cost.json")
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			os.WriteFile(path+".new", []byte("content"), 0o600)
			os.Rename(path+".new", path)
		}
	}()
	defer func() { close(stop); <-done }()
	for range 20_000 {
		got, err := d.ReadFile("cost.json", nil, 100)
		if err != nil && !errors.Is(err, os.ErrNotExist) || err == nil && string(got) != "content" {
			t.Fatalf("read %q (%v)", got, err)
		}
	}
}

func TestQuarantinedAreFoundByName(t *testing.T) {
	d := newState(t)
	for i, name := range []string{"cost.json", "cost.json", "watchdog.json"} {
		if err := os.WriteFile(filepath.Join(d.Path(), name), fmt.Append(nil, i, name), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Quarantine().Move(name); err != nil {
			t.Fatal(err)
		}
	}
	var found []string
	if err := d.Quarantine().Each("cost.json", func(_ string, raw []byte) { found = append(found, string(raw)) }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"0cost.json", "1cost.json"}, found); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
