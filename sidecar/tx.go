package sidecar

import (
	"fmt"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/apply"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// A Version names one state of an owner's sidecar.
type Version = document.Version

// A Tx is the owner's own fields as they stand under its lock, for the function
// of an [Writer.Update]. It is valid until the function returns and only in the
// goroutine that runs the function; a Tx that was kept, and the zero Tx, panic.
// A Tx remembers its first error, which Update then returns. That of a deferred
// Update only writes, and fails with [ErrBusy] if it is read.
type Tx struct {
	batch   *batch
	layer   *apply.Layer           // of nothing if the Update is deferred
	others  map[string]*apply.Keys // of other owners' maps, as the Update found them
	mine    *apply.Keys            // the owner's own, if the Update is deferred
	adopted map[string]bool        // the fields that Adopt marks
	busy    error                  // why the Update is deferred; else nil
	ops     Patch                  // of such an Update
	err     error
	done    bool
}

// check panics if the programmer uses tx where there is no transaction.
func (tx *Tx) check() {
	if tx == nil || tx.batch == nil {
		panic("freehold: the zero Tx was used: a Tx comes from Update")
	}
	if tx.done {
		panic("freehold: a Tx was used after its Update returned")
	}
}

// Version returns the version that the values in tx have: the sidecar's, or
// the one that it will have if an Update that shares this commit has changed
// something already. It is zero if nothing was ever written.
func (tx *Tx) Version() Version {
	if tx.blind() {
		return Version{}
	}
	return tx.batch.version()
}

// IfVersion makes the commit conditional: unless the sidecar is at version v,
// Update returns [ErrConflict] and changes nothing.
func (tx *Tx) IfVersion(v Version) {
	if tx.blind() {
		return
	}
	if have := tx.batch.version(); have != v {
		tx.fail(fmt.Errorf("%s: %w: it %s, not %s: read it again and decide anew", tx.batch.w.path, ErrConflict, standing(have), expected(v)))
	}
}

// standing says of which version a sidecar is.
func standing(v Version) string {
	if v.IsZero() {
		return "was never written"
	}
	return "is at version " + v.String()
}

func expected(v Version) string {
	if v.IsZero() {
		return "unwritten"
	}
	return "at " + v.String()
}

// Get returns the stored value of a field of this owner and whether it is set;
// of a map, the owner's part. The bytes must not be changed. Where the owner
// defers, a patch deferred by another process may overtake a decision made from
// Get before the commit; operations like [Counter.Add] need no Get.
func (tx *Tx) Get(field string) (raw []byte, ok bool) {
	if tx.blind() {
		return nil, false
	}
	raw, ok, err := tx.layer.Get(field)
	if err != nil {
		tx.fail(err)
	}
	return raw, ok
}

// Apply carries out op. If it cannot, the Update will fail with an error that
// names the field.
func (tx *Tx) Apply(op Op) { tx.apply(op, false) }

// apply is Apply for a value that a handle was given: members of a record that
// the program does not know have come with it from where it was read.
func (tx *Tx) apply(op Op, carried bool) {
	tx.check()
	f, err := tx.batch.w.rules.Field(op.Field)
	if err != nil {
		tx.fail(err)
		return
	}
	removes := op.Verb == schema.VerbRemove || op.Verb == schema.VerbDelete
	switch stuck := tx.batch.fold.stuck; {
	case tx.busy != nil && removes:
		err = fmt.Errorf("%w; %s cannot be deferred, nothing was changed", tx.busy, op.Verb)
	case tx.busy != nil:
		err = tx.record(f, op, carried)
	case removes && stuck != nil:
		// The patch was acknowledged before this removal, and would undo it later.
		err = fmt.Errorf("%w: %s has to wait for a pending patch that cannot be folded: %w", store.Unreadable, op.Verb, stuck)
	default:
		err = tx.layer.Apply(f, op, carried)
	}
	if err != nil {
		tx.failAt(op, err)
	}
}

// record keeps op for the pending patch.
func (tx *Tx) record(f schema.Field, op Op, carried bool) error {
	op, keep, err := tx.batch.w.rules.Record(f, op, carried, tx.mine, tx.others)
	if keep {
		tx.ops = append(tx.ops, op)
	}
	return err
}

// failAt fails the Update with err, at the place of op.
func (tx *Tx) failAt(op Op, err error) {
	tx.fail(fmt.Errorf("%s: %s: %w", tx.batch.w.path, op.Where(), err))
}

func (tx *Tx) fail(err error) {
	if tx.err == nil {
		tx.err = err
	}
}

// WriteOnly reports whether the Update is deferred: the lock was not to be had,
// so that the owner's fields cannot be read.
func (tx *Tx) WriteOnly() bool {
	tx.check()
	return tx.busy != nil
}

// blind fails a deferred Update: only the holder of the lock knows the values.
func (tx *Tx) blind() bool {
	tx.check()
	if tx.busy != nil {
		tx.fail(fmt.Errorf("%w; a pending patch cannot depend on stored values: read a view before, or write only", tx.busy))
	}
	return tx.busy != nil
}

// known reports whether the Tx can read, and field is one of the owner.
func (tx *Tx) known(field string) bool {
	if tx.blind() {
		return false
	}
	_, err := tx.batch.w.rules.Field(field)
	if err != nil {
		tx.fail(err)
	}
	return err == nil
}

// Observed returns the versions that the writer of a field of this owner had
// observed, as they stand under the lock; nil if that is not known.
func (tx *Tx) Observed(field string) map[string]Version {
	if !tx.known(field) {
		return nil
	}
	return tx.layer.Observed(field)
}

// Provenance returns the provenance of the last write or clearing of a field of
// this owner, before this Update, and whether there was one.
func (tx *Tx) Provenance(field string) (by document.Provenance, ok bool) {
	if tx.known(field) {
		_, by, ok = tx.batch.base.Field(field)
	}
	return by, ok
}

// Adopt marks a field of this owner as one that a legacy file was folded into. It
// is for package adopt, which fills a set or a map once. The mark stays, and
// needs a field that was written, at the latest by this Update.
func (tx *Tx) Adopt(field string) {
	if tx.known(field) {
		tx.adopted = marked(tx.adopted, field)
	}
}

// Adopted reports whether a field of this owner is marked by [Tx.Adopt].
func (tx *Tx) Adopted(field string) bool {
	if tx.blind() {
		return false
	}
	return !tx.batch.base.Adopted(field).IsZero() || tx.batch.adopted[field] || tx.adopted[field]
}

// marked returns fields with one more in it.
func marked(fields map[string]bool, field string) map[string]bool {
	if fields == nil {
		fields = map[string]bool{}
	}
	fields[field] = true
	return fields
}
