package store

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

// A turn is the time in which a process that has got a lock takes it again and
// again as if nobody else wanted it.
type turn struct {
	began, released time.Time     // the turn, and the lock when it was last let go
	waited          time.Duration // for a turn, of late, about
}

// turnLength is how long that is if others had the lock before, and aloneLength
// if not. What a process commits in a row it need not read again, so that eight
// which count in memory are half as fast again as in turns of one commit; a
// commit to a disk is about as long as a turn. Who has never had to wait
// cannot know that others do: now and then it lets them try, and so finds out.
const (
	turnLength  = time.Millisecond
	aloneLength = 16 * turnLength
)

// timeToTake is how long others get to take a lock that they wait for: a little
// longer than the longest pause between two tries. If nobody takes it, somebody is
// stopped who waits, and need not be asked again for aWhile.
const (
	timeToTake = 3 * longestTurn
	aWhile     = 64 * turnLength
)

// long reports whether the lock was held for a turn already, whether others are
// known to wait or not.
func (t *turn) long() bool {
	now := time.Now()
	return now.Sub(t.began) > turnLength && now.Sub(t.released) < longestTurn
}

// gaveWay begins a turn after others had time to take the lock; in vain says that
// they did not.
func (t *turn) gaveWay(inVain bool) {
	t.begin(time.Time{}, 1)
	if inVain {
		t.began = t.began.Add(aWhile)
	}
}

// over reports whether it is time to let others try.
func (t *turn) over() bool {
	now := time.Now()
	length := aloneLength
	if t.waited > firstPause {
		length = turnLength
	}
	return now.Sub(t.began) > length && now.Sub(t.released) < longestTurn
}

// begin begins a turn that was asked for then and got at the n-th try. One wait
// says little: who had luck once would try more often, and have it again.
func (t *turn) begin(asked time.Time, n int) {
	t.began = time.Now()
	var waited time.Duration
	if n > 1 {
		waited = t.began.Sub(asked)
	}
	t.waited = (3*t.waited + waited) / 4
}

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
