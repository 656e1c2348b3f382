package sidecar

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/apply"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// begin reads the sidecar under the lock. What was read before does not
// count. It folds pending patches, as far as late lets it.
func (b *batch) begin(late func() error) error {
	w := b.w
	if err := w.unmoved(); err != nil {
		return err
	}
	if err := w.current(); err != nil {
		return err
	}
	if w.lease != nil {
		if err := w.holds(); err != nil {
			return err
		}
	}
	if err := w.publisher.collect(statedir.Sidecar(w.owner)); err != nil {
		return advised(err)
	}
	base, err := w.read()
	if err != nil {
		return err
	}
	if w.lease != nil && base.Version.Epoch > w.epoch {
		return w.fenced(base.Version.Epoch, "the sidecar was written in it")
	}
	if err := w.regressed(base); err != nil {
		return err
	}
	b.base, b.next = base, w.nextVersion(base)
	b.layer = apply.NewLayer(w.rules, base, b.next)
	w.see(base.Version)
	failpoint.Hit(failpoint.CommitChecked)
	if w.folds {
		return b.takePending(late)
	}
	return nil
}

// current returns an error that wraps [ErrDeclaration] if the state was upgraded
// since it was opened so that this program, or one of its build, may write in it
// no more. The caller holds the owner's lock, without which nobody upgrades.
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
		w.queue.poison(err)
		return err
	}
	w.text, w.folds = now.Text, now.Declaration.Owners[w.owner].Defers()
	w.upgraded = store.Upgraded(now, w.owner)
	return nil
}

// still is current for what is done without the owner's lock. Where that is no
// commit but a claim, an upgrade may come right after: then the claim was made
// before it.
func (w *Writer) still() error {
	text, err := w.dir.ManifestText(nil)
	if err != nil || bytes.Equal(text, w.manifest.Text) {
		return err
	}
	now, err := w.dir.ParseManifest(text)
	if err != nil {
		return err
	}
	return w.dir.Still(w.manifest, now, w.built)
}

// read returns the sidecar, or an empty document if there is none.
func (w *Writer) read() (*document.Document, error) {
	if w.source == nil {
		w.source = store.On(w.dir).Source(w.manifest, w.owner)
	}
	o := w.source.Read()
	w.last, w.lastRaw = o.Document(), o.Text()
	return o.Document(), o.Err
}

// publish makes the batch's changes the sidecar's next version. With no
// changes it still makes the present version durable: a writer that was
// killed between its rename and its sync may have left it visible only.
func (b *batch) publish() error {
	w := b.w
	power := w.declared.EffectiveDurability() == schema.Power
	if !b.idle() {
		folds := len(b.fold.done)+len(b.fold.out) > 0
		return b.write(power || folds)
	}
	if !power {
		return nil
	}
	if err := w.dir.Sync(); err != nil {
		return b.unsure(b.base.Version, fmt.Errorf("%w: what is there may not survive a crash: %w", ErrIndeterminate, err))
	}
	return nil
}

// unsure notes that nobody knows whether version v is durable. The Writer takes
// no more commits: what they would build on may be gone after a crash, and a
// second sync would report success for what the first one lost.
func (b *batch) unsure(v Version, err error) error {
	err = fmt.Errorf("%w: version %v; open the owner again and look, or ask Resolve", err, v)
	b.w.queue.poison(err)
	return err
}

// write publishes the batch's document.
func (b *batch) write(power bool) error {
	w, doc := b.w, b.document()
	if err := w.checkVersion(b.next); err != nil {
		return err
	}
	raw, err := doc.AppendEncode(w.fresh[:0])
	if err != nil {
		return fmt.Errorf("%s: %w: %w", w.file(), ErrValue, err)
	}
	failpoint.Hit(failpoint.CommitPublish)
	err = w.publisher.publish(statedir.Sidecar(w.owner), raw, power)
	if errors.Is(err, ErrIndeterminate) {
		err = b.unsure(b.next, err)
	}
	if err != nil {
		w.last = nil
		w.source.Forget()
		return advised(err)
	}
	w.fresh = w.source.Wrote(doc, raw)
	w.last, w.lastRaw = doc, raw
	w.see(b.next)
	if err := w.unmoved(); errors.Is(err, store.Moved) { // another error says nothing
		return fmt.Errorf("%w: version %v is in a directory that was moved away, where nobody looks, and counts if that is put back: %w", ErrIndeterminate, b.next, err)
	}
	return nil
}

// document returns the next version of the sidecar.
func (b *batch) document() *document.Document {
	w, at := b.w, b.w.clock()
	doc := b.base.Clone()
	doc.Commit(b.next, at, document.Writer{Program: w.program, Identity: self()})
	if b.fold.pending != nil { // else the ids that are there stay
		doc.SetFolded(b.fold.listed, b.fold.fresh)
	}
	own := document.Provenance{Version: b.next, At: at, Program: w.program, PID: self().PID}
	b.layer.Write(doc, own, b.gone)
	for field := range b.adopted {
		doc.Adopt(field)
	}
	return doc
}
