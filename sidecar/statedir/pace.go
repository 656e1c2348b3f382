package statedir

import (
	"context"
	"math"
	"math/rand/v2"
	"time"
)

// Forever is a wait that only a context ends.
const Forever = time.Duration(math.MaxInt64)

// A Pace is the rhythm of somebody who tries again and again: pauses that grow
// with the time waited, up to a longest, so that a short wait ends soon and a
// long one costs little. Their random half keeps many waiters from trying in
// step.
type Pace struct {
	start          time.Time
	first, longest time.Duration
}

// NewPace returns the pace of a wait that begins now.
func NewPace(longest time.Duration) Pace { return Pace{time.Now(), firstPause, longest} }

const firstPause = 50 * time.Microsecond // less than a commit to a fast disk takes

// Pause sleeps before the next try. It reports false when wait has passed
// since the beginning, and returns the cause of ctx's end if that comes first.
func (p Pace) Pause(ctx context.Context, wait time.Duration) (bool, error) {
	waited := time.Since(p.start)
	left := wait - waited
	if left <= 0 {
		return false, nil
	}
	pause := min(max(waited, p.first), p.longest)
	timer := time.NewTimer(min(left, pause/2+rand.N(pause)))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false, context.Cause(ctx)
	case <-timer.C:
		return true, nil
	}
}
