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
	start   time.Time
	longest time.Duration
	tries   int           // as many are made in the time that was waited, about
	before  time.Duration // how long the last wait of the kind was
}

// NewPace returns the pace of a wait that begins now.
func NewPace(longest time.Duration) Pace { return Pace{time.Now(), longest, 1, 0} }

// turnPace returns the pace of who waits for a turn, and waited so long for the
// last one.
//
// Of n processes that take turns of a length t each waits for n·t. So each pauses
// for a part of what it waited: then there are as many tries in a turn, and as
// small a part of it is lost between two, however many wait and however long a
// turn is. Whoever has waited before goes by that from the start, lest those who
// have just come try more often than those who wait. With pauses of 0.4 ms for
// all, 64 processes tried 160000 times a second and did nothing else.
func turnPace(waited time.Duration) Pace { return Pace{time.Now(), longestTurn, 16, waited} }

// longestTurn is the longest pause of a commit that waits for another.
const longestTurn = 2 * time.Millisecond

const firstPause = 50 * time.Microsecond // less than a commit to a fast disk takes

// Pause sleeps before the next try. It reports false when wait has passed
// since the beginning, and returns the cause of ctx's end if that comes first.
func (p Pace) Pause(ctx context.Context, wait time.Duration) (bool, error) {
	waited := time.Since(p.start)
	left := wait - waited
	if left <= 0 {
		return false, nil
	}
	pause := min(max(max(waited, p.before)/time.Duration(p.tries), firstPause), p.longest)
	pause = min(left, pause/2+rand.N(pause))
	if pause < time.Millisecond { // too short for ctx to end it
		doze(pause)
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
