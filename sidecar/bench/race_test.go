package bench

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"
)

// A kind is one way to keep the state.
type kind struct {
	name  string
	lacks string // what it does not do that its neighbours do
	turn  int    // operations in a turn
	holds int    // commits in an operation, if more than one
	open  func(dir string) (contestant, error)
}

// A contestant is a kind at work in a directory of its own.
type contestant interface {
	// do is the operation; do(n) leaves or finds the value n.
	do(n int64) error
	// finish closes what is open and returns an error unless a fresh look
	// at the files finds the value n.
	finish(n int64) error
}

// A preparer is a contestant that needs something done before each operation
// that is not part of it. The turns of the others are timed as a whole, so that
// the clock itself does not count.
type preparer interface{ prepare(n int64) error }

// firstValue is where values begin: numbers of one length keep files at one
// length.
const firstValue = 1_000_000_000

// A runner lets one contestant take its turns.
type runner struct {
	kind
	contestant
	n      int64           // operations so far
	times  []time.Duration // of one operation or commit, by round
	allocs float64         // of one operation
	bytes  float64
}

// next prepares the next operation and returns its number.
func (r *runner) next() (int64, error) {
	r.n++
	n := firstValue + r.n
	if p, ok := r.contestant.(preparer); ok {
		return n, p.prepare(n)
	}
	return n, nil
}

// warm takes a turn that is not timed and counts its allocations.
func (r *runner) warm() error {
	for i := range r.turn + 1 {
		n, err := r.next()
		if err != nil {
			return err
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err = r.do(n)
		runtime.ReadMemStats(&after)
		if err != nil {
			return err
		}
		if i > 0 { // the first may have to fill a cache
			r.allocs += float64(after.Mallocs-before.Mallocs) / float64(r.turn)
			r.bytes += float64(after.TotalAlloc-before.TotalAlloc) / float64(r.turn)
		}
	}
	return nil
}

// take takes a turn.
func (r *runner) take() error {
	once := r.each
	if _, ok := r.contestant.(preparer); !ok {
		once = r.whole
	}
	spent, err := once()
	r.times = append(r.times, spent/time.Duration(r.turn*max(r.holds, 1)))
	return err
}

// whole times the turn.
func (r *runner) whole() (time.Duration, error) {
	start := time.Now()
	for range r.turn {
		r.n++
		if err := r.do(firstValue + r.n); err != nil {
			return 0, err
		}
	}
	return time.Since(start), nil
}

// each times each operation of the turn.
func (r *runner) each() (spent time.Duration, err error) {
	for range r.turn {
		n, err := r.next()
		if err != nil {
			return 0, err
		}
		start := time.Now()
		if err := r.do(n); err != nil {
			return 0, err
		}
		spent += time.Since(start)
	}
	return spent, nil
}

// A race is what one benchmark compares.
type race struct{ runners []*runner }

func (r *race) warm() error {
	for _, c := range r.runners {
		if err := c.warm(); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

// round gives everyone a turn. The order is shuffled, the same way in every
// run: nobody always follows the one who leaves the disk busy.
func (r *race) round() error {
	round := len(r.runners[0].times)
	for _, i := range rand.New(rand.NewPCG(1, uint64(round))).Perm(len(r.runners)) {
		if err := r.runners[i].take(); err != nil {
			return fmt.Errorf("%s: %w", r.runners[i].name, err)
		}
	}
	return nil
}

func (r *race) finish() error {
	for _, c := range r.runners {
		if err := c.finish(firstValue + c.n); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}
