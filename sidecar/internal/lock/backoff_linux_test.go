package lock

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/status"
)

// A process that takes the lock again as soon as it has let it go does not keep
// it from the waiters: neither with commits that are longer than their pauses,
// nor if it would not wait itself.
func TestAWaiterComesBeforeTheFormerHolder(t *testing.T) {
	for name, wait := range map[string]time.Duration{"patient": time.Minute, "impatient": -1} {
		t.Run(name, func(t *testing.T) {
			open := opener(t)
			hog, visitor := open(), open()
			var turns atomic.Int64
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				for ctx.Err() == nil {
					switch err := hog.Acquire(ctx, wait); {
					case ctx.Err() != nil || wait < 0 && errors.Is(err, status.Busy):
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
					t.Errorf("it was taken %d times by the former holder before the waiter had it", n)
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

// A pause that is shorter than a commit takes is no longer than that, also in a
// process that has nothing else to do and has timers a millisecond late. A
// busy machine may be late too, but not each time.
func TestAShortPauseIsShort(t *testing.T) {
	fastest := time.Hour
	for range 1000 {
		backoff := NewBackoff(time.Millisecond)
		if more, err := backoff.Pause(t.Context(), time.Minute); !more || err != nil {
			t.Fatalf("more %v (%v)", more, err)
		}
		if fastest = min(fastest, time.Since(backoff.start)); fastest < time.Millisecond/2 {
			break
		}
	}
	if fastest >= time.Millisecond/2 {
		t.Errorf("the shortest of 1000 pauses of at most 75 µs took %v", fastest)
	}
}

// A context that has ended ends a pause, however short.
func TestAnEndedContextEndsAPause(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, longest := range []time.Duration{time.Millisecond, time.Hour} {
		if more, err := NewBackoff(longest).Pause(ctx, Forever); more || err != context.Canceled {
			t.Errorf("more %v (%v)", more, err)
		}
	}
}
