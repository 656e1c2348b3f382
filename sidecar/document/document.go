package document

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/go-json-experiment/json/jsontext"
)

// Format is the format number that this release writes and reads.
const Format = 1

// A Document is the content of one sidecar. Make one with [New], [Decode] or
// [DecodeForeign]. Any number of goroutines may read a Document that nobody
// changes.
type Document struct {
	// Owner whose file this is.
	Owner string
	// State is the id in the manifest of the state that the file belongs to.
	State string
	// Version of the commit that wrote the file.
	Version Version
	// WrittenAt is when that was, by the writer's clock.
	WrittenAt time.Time
	// Writer is who wrote it.
	Writer Writer

	recent   ids
	folded   ids      // pending patches that are in the fields
	named    bool     // whether names were added since it was decoded
	fields   []entry  // who wrote each field, in file order
	members  []member // the members beside $sidecar, in file order
	envelope []member // the members of $sidecar; only unknown ones have values
	writer   []member // of $sidecar.writer, likewise
	identity []member // of $sidecar.writer.identity, likewise
}

// A Writer is the program that wrote a sidecar.
type Writer struct {
	// Program is the name that it goes by.
	Program string
	// Identity of its process.
	Identity process.Identity
}

// A member is one member of an object in the bytes in which it stood.
type member struct {
	key   []byte // with its quotes
	value []byte // nil if the value is one of the Document's own fields
	at    int    // offset of value in the file; fresh if it was set since
}

const fresh = -1

func (m *member) is(name string) bool { return string(unquoteName(m.key)) == name }

// New returns the document of an owner that has not written yet. It cannot be
// encoded before [Document.Commit].
func New(owner, stateID string) *Document { return &Document{Owner: owner, State: stateID} }

// Clone returns a copy that can be changed without changing d. It shares the
// bytes, which neither ever changes.
func (d *Document) Clone() *Document {
	c := *d
	c.fields = slices.Clone(d.fields)
	c.members = slices.Clone(d.members)
	return &c
}

// Commit makes d the content of the commit v: it sets Version, WrittenAt and
// Writer, and remembers v's nonce.
func (d *Document) Commit(v Version, at time.Time, w Writer) {
	d.Version, d.WrittenAt, d.Writer = v, at, w
	d.recent = d.recent.add(v.Nonce, MaxRecent)
}

// Recent returns the nonces of the last commits, [SureRecent] of them or more,
// newest last, and before them ids of pending patches, [MaxRecent] in
// all. The last is the nonce of d's own version.
func (d *Document) Recent() []string { return d.recent.list() }

// Folded returns the ids of the pending patches that are in d's fields
// already, though their files may still be there.
func (d *Document) Folded() []string { return d.folded.list() }

// HasFolded reports whether id is among [Document.Folded].
func (d *Document) HasFolded(id string) bool { return d.folded.has(id) }

// SetFolded makes folded the ids that [Document.Folded] returns, [MaxFolded] of
// them at most, and remembers those of fresh. They take no place of the last
// [SureRecent] commits: a commit may fold hundreds of patches, and that it does
// not remember the one before must not look as if that had never been.
func (d *Document) SetFolded(folded, fresh []string) {
	d.folded = makeIDs(folded[max(0, len(folded)-MaxFolded):])
	d.recent = d.recent.insert(fresh[max(0, len(fresh)-MaxRecent):], SureRecent, MaxRecent)
}

// Remembers reports whether nonce is among [Document.Recent].
func (d *Document) Remembers(nonce string) bool { return d.recent.has(nonce) }

// Behind reports whether d is older than the version seen of the same sidecar,
// or has another history: an older copy was put back, and perhaps went on from
// there. What d has forgotten it does not hold against seen.
func (d *Document) Behind(seen Version) bool {
	v := d.Version
	switch {
	case seen.IsZero(), seen.IsPending(): // a patch that is in no version yet
		return false
	case seen.Epoch != v.Epoch:
		return seen.Epoch > v.Epoch
	case seen.Revision >= v.Revision:
		return seen != v
	}
	return v.Revision-seen.Revision < min(SureRecent, uint64(d.recent.len())) && !d.Remembers(seen.Nonce)
}

// Belongs returns an error that wraps [ErrForeign] if d is not the document of
// owner in the state with the id stateID: a sidecar that was copied from
// elsewhere is whole, but nobody here wrote it.
func (d *Document) Belongs(owner, stateID string) error {
	if d.Owner != owner {
		return fmt.Errorf("%w: it is the sidecar of owner %q", ErrForeign, d.Owner)
	}
	if d.State != stateID {
		return fmt.Errorf("%w: it belongs to the state with the id %q, this one is %q", ErrForeign, d.State, stateID)
	}
	return nil
}

// Field returns the JSON of a field's value and who wrote it. raw is nil for a
// field that was cleared; ok is false for one that was never written. A value
// that stands there without an entry has the zero Provenance. The caller must
// not change raw.
func (d *Document) Field(name string) (raw []byte, by Provenance, ok bool) {
	if i := d.member(name); i >= 0 {
		raw, ok = d.members[i].value, true
	}
	if i := d.entry(name); i >= 0 {
		by, ok = d.fields[i].provenance(), true
	}
	return raw, by, ok
}

// Value returns the JSON of a field's value, or nil if it has none. The caller
// must not change it.
func (d *Document) Value(name string) []byte {
	if i := d.member(name); i >= 0 {
		return d.members[i].value
	}
	return nil
}

// Set gives a field a value, raw, which must be JSON, and records who did. A
// field that has a value keeps its place. The name and the value are checked by
// [Document.Encode].
func (d *Document) Set(name string, raw []byte, by Provenance) {
	raw = bytes.Clone(raw)
	_ = (*jsontext.Value)(&raw).Compact() // one field, one line; Encode says what is wrong
	if i := d.member(name); i >= 0 {
		d.members[i].value, d.members[i].at = raw, fresh
	} else {
		d.named = true
		d.members = append(d.members, member{quote(name), raw, fresh})
	}
	d.record(name, by)
}

// Clear takes a field's value away and records who did.
func (d *Document) Clear(name string, by Provenance) {
	if i := d.member(name); i >= 0 {
		d.members = slices.Delete(d.members, i, i+1)
	}
	d.record(name, by)
}

// Names returns the names of the members beside $sidecar, declared or not, in
// file order.
func (d *Document) Names() []string {
	names := make([]string, len(d.members))
	for i, m := range d.members {
		names[i] = string(unquoteName(m.key))
	}
	return names
}

// record notes who wrote a field.
func (d *Document) record(name string, by Provenance) {
	i := d.entry(name)
	if i < 0 {
		i = len(d.fields)
		d.named = true
		d.fields = append(d.fields, entry{key: quote(name)})
	}
	d.fields[i].write(by)
}

func (d *Document) member(name string) int {
	return slices.IndexFunc(d.members, func(m member) bool { return m.is(name) })
}

func (d *Document) entry(name string) int {
	return slices.IndexFunc(d.fields, func(e entry) bool { return string(unquoteName(e.key)) == name })
}

func quote(name string) []byte { return append(append([]byte{'"'}, name...), '"') }
