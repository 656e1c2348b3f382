//go:build unix

package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func openLock(t *testing.T, d *Store, name string) *Lock {
	t.Helper()
	m, err := d.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	l, err := d.OpenLock(name, m.Locks[name])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func TestSharedLockExcludesExclusive(t *testing.T) {
	d := newState(t)
	name := OwnerFence("watchdog")
	a, b, c := openLock(t, d, name), openLock(t, d, name), openLock(t, d, name)
	try := func(f func() (bool, error)) bool {
		t.Helper()
		ok, err := f()
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	if !try(a.TryShared) || !try(b.TryShared) {
		t.Error("two cannot share")
	}
	if try(c.Try) {
		t.Error("a shared lock was taken exclusively")
	}
	a.Release()
	b.Release()
	if !try(c.Try) || try(a.TryShared) || try(b.Try) {
		t.Error("an exclusive lock does not exclude")
	}
}

func TestForeverEndsWithTheContext(t *testing.T) {
	d := newState(t)
	name := OwnerFence("watchdog")
	a, b := openLock(t, d, name), openLock(t, d, name)
	if err := a.Acquire(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	err := b.Acquire(ctx, Forever)
	wantError(t, err, context.DeadlineExceeded)
	wantError(t, err, ErrBusy)
	released := make(chan error)
	go func() { time.Sleep(20 * time.Millisecond); released <- a.Release() }()
	if err := errors.Join(b.Acquire(t.Context(), Forever), <-released); err != nil {
		t.Error(err)
	}
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
	wantError(t, l.Held(), ErrLock)
	if err := Create(d.Path(), declaration()); err != nil {
		t.Fatal(err)
	}
	wantError(t, l.Held(), ErrLock)
}

func TestRecordIsReplacedWhole(t *testing.T) {
	d := newState(t)
	name := OwnerRecord("watchdog")
	litter := filepath.Join(d.meta.Path(), "."+name+"4242")
	if err := os.WriteFile(litter, []byte("half"), 0o600); err != nil {
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
		if _, err := d.Quarantine(name); err != nil {
			t.Fatal(err)
		}
	}
	var found []string
	if err := d.Quarantined("cost.json", func(_ string, raw []byte) { found = append(found, string(raw)) }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"0cost.json", "1cost.json"}, found); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
