package sidecar

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/document"
)

// Overlay returns doc, the sidecar of owner in the state directory dir, with
// pending patches folded, as the next commit will take them in.
// What a patch has written has its id for a version, and so has the incarnation
// of a key that it creates; see [Version.IsPending]. outs says, by the patches'
// ids, which are not in it, or not whole, and why.
func Overlay(m *schema.Manifest, dir, owner string, doc *document.Document, patches []*PendingPatch) (whole *document.Document, outs map[string]error) {
	declared := m.Declaration.Owners[owner]
	b := &batch{w: &Writer{path: filepath.Join(dir, owner+".json"), manifest: m, owner: owner, declared: declared, known: declared}, base: doc}
	outs = map[string]error{}
	for _, p := range SortPending(patches) {
		born := Version{Nonce: p.ID}
		tx, kept, err := b.combine(p, nil, born)
		b.takeOf(p, tx, born)
		if err := errors.Join(err, errors.Join(kept...)); err != nil {
			outs[p.ID] = fmt.Errorf("patch %s: %w: run `freehold fold %s`, which folds what it can and says where it keeps the rest", p.ID, err, owner)
		}
	}
	whole = doc.Clone()
	b.takeChanges(whole, document.Provenance{})
	return whole, outs
}

// combine carries p's operations out on top of the batch. kept are the reasons
// why some of them are left out: the incarnation that they mean is gone. If any
// other cannot be carried out, err says why and none is.
func (b *batch) combine(p *PendingPatch, others map[string]*snapshot, born Version) (tx *Tx, kept []error, err error) {
	tx = &Tx{batch: b, others: others, born: born}
	for _, op := range p.Ops {
		tx.Apply(op)
		switch {
		case errors.Is(tx.err, ErrConflict):
			kept = append(kept, tx.err)
			tx.err = nil
		case tx.err != nil:
			return nil, nil, tx.err
		}
	}
	tx.done = true
	return tx, kept, nil
}

// takeOf takes into the batch what combine carried out.
func (b *batch) takeOf(p *PendingPatch, tx *Tx, version Version) {
	if tx == nil {
		return
	}
	by := document.Provenance{Version: version, At: p.At, Program: p.Writer.Program, PID: p.Writer.Identity.PID}
	b.take(tx, &by)
}

// joined is entry for an operation of a pending patch. It joins the
// incarnation of the key that it means; one that meant none joins the one that
// there is, or creates it.
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
	if seen := tx.others[decider]; seen != nil && seen.err == nil {
		keys, err := seen.keys(field)
		if err == nil && seen.outlived(keys.slot(key), at) {
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
