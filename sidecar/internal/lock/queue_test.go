package lock

import (
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/status"
)

// waitFor waits until cond holds.
func waitFor(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for start := time.Now(); !cond(); time.Sleep(time.Millisecond) {
		if time.Since(start) > 10*time.Second {
			t.Fatal("it never happened: ", what)
		}
	}
}

func (q *queue) waiting() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.waits
}

// free reports whether l is free, by taking it for a moment.
func free(t *testing.T, l *Lock) bool {
	t.Helper()
	ok, err := l.Try()
	if err != nil {
		t.Fatal(err)
	}
	if ok {
		l.Release()
	}
	return ok
}

// The thread of a caller that has given up lets the lock go when the kernel
// grants it, also if the Lock was closed meanwhile.
func TestAWaitThatWasGivenUpLeavesNothingLocked(t *testing.T) {
	for _, closed := range []bool{false, true} {
		open := opener(t)
		holder, waiter, other := open(), open(), open()
		if err := holder.Acquire(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		wantError(t, waiter.Acquire(t.Context(), time.Millisecond), status.Busy)
		if !waiter.queue.waiting() {
			t.Fatal("no thread waits any more")
		}
		if closed {
			if err := waiter.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if free(t, other) {
			t.Fatal("the end of a wait let the holder's lock go")
		}
		holder.Release()
		waitFor(t, "the thread ends", func() bool { return !waiter.queue.waiting() })
		waitFor(t, "the lock is free", func() bool { return free(t, other) })
	}
}

// A caller that waits again has the place of the one that gave up.
func TestTheNextWaitTakesThePlaceOfTheFormer(t *testing.T) {
	open := opener(t)
	holder, first, second := open(), open(), open()
	if err := holder.Acquire(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	wantError(t, first.Acquire(t.Context(), time.Millisecond), status.Busy)
	ends := make(chan string, 2)
	var all sync.WaitGroup
	for name, l := range map[string]*Lock{"first": first, "second": second} {
		all.Go(func() {
			if err := l.Acquire(t.Context(), time.Minute); err != nil {
				t.Error(err)
				return
			}
			ends <- name
			l.Release()
		})
	}
	waitFor(t, "both wait", func() bool { return second.queue.waiting() && first.queue.waiting() })
	holder.Release()
	all.Wait()
	if len(ends) != 2 {
		t.Errorf("%d of 2 waits ended with the lock", len(ends))
	}
}

// A caller that takes the lock while the thread of an earlier wait is still in the
// kernel keeps the lock when the thread comes back: both use one open file.
func TestALateThreadTakesNothingFromItsOwnLock(t *testing.T) {
	const rounds = 300
	open := opener(t)
	var holders atomic.Int32
	var all sync.WaitGroup
	seed := rand.Uint64()
	for n := range uint64(4) {
		l, r := open(), rand.New(rand.NewPCG(seed, n))
		all.Go(func() {
			for range rounds {
				wait := time.Duration(r.IntN(300)) * time.Microsecond
				switch err := l.Acquire(t.Context(), wait); {
				case errors.Is(err, status.Busy):
					continue
				case err != nil:
					t.Error(err)
					return
				}
				if holders.Add(1) != 1 {
					t.Errorf("two have the lock (seed %d)", seed)
				}
				time.Sleep(time.Duration(r.IntN(200)) * time.Microsecond)
				holders.Add(-1)
				l.Release()
			}
		})
	}
	all.Wait()
	last := open()
	waitFor(t, "the lock is free", func() bool { return free(t, last) })
}
