package lock

import (
	"context"
	"math"
	"math/rand/v2"
	"time"
)

// Forever is a wait that only a context ends.
const Forever = time.Duration(math.MaxInt64)

// A Backoff is the rhythm of repeated tries where the kernel has no queue: for a
// lock that is shared, and for several locks at once. The pauses grow with the time
// waited, so that many that wait long for long turns cost little. Their random half
// keeps them from trying in step.
type Backoff struct {
	start   time.Time
	longest time.Duration
}

// NewBackoff returns the backoff of a wait that begins now.
func NewBackoff(longest time.Duration) Backoff { return Backoff{time.Now(), longest} }

const (
	firstPause = 50 * time.Microsecond // less than a commit to a fast disk takes
	// LongestPause is the longest pause of a call that waits for a short one.
	LongestPause = 2 * time.Millisecond
)

// Pause sleeps before the next try. It reports false when wait has passed
// since the beginning, and returns the cause of ctx's end if that comes first.
func (b Backoff) Pause(ctx context.Context, wait time.Duration) (bool, error) {
	waited := time.Since(b.start)
	left := wait - waited
	if left <= 0 {
		return false, nil
	}
	pause := min(max(waited/8, firstPause), b.longest)
	pause = min(left, pause/2+rand.N(pause))
	if pause < time.Millisecond { // too short for ctx to end it
		nanosleep(pause)
		return ctx.Err() == nil, context.Cause(ctx)
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false, context.Cause(ctx)
	case <-timer.C:
		return true, nil
	}
}
