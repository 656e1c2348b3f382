package store

import (
	"context"
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/dir"
	"golang.org/x/sys/unix"
)

// Who takes the lock again as soon as it has let it go does not keep it from
// those who wait: neither with commits that are longer than their pauses, nor if
// it would not wait itself.
func TestWhoWaitsComesBeforeWhoHadItAllTheTime(t *testing.T) {
	for name, wait := range map[string]time.Duration{"patient": time.Minute, "impatient": -1} {
		t.Run(name, func(t *testing.T) {
			d := newState(t)
			hog, visitor := openLock(t, d, OwnerLock("cost")), openLock(t, d, OwnerLock("cost"))
			var turns atomic.Int64
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				for ctx.Err() == nil {
					switch err := hog.Acquire(ctx, wait); {
					case ctx.Err() != nil || wait < 0 && errors.Is(err, ErrBusy):
						continue
					case err != nil:
						ended <- err
						return
					}
					turns.Add(1)
					time.Sleep(20 * time.Millisecond) // as long as a slow disk takes
					hog.Release()
				}
				ended <- nil
			}()
			for range 5 {
				before := turns.Load()
				for ; turns.Load() < before+3; time.Sleep(time.Millisecond) {
				}
				before = turns.Load()
				if err := visitor.Acquire(t.Context(), Forever); err != nil {
					t.Fatal(err)
				}
				if n := turns.Load() - before; n > 40 {
					t.Errorf("it was taken %d times by the other before who waited had it", n)
				}
				visitor.Release()
			}
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}

// Somebody who says that he waits, and is stopped, holds nobody up for long.
func TestWhoWaitsAndIsStoppedIsNotWaitedForEachTime(t *testing.T) {
	d := newState(t)
	l, stopped := openLock(t, d, OwnerLock("cost")), openLock(t, d, OwnerLock("cost"))
	want(stopped.fd(), true)
	if !wanted(l.fd()) || wanted(stopped.fd()) {
		t.Fatal("who waits is not seen by others, or by himself")
	}
	gave, start := 0, time.Now()
	for range 200 {
		if err := l.Acquire(t.Context(), -1); err != nil {
			t.Fatal(err)
		}
		before := l.turn.began
		l.Release()
		if err := l.Acquire(t.Context(), -1); err != nil {
			t.Fatal(err)
		}
		if l.turn.began != before {
			gave++
		}
		l.Release()
	}
	if took := time.Since(start); gave == 0 || gave > 1+int(took/aWhile) {
		t.Errorf("it gave way %d times in %v", gave, took)
	}
	want(stopped.fd(), false)
	if wanted(l.fd()) {
		t.Error("somebody is said to wait who does not any more")
	}
}

// However many defer without pause, a seal comes: who comes after it
// was wanted does not keep it waiting.
func TestASealComesWhileOthersGoOn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	err := Create(dir, &schema.Declaration{State: "agent", Owners: map[string]schema.Owner{
		"cost": {Busy: schema.Busy{Then: schema.Defer}, Fields: map[string]schema.Field{"n": {Type: schema.TypeUint, Kind: schema.Counter}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	d, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	const setters = 8
	var set atomic.Int64
	for range setters {
		go func() {
			for ctx.Err() == nil {
				switch err := setOne(d); {
				case err == nil:
					set.Add(1)
				case !errors.Is(err, ErrBusy):
					ended <- err
					return
				}
			}
			ended <- nil
		}()
	}
	for range 5 {
		for before := set.Load(); set.Load() < before+2*setters; time.Sleep(time.Millisecond) {
		}
		a, err := d.OpenPending("cost")
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Seal(t.Context(), time.Minute); err != nil {
			t.Error(err)
		}
		a.Close()
	}
	stop()
	for range setters {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	a, err := d.OpenPending("cost")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if err := a.Share(); err != nil {
		t.Errorf("after the last seal: %v", err)
	}
}

// setOne keeps the directory of pending patches for as long as it takes to put
// one there, on a slow disk.
func setOne(d *Store) error {
	a, err := d.OpenPending("cost")
	if err != nil {
		return err
	}
	defer a.Close()
	if err := a.Share(); err != nil {
		return err
	}
	defer a.Unshare()
	time.Sleep(20 * time.Millisecond)
	return nil
}

// The name that the kernel has for a lock is asked for in the same way, and says
// nothing of those who wait.
func TestWhoWaitsIsNoHolder(t *testing.T) {
	d := newState(t)
	l, other := openLock(t, d, OwnerLock("cost")), openLock(t, d, OwnerLock("cost"))
	want(l.fd(), true)
	if pid := other.Holder(); pid != 0 {
		t.Errorf("process %d is said to hold a lock that somebody waits for", pid)
	}
	if name, err := kernelName(int(other.file.Fd())); name == "" || err != nil {
		t.Errorf("%q (%v)", name, err)
	}
	if free, err := dir.Flock(int(other.file.Fd()), unix.LOCK_EX); !free || err != nil {
		t.Errorf("free %v (%v)", free, err)
	}
}
