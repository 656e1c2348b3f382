package lock

import (
	"context"
	"math"
	"math/rand/v2"
	"time"
)

// Forever is a wait that only a context ends.
const Forever = time.Duration(math.MaxInt64)

// A Backoff is the rhythm of repeated tries: pauses that grow with the time
// waited, up to a longest, so that a short wait ends soon and a long one costs
// little. Their random half keeps many waiters from trying in step.
type Backoff struct {
	start   time.Time
	longest time.Duration
	tries   int           // as many are made in the time that was waited, about
	before  time.Duration // how long the last wait of the kind was
}

// NewBackoff returns the backoff of a wait that begins now.
func NewBackoff(longest time.Duration) Backoff { return Backoff{time.Now(), longest, 1, 0} }

// NewFairBackoff returns the backoff of a process that waits for a turn with a
// lock, and waited as long as waited for its last one.
//
// Of n processes that take turns of a length t each waits for n·t. So each pauses
// for a part of its wait: then there are as many tries in a turn, and as small a
// part of it is lost between two, however many wait and however long a turn is.
// A process that has waited before goes by that from the start, lest newcomers
// try more often. With pauses of 0.4 ms for all, 64 processes tried 160000 times
// a second and did nothing else.
func NewFairBackoff(waited time.Duration) Backoff {
	return Backoff{time.Now(), longestTurn, 16, waited}
}

const (
	firstPause = 50 * time.Microsecond // less than a commit to a fast disk takes
	// longestTurn is the longest pause of a commit that waits for another.
	longestTurn = 2 * time.Millisecond
)

// Pause sleeps before the next try. It reports false when wait has passed
// since the beginning, and returns the cause of ctx's end if that comes first.
func (b Backoff) Pause(ctx context.Context, wait time.Duration) (bool, error) {
	waited := time.Since(b.start)
	left := wait - waited
	if left <= 0 {
		return false, nil
	}
	pause := min(max(max(waited, b.before)/time.Duration(b.tries), firstPause), b.longest)
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

// A turn is the time in which a process that has got a lock takes it again and
// again as if no other wanted it.
type turn struct {
	began, released time.Time     // the turn, and the lock when it was last let go
	waited          time.Duration // for a turn, of late, about
}

// A turn is as long as turnLength if others had the lock before, and as
// aloneLength if not. A process need not read its own commits again, so that
// eight that count in memory are half as fast again as in turns of one commit; a
// commit to a disk is about as long as a turn. A process that never had to wait
// cannot know that others do: now and then it lets them try, and so finds out.
const (
	turnLength  = time.Millisecond
	aloneLength = 16 * turnLength
)

// timeToTake is how long the waiters get to take a lock: a little longer than the
// longest pause between two tries. If none takes it, a waiter is stopped, and
// need not be asked again for aWhile.
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

// yielded begins a turn after the waiters had time to take the lock; inVain says
// that they did not.
func (t *turn) yielded(inVain bool) {
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

// begin begins a turn that was asked for at the time asked and got at the n-th
// try. One wait says little: a lucky process would try more often, and be lucky
// again.
func (t *turn) begin(asked time.Time, n int) {
	t.began = time.Now()
	var waited time.Duration
	if n > 1 {
		waited = t.began.Sub(asked)
	}
	t.waited = (3*t.waited + waited) / 4
}
