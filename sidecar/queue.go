package sidecar

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/apply"
)

// mostShared bounds how many Updates share one commit, so that the first one
// does not wait for an endless stream of others.
const mostShared = 64

// A queue holds the Updates of one Writer that wait for a commit. The first of
// them leads: it takes the owner's lock, lets the others run their functions,
// each in its own goroutine, publishes once and gives each its outcome. The next
// in line leads then.
type queue struct {
	mu      sync.Mutex
	waiting []*request
	led     bool
	closing bool
	guests  int // calls that use the Writer, in line or beside it
	idle    sync.Cond
	err     error // why no further commit may be tried
}

// A request is one Update, or, without a function, a wish to lead alone.
type request struct {
	fn     func(*Tx) error
	others map[string]*apply.Keys // of the owners of keys, when the Update began
	signal chan signal            // of capacity 1: the next step
	ran    chan struct{}          // closed when fn is over, however it ended
	tx     *Tx
	commit Commit
	err    error
}

type signal int

const (
	lead signal = iota // take the lock and commit for all
	run                // call your function on your tx
	done               // commit and err are set
)

func newRequest(fn func(*Tx) error) *request {
	return &request{fn: fn, signal: make(chan signal, 1), ran: make(chan struct{})}
}

// enter puts r in line. If nobody leads, r does.
func (q *queue) enter(r *request) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closing {
		return ErrClosed
	}
	if q.err != nil {
		return q.refusal()
	}
	q.waiting = append(q.waiting, r)
	q.guests++
	if !q.led {
		q.led = true
		r.signal <- lead
	}
	return nil
}

// exit ends an Update that entered, also one that has left the line.
func (q *queue) exit() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.guests--
	if q.closing {
		q.idle.Broadcast()
	}
}

// await returns the next step of r. It takes r out of the line and returns false
// if wait or ctx ends before a leader has begun with r.
func (q *queue) await(ctx context.Context, r *request, wait time.Duration) (signal, bool) {
	select {
	case s := <-r.signal: // the usual case: nobody else is in line
		return s, true
	default:
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case s := <-r.signal:
		return s, true
	case <-ctx.Done():
	case <-timer.C:
	}
	if q.leave(r) {
		return 0, false
	}
	return <-r.signal, true
}

// leave takes r out of the line unless a leader has begun with it or has
// named it to lead.
func (q *queue) leave(r *request) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(r.signal) > 0 {
		return false
	}
	for i, other := range q.waiting {
		if other == r {
			q.waiting = append(q.waiting[:i], q.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// muster takes the leader out of the line, and returns the others that may share
// its commit, which stay. A request to lead alone, and those after it, may not.
func (q *queue) muster() (others []*request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = slices.Delete(q.waiting, 0, 1)
	n := 0
	for n < min(len(q.waiting), mostShared-1) && q.waiting[n].fn != nil {
		n++
	}
	return slices.Clone(q.waiting[:n])
}

// take takes those of others out of the line that are in it still.
func (q *queue) take(others []*request) (taken []*request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = slices.DeleteFunc(q.waiting, func(r *request) bool {
		shares := slices.Contains(others, r)
		if shares {
			taken = append(taken, r)
		}
		return shares
	})
	return taken
}

// pass ends the caller's lead and lets the next in line lead.
func (q *queue) pass() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err != nil {
		for _, r := range q.waiting {
			r.err = q.refusal()
			r.signal <- done
		}
		q.waiting = nil
	}
	if len(q.waiting) > 0 {
		q.waiting[0].signal <- lead
		return
	}
	q.led = false
	if q.closing {
		q.idle.Broadcast()
	}
}

// poison makes all later Updates fail with err.
func (q *queue) poison(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.err = err
}

// refusal returns the error of a commit that is not tried, after q.err. Nothing of
// it is indeterminate, as something may be of the commit before.
func (q *queue) refusal() error {
	if errors.Is(q.err, ErrIndeterminate) {
		return fmt.Errorf("%w: an earlier commit was %s", ErrClosed, q.err)
	}
	return q.err
}

// failed returns why no further commit may be tried, or nil.
func (q *queue) failed() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.refusal()
}

// beside runs fn beside the line, unless the Writer is closed, and makes a Close
// wait for it.
func (q *queue) beside(fn func() error) error {
	q.mu.Lock()
	if q.closing {
		q.mu.Unlock()
		return ErrClosed
	}
	q.guests++
	q.mu.Unlock()
	defer q.exit()
	return fn()
}

// close refuses new requests and waits for those in line.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closing = true
	q.idle.L = &q.mu
	for q.led || q.guests > 0 {
		q.idle.Wait()
	}
}
