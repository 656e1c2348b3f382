package lock

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/dir"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"golang.org/x/sys/unix"
)

// opener makes a lock file in a new state directory, and returns a function that
// opens it.
func opener(t *testing.T) func() *Lock { return openerIn(t, t.TempDir()) }

func openerIn(t *testing.T, folder string) func() *Lock {
	t.Helper()
	state, err := dir.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(state.Close)
	var st unix.Stat_t
	err = errors.Join(state.Remember(), state.Mkdir("meta"), os.WriteFile(state.Join("meta/lock"), nil, 0o600), unix.Stat(state.Join("meta/lock"), &st))
	if err != nil {
		t.Fatal(err)
	}
	return func() *Lock {
		t.Helper()
		l, err := Open(state, "meta/lock", st.Ino, "")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l
	}
}

func wantError(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

func TestLockKeepsOneHolder(t *testing.T) {
	open := opener(t)
	a, b := open(), open()
	if err := a.Acquire(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	wantError(t, b.Acquire(t.Context(), time.Millisecond), status.Busy)
	if err := a.Release(); err != nil {
		t.Fatal(err)
	}
	if err := b.Acquire(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	wantError(t, a.Acquire(t.Context(), 0), status.Busy)
}

func TestSharedLockExcludesExclusive(t *testing.T) {
	open := opener(t)
	a, b, c := open(), open(), open()
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
	open := opener(t)
	a, b := open(), open()
	if err := a.Acquire(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	err := b.Acquire(ctx, Forever)
	wantError(t, err, context.DeadlineExceeded)
	wantError(t, err, status.Busy)
	released := make(chan error)
	go func() { time.Sleep(20 * time.Millisecond); released <- a.Release() }()
	if err := errors.Join(b.Acquire(t.Context(), Forever), <-released); err != nil {
		t.Error(err)
	}
}

// The lock files of a directory that was moved away are intact, and hold
// nothing: no other process comes by there.
func TestLockThatIsAnotherFileIsLost(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"removed":               os.Remove,
		"moved with its folder": func(path string) error { return os.Rename(filepath.Dir(path), filepath.Dir(path)+".away") },
		"in a folder made anew": func(path string) error {
			dir := filepath.Dir(path)
			return errors.Join(os.Rename(dir, dir+".away"), os.Mkdir(dir, 0o700), os.WriteFile(path, nil, 0o600))
		},
		"replaced": func(path string) error {
			return errors.Join(os.Rename(path, path+".gone"), os.WriteFile(path, nil, 0o600))
		},
		"a link": func(path string) error {
			return errors.Join(os.Rename(path, path+".gone"), os.Symlink("lock.gone", path))
		},
		"linked twice": func(path string) error { return os.Link(path, path+".twin") },
		"a pipe":       func(path string) error { return errors.Join(os.Remove(path), unix.Mkfifo(path, 0o600)) },
		"a directory":  func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
	} {
		t.Run(name, func(t *testing.T) {
			l := opener(t)()
			if err := damage(l.state.Join(l.path)); err != nil {
				t.Fatal(err)
			}
			wantError(t, l.Acquire(t.Context(), 0), status.Lost)
			_, err := Open(l.state, l.path, l.ino, "")
			wantError(t, err, status.Lost)
			if status.RemedyOf(err).Verb != status.Repair {
				t.Errorf("%v has the remedy %v", err, status.RemedyOf(err))
			}
		})
	}
}
