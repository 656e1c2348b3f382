package sidecar

import (
	"errors"
	"fmt"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/apply"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// A batch is the Updates that share one commit. Its leader holds the owner's
// lock until finish.
type batch struct {
	w        *Writer
	requests []*request // the leader's is the first
	base     *document.Document
	next     Version         // of the commit, once anything changed
	layer    *apply.Layer    // the changes of all
	adopted  map[string]bool // the fields that Adopt marks
	fold     fold
	err      error
}

// begin reads the sidecar under the lock: earlier reads do not count. It folds
// pending patches, until late returns an error.
func (b *batch) begin(late func() error) error {
	w := b.w
	if err := w.unmoved(); err != nil {
		return err
	}
	if err := w.current(); err != nil {
		return err
	}
	if err := w.holds(); err != nil {
		return err
	}
	base, err := w.read()
	if err != nil {
		return err
	}
	if err := w.follows(base); err != nil {
		return err
	}
	if err := w.regressed(base); err != nil {
		return err
	}
	if err := w.publisher.collect(statedir.Sidecar(w.owner)); err != nil { // not before: a whole one could mend the sidecar
		return advised(err)
	}
	b.stand(base)
	w.see(base.Version)
	failpoint.Hit(failpoint.CommitChecked)
	if w.folds {
		return b.fold.take(b, late)
	}
	return nil
}

// stand makes base the sidecar that the batch changes.
func (b *batch) stand(base *document.Document) {
	b.base, b.next = base, b.w.nextVersion(base)
	b.layer = apply.NewLayer(b.w.rules, base, b.next)
}

// current returns an error that wraps [ErrDeclaration] if an upgrade of the state
// forbids this program to write. The caller holds the owner's lock, without which
// no process upgrades.
func (w *Writer) current() error {
	same := false
	if same, w.textSpare = w.dir.SameManifest(w.text, w.textSpare); same {
		return nil
	}
	now, err := w.dir.Manifest()
	if err != nil {
		return err
	}
	if err := w.dir.Still(w.manifest, now, w.built); err != nil {
		return err
	}
	w.text, w.folds = now.Text, now.Declaration.Owners[w.owner].Defers()
	w.upgraded = store.Upgraded(now, w.owner)
	return nil
}

// version returns the version of the values that the batch shows.
func (b *batch) version() Version {
	if !b.idle() {
		return b.next
	}
	return b.base.Version
}

// idle reports whether there is nothing to publish.
func (b *batch) idle() bool {
	return b.layer.Idle() && len(b.adopted)+len(b.fold.done) == 0
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
	for field := range r.tx.adopted {
		if b.base.Adopted(field).IsZero() {
			b.adopted = marked(b.adopted, field)
			r.commit.Outcome = Applied
		}
	}
	r.commit.Version = b.version()
}

// finish publishes, releases the lock and gives each Update its outcome.
func (b *batch) finish() {
	if b.err == nil {
		b.err = b.publish()
	}
	if b.err == nil {
		b.fold.clear()
	}
	b.fold.close()
	b.w.lock.Release()
	for i, r := range b.requests {
		if b.report(r); i > 0 { // the leader reads its own
			r.signal <- done
		}
	}
	certain := b.err == nil || errors.Is(b.err, ErrIndeterminate)
	b.requests[0].commit.Folded = b.fold.count(certain)
	b.w.queue.pass()
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

// publish makes the batch's changes the sidecar's next version. With no
// changes it still makes the present version durable: a writer that was
// killed between its rename and its sync may have left it visible only.
func (b *batch) publish() error {
	w := b.w
	power := w.declared.EffectiveDurability() == schema.Power
	if !b.idle() {
		return b.write(power || b.fold.unlinks())
	}
	if !power {
		return nil
	}
	if err := w.dir.Sync(); err != nil {
		return b.unsure(b.base.Version, fmt.Errorf("%w: the file may not survive a crash: %w", ErrIndeterminate, err))
	}
	return nil
}

// write publishes the batch's document.
func (b *batch) write(durable bool) error {
	w := b.w
	err := w.write(b.document(), durable)
	if errors.Is(err, ErrIndeterminate) {
		err = b.unsure(b.next, err)
	}
	if err != nil {
		return advised(err)
	}
	if err := w.unmoved(); errors.Is(err, store.Moved) { // another error says nothing
		return fmt.Errorf("%w: version %v is in a directory that was moved away, where nobody looks, and counts if that is put back: %w", ErrIndeterminate, b.next, err)
	}
	return nil
}

// unsure ends the Writer, since nobody knows whether version v is durable: later
// commits would build on a version that may be gone after a crash, and a second
// sync would report success for the data that the first one lost.
func (b *batch) unsure(v Version, err error) error {
	err = fmt.Errorf("%w: version %v; open the owner again and look, or ask Resolve", err, v)
	b.w.queue.poison(err)
	return err
}

// document returns the next version of the sidecar.
func (b *batch) document() *document.Document {
	w, at := b.w, b.w.clock()
	doc := b.base.Clone()
	doc.Commit(b.next, at, document.Writer{Program: w.program, Identity: self()})
	b.fold.list(doc)
	own := document.Provenance{Version: b.next, At: at, Program: w.program, PID: self().PID}
	b.layer.Write(doc, own, b.gone)
	for field := range b.adopted {
		doc.Adopt(field)
	}
	return doc
}

// gone reports whether a row of a map is attached to an incarnation that was
// deleted, as the newest of the requests has seen: no view shows it any more.
func (b *batch) gone(field string, row document.Row) bool {
	owner, own := b.w.rules.KeysOwner(field)
	if own {
		return false
	}
	var latest *apply.Keys
	var version Version
	for _, r := range b.requests {
		keys := r.others[owner]
		if keys == nil {
			continue
		}
		if doc, err := keys.Doc(); err == nil && (latest == nil || doc.Version.After(version)) {
			latest, version = keys, doc.Version
		}
	}
	return latest != nil && latest.Gone(field, row)
}
