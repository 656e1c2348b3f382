package document

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"github.com/go-json-experiment/json/jsontext"
)

// Format is the format number that this release writes and reads.
const Format = 1

const (
	// MaxEpoch is the largest epoch.
	MaxEpoch = schema.MaxEpoch
	// MaxRevision is the largest revision.
	MaxRevision = schema.MaxRevision
)

// A Version is the version of a commit.
type Version = schema.Version

// A Document is the content of one sidecar. Make one with [New], [Decode] or
// [DecodeForeign]. Any number of goroutines may read a Document that none
// changes.
type Document struct {
	// Owner of the file.
	Owner string
	// State is the state id of the file's state, as the manifest has it.
	State string
	// Version of the commit that wrote the file.
	Version Version
	// WrittenAt is the time of that commit by the writer's clock.
	WrittenAt time.Time
	// Writer of that commit.
	Writer Writer

	recent   ids      // nonces of commits and ids of folded patches
	folded   ids      // pending patches that are in the fields
	named    bool     // names were added since it was decoded
	fields   []entry  // the provenance of each field, in file order
	members  []member // the members beside $sidecar, in file order
	envelope []member // the layout of $sidecar
	writer   []member // the layout of $sidecar.writer
	identity []member // the layout of $sidecar.writer.identity
}

// A Writer is the program that wrote a sidecar.
type Writer struct {
	// Program is its name.
	Program string
	// Identity of its process.
	Identity process.Identity
}

// A member is one member of an object in the bytes of the file.
type member struct {
	key   []byte // with its quotes
	value []byte // nil if the format knows the member
	at    int    // offset of value in the file; fresh if it was set since
}

const fresh = -1

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

// Folded returns the ids of the pending patches that are in d's fields and may
// still have their files.
func (d *Document) Folded() []string { return d.folded.list() }

// HasFolded reports whether id is among [Document.Folded].
func (d *Document) HasFolded(id string) bool { return d.folded.has(id) }

// SetFolded sets the ids that [Document.Folded] returns, [MaxFolded] at most,
// and remembers the ids in fresh. They displace none of the last [SureRecent]
// commits: a commit may fold hundreds of patches, and the commit before must
// not look as if it had never been.
func (d *Document) SetFolded(folded, fresh []string) {
	d.folded = makeIDs(folded[max(0, len(folded)-MaxFolded):])
	d.recent = d.recent.insert(fresh[max(0, len(fresh)-MaxRecent):], SureRecent, MaxRecent)
}

// Remembers reports whether nonce is among [Document.Recent].
func (d *Document) Remembers(nonce string) bool { return d.recent.has(nonce) }

// Behind reports whether d is older than the version seen of the same sidecar,
// or has another history: an older copy was put back, and perhaps went on from
// there. A nonce that d has forgotten proves nothing.
func (d *Document) Behind(seen Version) bool {
	v := d.Version
	switch {
	case seen.IsZero(), seen.IsPending(): // not the version of a commit
		return false
	case seen.Epoch != v.Epoch:
		return seen.Epoch > v.Epoch
	case seen.Revision >= v.Revision:
		return seen != v
	}
	return v.Revision-seen.Revision < min(SureRecent, uint64(d.recent.len())) && !d.Remembers(seen.Nonce)
}

// Belongs returns an error that wraps [status.Foreign] if d is not the
// document of owner in the state stateID: a sidecar that was copied from
// elsewhere.
func (d *Document) Belongs(owner, stateID string) error {
	if d.Owner != owner {
		return fmt.Errorf("%w: it is the sidecar of owner %q", status.Foreign, d.Owner)
	}
	if d.State != stateID {
		return fmt.Errorf("%w: it belongs to the state with the id %q, this one is %q", status.Foreign, d.State, stateID)
	}
	return nil
}

// Field returns the JSON of a field's value and its provenance. raw is nil for
// a field that was cleared; ok is false for one that was never written. A
// value without an entry has the zero Provenance. The caller must not change
// raw.
func (d *Document) Field(name string) (raw []byte, by Provenance, ok bool) {
	if i := d.member(name); i >= 0 {
		raw, ok = d.members[i].value, true
	}
	if i := d.entry(name); i >= 0 {
		by, ok = d.fields[i].provenance(), true
	}
	return raw, by, ok
}

// Value returns the JSON of a field's value, or nil if the field is unset. The
// caller must not change it.
func (d *Document) Value(name string) []byte {
	if i := d.member(name); i >= 0 {
		return d.members[i].value
	}
	return nil
}

// Set gives a field the value raw, which must be JSON, and its provenance. A
// field that has a value keeps its place. [Document.Encode] checks the name
// and the value.
func (d *Document) Set(name string, raw []byte, by Provenance) {
	raw = bytes.Clone(raw)
	_ = (*jsontext.Value)(&raw).Compact() // one field, one line; Encode reports an error
	if i := d.member(name); i >= 0 {
		d.members[i].value, d.members[i].at = raw, fresh
	} else {
		d.named = true
		d.members = append(d.members, member{quote(name), raw, fresh})
	}
	d.fields[d.addEntry(name)].write(by)
}

// Clear removes a field's value and sets its provenance.
func (d *Document) Clear(name string, by Provenance) {
	d.removeMember(name)
	d.fields[d.addEntry(name)].write(by)
}

// Take copies the field name of another document to d as the field as: value,
// provenance, and members of a newer release. It replaces d's field; if name
// was never written, d has no such field afterwards.
func (d *Document) Take(as string, from *Document, name string) {
	d.Drop(as)
	if i := from.member(name); i >= 0 {
		d.named = true
		d.members = append(d.members, member{quote(as), from.members[i].value, fresh})
	}
	if i := from.entry(name); i >= 0 {
		d.fields[d.addEntry(as)] = from.fields[i].named(as)
	}
}

// Drop removes the field name from d with its provenance.
func (d *Document) Drop(name string) {
	d.removeMember(name)
	if i := d.entry(name); i >= 0 {
		d.fields = slices.Delete(d.fields, i, i+1)
	}
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

// member returns the index of the value of a field, or -1.
func (d *Document) member(name string) int {
	return slices.IndexFunc(d.members, func(m member) bool { return string(unquoteName(m.key)) == name })
}

func (d *Document) removeMember(name string) {
	if i := d.member(name); i >= 0 {
		d.members = slices.Delete(d.members, i, i+1)
	}
}

// entry returns the index of the entry of a field, or -1.
func (d *Document) entry(name string) int {
	return slices.IndexFunc(d.fields, func(e entry) bool { return string(unquoteName(e.key)) == name })
}

// addEntry returns the index of the entry of a field, a new one if needed.
func (d *Document) addEntry(name string) int {
	i := d.entry(name)
	if i < 0 {
		i = len(d.fields)
		d.named = true
		d.fields = append(d.fields, entry{key: quote(name)})
	}
	return i
}

func quote(name string) []byte { return append(append([]byte{'"'}, name...), '"') }
