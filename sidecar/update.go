package sidecar

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/apply"
)

// An Outcome is the end of a commit that did not fail.
type Outcome int

// The outcomes of a commit.
const (
	NotApplied Outcome = iota // nothing changed
	Applied                   // the sidecar has a new version
	Unchanged                 // every field had its value already
	Deferred                  // the lock was not to be had; a later commit folds it
)

// String returns the outcome as a word.
func (o Outcome) String() string {
	switch o {
	case Applied:
		return "applied"
	case Unchanged:
		return "unchanged"
	case Deferred:
		return "deferred"
	}
	return "not applied"
}

// A Commit is the result of an Update.
type Commit struct {
	Outcome Outcome
	// Version of the sidecar with the commit in it, and after an error that wraps
	// [ErrIndeterminate] the version to ask [Resolve] for; zero after any other
	// error. If the commit is deferred, Version has the id of the patch alone.
	Version Version
	// Folded is how many pending patches the commit has folded, if it is the first
	// of those that share a replacement of the file. An Update that is deferred or
	// not applied may have folded some, too.
	Folded int
	// Changes are the values that the Update changed, sorted by field and key. If
	// the commit is deferred there are none: the values before are not known.
	Changes []Change
}

// Update calls fn with the owner's fields as they stand and commits the changes
// that fn made, all of them or none. It calls fn at most once, under the owner's
// lock; fn must be quick and do no input or output. If fn returns an error or
// panics, nothing changes.
//
// Update waits for other processes no longer than the owner's wait, nor than
// ctx, and then returns an error that wraps [ErrBusy]. If the owner defers, fn
// is called then on a Tx that only writes, and the operations become a pending
// patch, which views count at once and a later commit folds. The error wraps
// ErrBusy all the same if fn reads, or if too much is deferred already.
//
// To fold the pending patches of other processes is a part of the wait. If they
// need more than one version of the sidecar, and there is no time for another,
// Update ends as if busy; [Commit].Folded says how many it has folded, and the
// next Update goes on. Patches that are deferred while fn runs come after the
// commit, and views may show them before it; each operation by itself is one
// step.
//
// Other errors that a caller may want to tell apart: [store.Foreign],
// [store.Invalid] and [store.Unreadable], if the sidecar is not as Freehold left
// it, which Update does not touch then; [ErrValue]; [ErrConflict]; [ErrNoKey];
// [ErrFenced]; [ErrDeclaration], if the state was upgraded meanwhile;
// [store.Moved]; [ErrIndeterminate], and [ErrClosed] ever after.
func (w *Writer) Update(ctx context.Context, fn func(*Tx) error) (Commit, error) {
	start, wait := time.Now(), w.patience()
	if err := context.Cause(ctx); err != nil {
		return Commit{}, fmt.Errorf("%s: not applied: %w; try again", w.path, err)
	}
	r := newRequest(fn)
	r.others = w.look()
	if err := w.queue.enter(r); err != nil {
		return Commit{}, fmt.Errorf("%s: not applied: %w", w.path, err)
	}
	defer w.queue.exit()
	for {
		s, ok := w.queue.await(ctx, r, wait-time.Since(start))
		if !ok {
			return w.busy(ctx, r, w.late(ctx))
		}
		switch s {
		case run:
			r.run()
		case lead:
			w.lead(ctx, r, wait-time.Since(start))
			if errors.Is(r.err, ErrBusy) {
				return w.busy(ctx, r, r.err)
			}
			return r.commit, r.err
		case done:
			return r.commit, r.err
		}
	}
}

// Fold commits until all patches that were pending when the last of these
// commits began are folded, and returns that commit with Folded summed over all.
// Fold begins no commit after limit, but makes one at least; if limit is
// negative, Fold goes on as long as each commit folds a patch. Folded patches
// stay folded after an error. The errors are those of [Writer.Update]; nothing
// is deferred. Several goroutines may call Fold at once.
func (w *Writer) Fold(ctx context.Context, limit time.Duration) (Commit, error) {
	start, folded := time.Now(), 0
	for {
		c, err := w.Update(ctx, func(tx *Tx) error { return tx.busy })
		folded += c.Folded
		more := errors.Is(err, ErrBusy) && c.Folded > 0 && ctx.Err() == nil
		if c.Folded = folded; !more || limit >= 0 && time.Since(start) >= limit {
			return c, err
		}
	}
}

// look reads the keys of the maps that other owners decide.
func (w *Writer) look() map[string]*apply.Keys {
	if len(w.keysOwners) == 0 {
		return nil
	}
	seen := make(map[string]*apply.Keys, len(w.keysOwners))
	for owner, n := range w.keysOwners {
		seen[owner] = w.keysOf(owner, n)
	}
	return seen
}

// busy ends an Update that did not get the lock in time. It defers the Update
// unless the Update was cancelled, or its own function said that it is busy.
func (w *Writer) busy(ctx context.Context, r *request, err error) (Commit, error) {
	c := r.commit
	cancelled := errors.Is(ctx.Err(), context.Canceled)
	if w.known.Defers() && w.declared.Defers() && r.tx == nil && !cancelled {
		c, err = w.deferUpdate(r, err)
		c.Folded = r.commit.Folded
	}
	return c, err
}

// late returns the error of an Update that waited too long in line.

func (w *Writer) late(ctx context.Context) error {
	err := fmt.Errorf("%s: %w: other updates of this program, or another process that they wait for, took longer than %v; try again", w.path, ErrBusy, w.wait)
	if cause := context.Cause(ctx); cause != nil {
		return fmt.Errorf("%w (%w)", err, cause)
	}
	return err
}

// errAborted is the error of an Update with a function that panicked or ended its
// goroutine. Only a deferred function can see it.
var errAborted = errors.New("the update's function did not return")

// run calls the request's function in the goroutine that wants it, so that a
// panic or runtime.Goexit ends the right one.
func (r *request) run() {
	returned := false
	defer func() {
		if !returned {
			r.tx.err = errAborted
		}
		r.tx.done = true
		close(r.ran)
	}()
	if err := r.fn(r.tx); err != nil {
		r.tx.err = err
	}
	returned = true
}

// lead commits for r and for the others in line.
func (w *Writer) lead(ctx context.Context, r *request, wait time.Duration) {
	end := time.Now().Add(wait)
	if err := w.acquire(ctx, wait); err != nil {
		w.queue.leave(r)
		r.err = err
		w.queue.pass()
		return
	}
	b := &batch{w: w, requests: []*request{r}, err: errAborted} // unless begin returns
	defer b.finish()                                            // also if r's own function panics
	others := w.queue.muster()
	if b.err = b.begin(func() error { return overdue(ctx, end) }); errors.Is(b.err, errUnfinished) {
		return // the others have their own time
	}
	if b.requests = append(b.requests, w.queue.take(others)...); b.err != nil {
		return
	}
	for _, other := range b.requests[1:] {
		b.admit(other)
		other.signal <- run
		<-other.ran
		b.settle(other)
	}
	b.admit(r)
	defer b.settle(r)
	r.run()
}

// overdue returns errUnfinished if end has come, or ctx has ended.
func overdue(ctx context.Context, end time.Time) error {
	if cause := context.Cause(ctx); cause != nil {
		return fmt.Errorf("%w (%w)", errUnfinished, cause)
	}
	if time.Now().Before(end) {
		return nil
	}
	return errUnfinished
}

// alone runs fn while no Update does, each of which waits its turn meanwhile. It
// waits for its own turn no longer than wait.
func (w *Writer) alone(ctx context.Context, wait time.Duration, fn func() error) error {
	r := newRequest(nil)
	if err := w.queue.enter(r); err != nil {
		return fmt.Errorf("%s: %w", w.path, err)
	}
	defer w.queue.exit()
	s, ok := w.queue.await(ctx, r, wait)
	if !ok {
		return w.late(ctx)
	}
	if s == done {
		return r.err
	}
	w.queue.leave(r)
	defer w.queue.pass()
	return fn()
}
