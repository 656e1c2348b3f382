package sidecar

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/document"
)

// Overlay returns doc, the sidecar of owner in the state directory dir, with
// patches folded, which are sorted by id, as the next commit will fold them. The
// version of a field that a patch has changed, and of a key that it creates, is
// the patch's id; see [Version.IsPending]. outs has, by id, the reasons why
// patches are not folded.
func Overlay(m *schema.Manifest, dir, owner string, doc *document.Document, patches []*PendingPatch) (whole *document.Document, outs map[string]error) {
	declared := m.Declaration.Owners[owner]
	b := &batch{w: &Writer{path: filepath.Join(dir, owner+".json"), manifest: m, owner: owner, declared: declared, known: declared}, base: doc}
	outs = map[string]error{}
	for _, p := range patches {
		born := Version{Nonce: p.ID}
		tx, _, err := b.combine(p, nil, born)
		b.takeOf(p, tx, born)
		if err != nil {
			outs[p.ID] = fmt.Errorf("patch %s: %w: run `freehold fold %s`, which folds it or says where it keeps it", p.ID, err, owner)
		}
	}
	whole = doc.Clone()
	b.takeChanges(whole, document.Provenance{})
	return whole, outs
}

// combine carries p's operations out on top of the batch. gone are the reasons
// why some of them are left out: the incarnation that they mean was deleted. If
// any other cannot be carried out, combine returns err and carries out none.
func (b *batch) combine(p *PendingPatch, others map[string]*snapshot, born Version) (tx *Tx, gone []error, err error) {
	tx = &Tx{batch: b, others: others, born: born}
	for _, op := range p.Ops {
		tx.Apply(op)
		switch {
		case errors.Is(tx.err, ErrConflict):
			gone = append(gone, tx.err)
			tx.err = nil
		case tx.err != nil:
			return nil, nil, tx.err
		}
	}
	tx.done = true
	return tx, gone, nil
}

// takeOf takes into the batch what combine carried out.
func (b *batch) takeOf(p *PendingPatch, tx *Tx, version Version) {
	if tx == nil {
		return
	}
	by := document.Provenance{Version: version, At: p.At, Program: p.Writer.Program, PID: p.Writer.Identity.PID}
	b.take(tx, &by)
}

// joined is entry for an operation of a pending patch. The operation joins the
// incarnation of the key that it means; one that means an absent key joins the
// present incarnation, or creates one.
func (tx *Tx) joined(field, key string, at Version) (slot, error) {
	own := tx.slot(place{field, key})
	decider, decides := tx.decides(field)
	gone := fmt.Errorf("%w: the incarnation %v of the key is gone", ErrConflict, at)
	if decides {
		if at.IsZero() || own.set && means(at, own.born) {
			return own, nil
		}
		return slot{}, gone
	}
	if seen := tx.others[decider]; seen != nil { // a view has none: its join leaves out what is gone
		keys, err := seen.keys(field)
		if err != nil {
			return slot{}, err
		}
		if seen.outlived(keys.slot(key), at) {
			return slot{}, gone
		}
	}
	switch {
	case own.set && means(at, own.born):
		return own, nil
	case own.set && own.born.After(at):
		return slot{}, gone
	}
	return slot{born: at}, nil
}

// means reports whether a reference to the incarnation at is one to the
// incarnation born. A key that a view showed before the patch that created it
// was folded has the patch's id for a version.
func means(at, born Version) bool { return at == born || at.IsPending() && at.Nonce == born.Nonce }
