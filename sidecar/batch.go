package sidecar

import (
	"errors"

	"github.com/freehold-dev/freehold/sidecar/internal/apply"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
)

// A batch is the Updates that share one commit.
type batch struct {
	w        *Writer
	requests []*request
	base     *document.Document
	next     Version         // of the commit, once anything changed
	layer    *apply.Layer    // the changes of all
	adopted  map[string]bool // the fields that Adopt marks
	fold     fold
	size     int // of the patches that the fold takes, about
	err      error
}

// version returns the version of the values that the batch shows.
func (b *batch) version() Version {
	if !b.idle() {
		return b.next
	}
	return b.base.Version
}

func (b *batch) admit(r *request) {
	r.tx = &Tx{batch: b, layer: b.layer.On(r.others), others: r.others}
}

// settle takes r's changes into the batch, or leaves them out if r failed.
func (b *batch) settle(r *request) {
	if r.tx.err != nil {
		r.err = r.tx.err
		return
	}
	r.commit.Outcome = Unchanged
	r.commit.Changes = b.layer.Changes(r.tx.layer)
	if b.layer.Merge(r.tx.layer, nil) {
		r.commit.Outcome = Applied
	}
	b.adopt(r)
	r.commit.Version = b.version()
}

// finish publishes, lets the lock go and tells everybody.
func (b *batch) finish() {
	if b.err == nil {
		b.err = b.publish()
	}
	if b.err == nil {
		b.clear()
	}
	if b.fold.pending != nil {
		b.fold.pending.Close()
	}
	b.w.lock.Release()
	for i, r := range b.requests {
		if b.report(r); i > 0 { // the leader reads its own
			r.signal <- done
		}
	}
	b.requests[0].commit.Folded = b.folded()
	b.w.queue.pass()
}

// folded returns how many pending patches the batch has folded.
func (b *batch) folded() int {
	if b.err != nil && !errors.Is(b.err, ErrIndeterminate) {
		return b.fold.before
	}
	return b.fold.before + len(b.fold.fresh)
}

// report gives r the batch's error, if there is one. An Update that failed by
// itself keeps its own.
func (b *batch) report(r *request) {
	if b.err == nil || r.err != nil {
		return
	}
	r.err = b.err
	if !errors.Is(b.err, ErrIndeterminate) {
		r.commit = Commit{}
	}
}
