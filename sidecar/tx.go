package sidecar

import (
	"fmt"
	"slices"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/document"
)

// A Version names one state of an owner's sidecar.
type Version = document.Version

// A Tx is what an [Writer.Update] function works on: the owner's own fields as
// they stand under its lock. It is valid until the function returns and only
// in the goroutine that runs it; a Tx that was kept, and the zero Tx, panic.
// A Tx remembers its first error, which Update then returns. One that only
// writes, since the Update is deferred, fails with [ErrBusy] when it is read.
type Tx struct {
	batch   *batch
	changes map[place]slot
	grown   map[string]int       // by field, how many parts the changes add
	others  map[string]*snapshot // of the owners of keys, as the Update found them
	adopted map[string]bool      // the fields that Adopt marks
	born    Version              // of keys that a pending patch creates; else zero
	busy    error                // why the Update is deferred; else nil
	ops     Patch                // of such an Update
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
	tx.check()
	if tx.blind() {
		return Version{}
	}
	return tx.batch.version()
}

// IfVersion makes the commit conditional: unless the sidecar is at version v,
// Update returns [ErrConflict] and changes nothing.
func (tx *Tx) IfVersion(v Version) {
	tx.check()
	if tx.blind() {
		return
	}
	if have := tx.batch.version(); have != v {
		tx.fail(fmt.Errorf("%s: %w: it %s, not %s: read it again and decide anew", tx.batch.w.file(), ErrConflict, standing(have), expected(v)))
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

// Get returns the stored value of a field of this owner and whether it is set.
// Of a map it is what this owner has at the keys. The bytes must not be changed.
//
// Where the owner defers, others may do so after tx has folded what
// was there: what is decided from a Get may be overtaken before it is committed.
// [Add], [Raise], [Lower], [Insert] and [Remove] need no Get.
func (tx *Tx) Get(field string) (raw []byte, ok bool) {
	tx.check()
	if tx.blind() {
		return nil, false
	}
	f, err := tx.batch.w.field(field)
	if err != nil {
		tx.fail(err)
		return nil, false
	}
	if f.EffectiveKind() == schema.Once {
		tx.fail(fmt.Errorf("field %s: %w: it is a once field and no part of a commit: read it in a view", field, ErrValue))
		return nil, false
	}
	s := tx.slot(place{field: field})
	if !parted(f) || tx.batch.table(field).err != nil {
		return s.raw, s.set // as it is stored, also if that does not fit
	}
	rows := tx.rows(field)
	if !s.set && len(rows) == 0 {
		return nil, false
	}
	if f.EffectiveKind() == schema.Set {
		return renderSet(rows), true
	}
	return renderMap(rows), true
}

// Apply carries out op. If it cannot, the Update will fail with an error that
// names the field.
func (tx *Tx) Apply(op Op) { tx.apply(op, false) }

// apply is Apply for a value that a handle was given: members of a record that
// the program does not know have come with it from where it was read.
func (tx *Tx) apply(op Op, carried bool) {
	tx.check()
	f, err := tx.batch.w.field(op.Field)
	if err != nil {
		tx.fail(err)
		return
	}
	switch {
	case f.EffectiveKind() != schema.Map && (op.Key != "" || op.Member != "" || !op.At.IsZero()):
		err = invalid(fmt.Errorf("it is no map: leave out the key, the member and the incarnation"))
	case !slices.Contains(schema.DependentKinds(), f.EffectiveKind()) && !op.Seen.IsZero():
		err = invalid(fmt.Errorf("a %s depends on nothing: leave out what was seen", f.EffectiveKind()))
	case tx.busy != nil:
		err = tx.record(f, op, carried)
	case tx.batch.fold.stuck != nil && (op.Verb == VerbRemove || op.Verb == VerbDelete):
		// The patch was acknowledged before this removal, and would undo it later.
		err = fmt.Errorf("%w: %s has to wait for a pending patch that cannot be folded: %w", ErrUnreadable, op.Verb, tx.batch.fold.stuck)
	case f.EffectiveKind() == schema.Map:
		err = tx.applyKey(f, op, carried)
	case f.EffectiveKind() == schema.Set:
		err = tx.applyElement(f, op)
	case f.EffectiveKind() == schema.Event:
		err = tx.applyEvent(f, op)
	default:
		p := place{field: op.Field}
		var s slot
		s, err = subject{f, tx.batch.w.knows(op.Field, f), tx.slot(p), carried}.apply(op)
		if err = invalid(err); err == nil {
			s, err = tx.batch.w.observe(f, op, s)
		}
		if err == nil {
			tx.change(p, s)
		}
	}
	if err != nil {
		tx.fail(fmt.Errorf("%s: %s: %w", tx.batch.w.file(), op.where(), err))
	}
}

// invalid wraps ErrValue around what is wrong with an operation.
func invalid(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrValue, err)
}

func (tx *Tx) fail(err error) {
	if tx.err == nil {
		tx.err = err
	}
}

// field returns the declaration of the owner's field name.
func (w *Writer) field(name string) (schema.Field, error) {
	if f, ok := w.declared.Fields[name]; ok {
		return f, nil
	}
	if other, ok := w.manifest.Declaration.OwnerOf(name); ok {
		return schema.Field{}, fmt.Errorf("field %s: %w: it belongs to owner %s, and owner %s may not write it; let its owner do it", name, ErrNotOwner, other, w.owner)
	}
	return schema.Field{}, fmt.Errorf("field %s: %w: no owner of state %s declares it; add it to owners.yaml", name, ErrNotOwner, w.manifest.Declaration.State)
}

// knows returns what the program knows of the field name, of which the manifest
// says f: less, if a newer build has opened the state.
func (w *Writer) knows(name string, f schema.Field) schema.Field {
	if known, ok := w.known.Fields[name]; ok {
		return known
	}
	return f
}
