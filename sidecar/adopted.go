package sidecar

import "github.com/freehold-dev/freehold/sidecar/internal/document"

// Provenance returns who wrote or cleared a field of this owner last, before
// this Update, and whether anybody ever did.
func (tx *Tx) Provenance(field string) (by document.Provenance, ok bool) {
	tx.check()
	if tx.blind() {
		return by, false
	}
	if _, err := tx.batch.w.rules.Field(field); err != nil {
		tx.fail(err)
		return by, false
	}
	_, by, ok = tx.batch.base.Field(field)
	return by, ok
}

// Adopt marks a field of this owner as one that a legacy file was folded into. It
// is for package adopt, which fills a set or a map once. The mark stays, and
// needs a field that somebody has written, at the latest this Update.
func (tx *Tx) Adopt(field string) {
	tx.check()
	if tx.blind() {
		return
	}
	if _, err := tx.batch.w.rules.Field(field); err != nil {
		tx.fail(err)
		return
	}
	if tx.adopted == nil {
		tx.adopted = map[string]bool{}
	}
	tx.adopted[field] = true
}

// Adopted reports whether a field of this owner is marked by [Tx.Adopt].
func (tx *Tx) Adopted(field string) bool {
	tx.check()
	if tx.blind() {
		return false
	}
	return !tx.batch.base.Adopted(field).IsZero() || tx.batch.adopted[field] || tx.adopted[field]
}

// adopt takes r's marks into the batch.
func (b *batch) adopt(r *request) {
	for field := range r.tx.adopted {
		if !b.base.Adopted(field).IsZero() {
			continue
		}
		if b.adopted == nil {
			b.adopted = map[string]bool{}
		}
		b.adopted[field] = true
		r.commit.Outcome = Applied
	}
}

// idle reports whether there is nothing to publish.
func (b *batch) idle() bool {
	return b.layer.Idle() && len(b.adopted)+len(b.fold.done) == 0
}
