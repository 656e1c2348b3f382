package apply

import (
	"errors"
	"fmt"
	"sync"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
)

// Keys are the keys of an owner's maps at one moment, for the owners that have
// parts of those maps. They are safe for concurrent use.
type Keys struct {
	owner string
	doc   *document.Document
	err   error // why the sidecar cannot be used

	mu   sync.Mutex
	maps map[string]*table
}

// NewKeys returns the keys in owner's sidecar doc; err says why there is none.
func NewKeys(owner string, doc *document.Document, err error) *Keys {
	return &Keys{owner: owner, doc: doc, err: err}
}

// Doc returns the sidecar, or the error because of which it cannot be used.
func (k *Keys) Doc() (*document.Document, error) { return k.doc, k.err }

// of returns the keys of the map field.
func (k *Keys) of(field string) (*table, error) {
	if k.err != nil {
		return nil, k.err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	t, ok := k.maps[field]
	if !ok {
		t = newTable(k.doc, field, schema.Field{Kind: schema.Map})
		if k.maps == nil {
			k.maps = map[string]*table{}
		}
		k.maps[field] = t
	}
	return t, t.err
}

// outlived reports whether a key that is, or was, attached to the incarnation
// born is gone: the keys have none, or another one, and born is not too new for
// them to know. now is the key as the keys have it.
func (k *Keys) outlived(now slot, born document.Version) bool {
	return !(now.set && now.born == born) && !born.After(k.doc.Version)
}

// Gone reports whether the incarnation of a row of the map field was deleted.
// Keys that cannot be read report false.
func (k *Keys) Gone(field string, row document.Row) bool {
	keys, err := k.of(field)
	return err == nil && k.outlived(keys.slot(row.Key), row.Born)
}

// Incarnation returns the incarnation of a key of the map field, or false if
// there is none; it is of the same moment as [Layer.KeyRows].
func (l *Layer) Incarnation(field, key string) (document.Version, bool, error) {
	owner, own := l.rules.KeysOwner(field)
	if own {
		s := l.slot(place{field, key})
		return s.born, s.set, Invalid(l.table(field).err)
	}
	keys, err := l.Others[owner].of(field)
	if err != nil {
		return document.Version{}, false, err
	}
	s := keys.slot(key)
	return s.born, s.set, nil
}

// Incarnation returns the incarnation of a key of the map field, or false.
func (k *Keys) Incarnation(field, key string) (document.Version, bool, error) {
	keys, err := k.of(field)
	if err != nil {
		return document.Version{}, false, err
	}
	s := keys.slot(key)
	return s.born, s.set, nil
}

// KeyRows returns the keys of the map field with their incarnations: as they
// stand for their owner, else as they were when the Update began.
func (l *Layer) KeyRows(field string) ([]document.Row, error) {
	owner, own := l.rules.KeysOwner(field)
	if own {
		return l.rows(field), Invalid(l.table(field).err)
	}
	keys, err := l.Others[owner].of(field)
	if err != nil {
		return nil, err
	}
	return keys.rows, nil
}

// GetKey returns the value of a member at a key of the map field, in the
// incarnation at, and whether it is set; all of it if the member is empty. A key
// that is absent is no error.
func (l *Layer) GetKey(op Op) (raw []byte, ok bool, err error) {
	f, err := l.rules.Field(op.Field)
	if err != nil {
		return nil, false, err
	}
	if f.EffectiveKind() != schema.Map {
		return nil, false, Invalid(errors.New("it is no map: read it without a key"))
	}
	found, err := l.entry(op.Field, op.Key, op.At)
	if errors.Is(err, status.NoKey) || err == nil && op.Member == "" {
		return found.raw, found.set, nil
	}
	if err != nil {
		return nil, false, err
	}
	e, err := newEntry(f, found)
	if err != nil {
		return nil, false, Invalid(err)
	}
	v := e.get(op.Member)
	return v.raw, v.set, nil
}

// An entry is the content of a map at a key, taken apart.
type entry struct {
	slot
	object schema.Object // nil if the map has values
	record bool
}

func newEntry(f schema.Field, s slot) (entry, error) {
	e := entry{slot: s, record: f.Value == nil}
	if !e.record || !s.set {
		return e, nil
	}
	var err error
	e.object, err = schema.ParseObject(s.raw)
	return e, err
}

// get returns the value of a member.
func (e entry) get(member string) slot {
	if !e.record {
		return slot{raw: e.raw, set: e.set}
	}
	raw, ok := e.object.Value(member)
	return slot{raw: raw, set: ok}
}

// with returns the entry with another value for a member. Undeclared members
// stay as they are.
func (e entry) with(member string, value slot) slot {
	switch {
	case !e.record:
		return slot{raw: value.raw, set: value.set}
	case value.set:
		return slot{raw: e.object.With(member, value.raw).Append(nil), set: true}
	}
	return slot{raw: e.object.Without(member).Append(nil), set: true}
}

// entry returns the owner's part at a key of a map, in the incarnation at, or if
// that is zero, the present one. For the owner of the keys a key may be absent.
// For the others the keys' owner must have it; an empty part has the incarnation
// that their Update found.
func (l *Layer) entry(field, key string, at document.Version) (slot, error) {
	if err := schema.CheckKey(key); err != nil {
		return slot{}, Invalid(err)
	}
	if err := l.table(field).err; err != nil {
		return slot{}, Invalid(err)
	}
	if !l.born.IsZero() {
		return l.joined(field, key, at)
	}
	own := l.slot(place{field, key})
	owner, decides := l.rules.KeysOwner(field)
	if decides {
		if !at.IsZero() && !(own.set && means(at, own.born)) {
			return slot{}, conflict(at)
		}
		return own, nil
	}
	seen := l.Others[owner]
	keys, err := seen.of(field)
	if err != nil {
		return slot{}, err
	}
	now := keys.slot(key)
	if err := l.rules.attaches(owner, now, at); err != nil {
		return slot{}, err
	}
	switch {
	case !own.set || seen.outlived(now, own.born):
		return slot{born: now.born}, nil
	case own.born != now.born:
		return slot{}, fmt.Errorf("%w: the key was created again while this Update waited: call it again", status.Conflict)
	}
	return own, nil
}

func conflict(at document.Version) error {
	return fmt.Errorf("%w: it is no longer the incarnation %v: look at the map again", status.Conflict, at)
}

// means reports whether a reference to the incarnation at is one to born. A view
// shows a key that a pending patch creates under the patch's id.
func means(at, born document.Version) bool {
	return at == born || at.IsPending() && at.Nonce == born.Nonce
}

// attaches returns an error if no part can be attached to a key that the keys'
// owner has as now. A key that a pending patch creates is in views and has no
// incarnation until a commit folds that patch.
func (r *Rules) attaches(keysOwner string, now slot, at document.Version) error {
	switch {
	case now.set && (at.IsZero() || means(at, now.born)):
		return nil
	case !at.IsZero() && (now.set || !at.IsPending()):
		return conflict(at)
	case r.Declaration.Owners[keysOwner].Defers():
		err := fmt.Errorf("%w: the sidecar of owner %s, which decides the keys, does not have it", status.NoKey, keysOwner)
		return status.With(err, status.By(status.Fold, keysOwner).Or("let that owner create the key"))
	}
	return fmt.Errorf("%w: owner %s, which decides the keys, has not created it: let it create the key first", status.NoKey, keysOwner)
}

// applyKey carries out op on a map.
func (l *Layer) applyKey(f schema.Field, op Op, carried bool) error {
	old, err := l.entry(op.Field, op.Key, op.At)
	if err != nil {
		return err
	}
	if op.Verb == VerbDelete || op.Verb == VerbInsert && op.Member == "" {
		return l.applyWhole(f, op, old)
	}
	spec, known, err := l.rules.member(f, op)
	if err != nil {
		return err
	}
	e, err := newEntry(f, old)
	if err != nil {
		return Invalid(err)
	}
	was := e.get(op.Member)
	value, err := subject{spec, known, was, carried}.apply(op)
	switch {
	case err != nil:
		return Invalid(err)
	case value.equal(was):
		return nil
	}
	return l.put(op, old, e.with(op.Member, value))
}

// put stores the result of an operation on the entry old.
func (l *Layer) put(op Op, old, now slot) error {
	_, decides := l.rules.KeysOwner(op.Field)
	if now.born = old.born; decides && !old.set {
		if now.born = l.Next; !l.born.IsZero() {
			now.born = l.born
		}
	}
	if !decides && string(now.raw) == "{}" {
		now = slot{} // nothing is attached any more
	}
	if now.set && !old.set && l.parts(op.Field) >= schema.MaxKeys {
		return Invalid(fmt.Errorf("more than the %d keys allowed: delete some", schema.MaxKeys))
	}
	l.change(place{op.Field, op.Key}, now)
	return nil
}

// applyWhole creates or deletes a key.
func (l *Layer) applyWhole(f schema.Field, op Op, old slot) error {
	switch err := l.rules.mayWhole(f, op); {
	case err != nil:
		return err
	case op.Verb == VerbDelete:
		l.change(place{op.Field, op.Key}, slot{})
		return nil
	case old.set:
		return nil
	}
	return l.put(op, old, slot{raw: []byte("{}"), set: true})
}

// mayWhole returns an error if op may not create or delete a key of the map f.
func (r *Rules) mayWhole(f schema.Field, op Op) error {
	if op.Verb == VerbInsert && f.Value != nil {
		return Invalid(fmt.Errorf("a key of this map has a value: use %s", f.Value.EffectiveKind().WrittenBy()))
	}
	if _, err := r.Declaration.Resolve(r.Owner, op.Field, op.Verb); err != nil {
		return refused(err)
	}
	if len(op.Value) > 0 || op.Member != "" {
		return Invalid(fmt.Errorf("%s is for the whole key: leave out the member and the value", op.Verb))
	}
	return nil
}

// member returns the declarations of op's member in the manifest and in the
// program.
func (r *Rules) member(f schema.Field, op Op) (spec, known schema.Field, err error) {
	switch {
	case f.Value != nil && op.Member != "":
		return spec, known, Invalid(errors.New("the map has a value at a key, and no members: leave out the member"))
	case f.Value == nil && op.Member == "":
		return spec, known, Invalid(errors.New("say which member, or use insert or delete"))
	}
	if spec, err = r.Declaration.ResolveMember(r.Owner, op.Field, op.Member, schema.VerbPut); err != nil {
		return spec, known, refused(err)
	}
	if known, ok := r.known(op.Field, f).Member(op.Member); ok {
		return spec, known, nil
	}
	return spec, spec, nil
}
