package store

import (
	"context"
	"testing"
	"time"
)

// A pause that is shorter than a commit takes is no longer than that, also in a
// process that has nothing else to do, whose timers are a millisecond late. A
// busy machine may be late too, but not each time.
func TestAShortPauseIsShort(t *testing.T) {
	fastest := time.Hour
	for range 1000 {
		pace := turnPace(0)
		if more, err := pace.Pause(t.Context(), time.Minute); !more || err != nil {
			t.Fatalf("more %v (%v)", more, err)
		}
		if fastest = min(fastest, time.Since(pace.start)); fastest < time.Millisecond/2 {
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
	for _, longest := range []time.Duration{longestTurn, time.Hour} {
		if more, err := NewPace(longest).Pause(ctx, Forever); more || err != context.Canceled {
			t.Errorf("more %v (%v)", more, err)
		}
	}
}
