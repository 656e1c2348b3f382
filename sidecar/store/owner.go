package store

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/apply"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/pending"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
)

const (
	// Format is the format number of sidecars and claims of this release.
	Format = document.Format
	// MaxSidecar is the most bytes of a sidecar.
	MaxSidecar = document.MaxSize
	// MaxDepth is how deep arrays and objects may be nested in a sidecar.
	MaxDepth = document.MaxDepth
)

// A Version names one commit of one owner within one state.
type Version = document.Version

// A Provenance says which commit wrote a value, when, and by which program.
type Provenance = document.Provenance

// A Writer is the program that wrote a file, and its process.
type Writer = document.Writer

// A Sighting is a version of a field that an owner, or an upgrade, has seen.
type Sighting = document.Sighting

// A Row is the value and the incarnation of one key of a map.
type Row = document.Row

// A Seen is a token of the versions of some fields that a reader has seen.
type Seen = apply.Seen

// SeenOf returns the token of versions, by field, in the state stateID. It is
// for package reader.
func SeenOf(stateID string, versions map[string]Version) Seen { return apply.SeenOf(stateID, versions) }

// An EventToken names one beginning of an event.
type EventToken = apply.EventToken

// TokenOf returns the token nonce of an event field in the state stateID. It is
// for package reader.
func TokenOf(stateID, field, nonce string) EventToken { return apply.TokenOf(stateID, field, nonce) }

// A Ref names one incarnation of a key of a map.
type Ref struct {
	Key         string  `json:"key"`
	Incarnation Version `json:"incarnation"`
}

// An Owner is one owner of a state, as its sidecar was read. It is safe for
// concurrent use.
type Owner struct {
	Name string
	// Path is the absolute path of the sidecar or, while an upgrade is not
	// finished, of the one that the upgrade has staged.
	Path string
	// Status is [OK], [Missing], [Invalid], [Foreign], [Newer], [Unreadable] or,
	// after [Owner.Against], [Regressed].
	Status Status
	// Err is an [*Error] with the status and the remedy; nil if Status is OK
	// or Missing.
	Err error
	// Version, WrittenAt and Writer of the last commit; zero unless Status is
	// OK or Regressed.
	Version   Version
	WrittenAt time.Time
	Writer    Writer

	// Pending is the number of pending patches that the sidecar does not have, or
	// may not have if it cannot be used. Zero unless they were read: see
	// [Store.Folded].
	Pending int
	// Patches are the ones in the fields, sorted by id.
	Patches []*pending.Patch
	// BadPatches are the files that no commit of this release can fold.
	BadPatches []statedir.PendingFile
	// PendingErr joins the reasons why pending patches are not in the fields.
	PendingErr error

	doc       *document.Document // nil if it cannot be used
	view      *document.Document // doc with the pending patches
	sightings *document.Document // doc, or the one that regressed
	text      []byte

	mu   sync.Mutex
	maps map[string]*rows
}

// rows is a map of a sidecar taken apart.
type rows struct {
	all []Row
	err error
}

// Owner reads the sidecar of the owner name in the state with the manifest m,
// without pending patches and without a lock.
func (d *Store) Owner(m *schema.Manifest, name string) *Owner { return d.Source(m, name).Read() }

// Folded is [Store.Owner] with the pending patches folded, as by the next
// commit.
func (d *Store) Folded(m *schema.Manifest, name string) *Owner {
	s := d.FoldedSource(m, name)
	s.Look()
	s.Confirm()
	return s.Owner()
}

// newOwner returns the owner with a file that was read as text or with the error err.
func (d *Store) newOwner(m *schema.Manifest, name, path string, text []byte, err error) *Owner {
	o := &Owner{Name: name, Path: path, text: text}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		o.Status, o.doc = Missing, document.New(name, m.StateID)
		o.view = o.doc
		return o
	case err != nil:
		s := Unreadable
		if errors.Is(err, ErrTooLarge) {
			s = Invalid
		}
		return o.unusable(s, whenReadable(m, name, statedir.AccessRemedy(err, By(status.Quarantine, name))), err)
	}
	doc, err := document.Decode(text)
	if err == nil {
		err = doc.Belongs(name, m.StateID)
	}
	if err != nil {
		s, remedy, err := d.diagnose(m, name, text, err)
		return o.unusable(d.beside(m, name, s, remedy, err))
	}
	return o.whole(doc)
}

// beside adds to the error of owner's sidecar a whole one that a killed commit left
// beside it, and the remedy that puts that in its place.
func (d *Store) beside(m *schema.Manifest, owner string, s Status, r Remedy, err error) (Status, Remedy, error) {
	if _, declared := m.Declaration.Owners[owner]; !declared || m.Pending != nil || s == Newer {
		return s, r, err
	}
	staged, _ := statedir.StagedFor(d.dir, statedir.Sidecar(owner))
	if len(staged) == 0 {
		return s, r, err
	}
	if live, err := d.Locked(m, owner); live && err == nil {
		return s, r, err
	}
	var newest Version
	for _, name := range staged {
		if v := d.versionIn(m, owner, name); v.After(newest) {
			path := d.sidecarPath(owner)
			newest, r = v, Remedy{Tool: []string{"mv", "--", filepath.Join(d.dir.Path(), name), path}, Note: "put the whole one in its place, if the version is the last one"}
			r = statedir.AccessRemedy(&fs.PathError{Path: path, Err: fs.ErrInvalid}, r)
		}
	}
	if !newest.IsZero() {
		err = fmt.Errorf("%w; a whole sidecar is beside it, at version %v: a killed commit left it", err, newest)
	}
	return s, r, err
}

// versionIn returns the version of the sidecar of owner in the file name of the
// state directory, or zero if the file is none.
func (d *Store) versionIn(m *schema.Manifest, owner, name string) Version {
	raw, err := d.dir.ReadFile(name, nil, document.MaxSize)
	if err != nil {
		return Version{}
	}
	doc, err := document.Decode(raw)
	if err != nil || doc.Belongs(owner, m.StateID) != nil {
		return Version{}
	}
	return doc.Version
}

func (o *Owner) whole(doc *document.Document) *Owner {
	o.Status, o.doc, o.view, o.sightings = OK, doc, doc, doc
	o.Version, o.WrittenAt, o.Writer = doc.Version, doc.WrittenAt, doc.Writer
	return o
}

func (o *Owner) unusable(s Status, r Remedy, err error) *Owner {
	o.Status, o.doc, o.view = s, nil, nil
	o.Err = &Error{Status: s, Path: o.Path, Owner: o.Name, Remedy: r, Err: err}
	return o
}

// diagnose returns the status, the remedy and the error of text, which is not
// owner's sidecar because of err.
func (d *Store) diagnose(m *schema.Manifest, owner string, text []byte, err error) (Status, Remedy, error) {
	s := decodeStatus(err)
	if s == Newer {
		return s, byHand(statedir.UseNewer), err
	}
	quarantine := By(status.Quarantine, owner)
	doc, torn := document.DecodeForeign(text)
	if torn != nil {
		return s, whenReadable(m, owner, quarantine.Or("mend the file")), err
	}
	if _, refused := d.Accepted(m, owner, doc); refused != nil {
		return s, whenReadable(m, owner, quarantine.Or("mend the file, then accept it")), fmt.Errorf("%w; it cannot be accepted: %v", err, refused)
	}
	return s, whenReadable(m, owner, By(status.Accept, owner).Or("look at it first")), err
}

// decodeStatus returns the status of a file that could not be decoded.
func decodeStatus(err error) Status {
	for _, s := range []Status{Newer, Foreign} {
		if errors.Is(err, s) {
			return s
		}
	}
	return Invalid
}

// whenReadable returns the remedy r of owner's file, unless an upgrade must be
// finished first, or the state has no such owner.
func whenReadable(m *schema.Manifest, owner string, r Remedy) Remedy {
	if m.Pending != nil {
		return By(status.Upgrade)
	}
	if _, declared := m.Declaration.Owners[owner]; !declared {
		return byHand("move the file away")
	}
	return r
}

// Document returns the sidecar without pending patches: empty if Status is
// [Missing], nil if it cannot be used. The caller must not change it.
func (o *Owner) Document() *document.Document { return o.doc }

// View is Document with the pending patches folded.
func (o *Owner) View() *document.Document { return o.view }

// Text returns the bytes of the file, or nil. They are valid until the [Source]
// looks again.
func (o *Owner) Text() []byte { return o.text }

// Field returns the value of a field as JSON, which the caller must not change,
// and its provenance. raw is nil if the field was cleared, or is an event that
// was never done; written is false if no commit has written the field.
func (o *Owner) Field(name string) (raw []byte, by Provenance, written bool) {
	if o.view == nil {
		return nil, by, false
	}
	return o.view.Field(name)
}

// Value returns the value of a field as JSON, or nil.
func (o *Owner) Value(name string) []byte {
	if o.view == nil {
		return nil
	}
	return o.view.Value(name)
}

// Observed returns the versions that the writer of a field had seen, or nil.
func (o *Owner) Observed(field string) document.Observation {
	if o.view == nil {
		return nil
	}
	return o.view.Observed(field)
}

// Open returns the beginnings of an event that are not done, in their order.
func (o *Owner) Open(event string) []document.Opening {
	if o.view == nil {
		return nil
	}
	return o.view.Open(event)
}

// Undeclared returns the members of the sidecar that d does not declare, in
// file order. Commits keep them.
func (o *Owner) Undeclared(d *schema.Declaration) []string {
	if o.view == nil {
		return nil
	}
	return slices.DeleteFunc(o.view.Names(), func(name string) bool {
		_, declared := d.Owners[o.Name].Fields[name]
		return declared
	})
}

// Rows returns the rows of a map, sorted by key, which the caller must not
// change. It returns an error that wraps [Invalid] if the value is no object.
func (o *Owner) Rows(field string) ([]Row, error) {
	if o.view == nil {
		return nil, nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	t, known := o.maps[field]
	if !known {
		t = new(rows)
		if t.all, t.err = o.view.Rows(field); o.maps == nil {
			o.maps = map[string]*rows{}
		}
		o.maps[field] = t
	}
	return t.all, t.err
}

// Row returns the row of a key of a map.
func (o *Owner) Row(field, key string) (row Row, ok bool) {
	all, err := o.Rows(field)
	if err != nil {
		return row, false
	}
	i, ok := slices.BinarySearchFunc(all, key, func(r Row, key string) int { return strings.Compare(r.Key, key) })
	if !ok {
		return row, false
	}
	return all[i], true
}

// Sightings returns the versions of others' fields that the owner's writers had
// observed.
func (o *Owner) Sightings() iter.Seq[Sighting] {
	if o.sightings == nil {
		return func(func(Sighting) bool) {}
	}
	return o.sightings.Sightings()
}

// Against returns the owner if its version can have followed the seen one, and
// else an owner without fields and with the status [Regressed]: an older copy was
// put back, or the file removed. Its sightings stay, which were true once.
func (o *Owner) Against(seen Sighting) *Owner {
	if o.Status != OK && o.Status != Missing || !o.doc.Behind(seen.Version) {
		return o
	}
	now := &Owner{Name: o.Name, Path: o.Path, Version: o.Version, WrittenAt: o.WrittenAt, Writer: o.Writer, text: o.text, sightings: o.sightings, Pending: o.Pending, BadPatches: o.BadPatches, PendingErr: o.PendingErr}
	err, note := fmt.Errorf("it is gone, and %v", seen), "bring the file back"
	if o.Status == OK {
		err, note = fmt.Errorf("it is at version %v, and %v: an older copy was put back", o.Version, seen), "bring the newer file back"
	}
	return now.unusable(Regressed, By(status.Accept, o.Name).Or(note), err)
}

// SightingsOf yields upgraded, the version of owner's sidecar that an upgrade
// has written, and those that its observers have seen.
func SightingsOf(d *schema.Declaration, owner string, upgraded Version, observers iter.Seq[*Owner]) iter.Seq[Sighting] {
	return func(yield func(Sighting) bool) {
		if !upgraded.IsZero() && !yield(Sighting{Version: upgraded}) {
			return
		}
		for o := range observers {
			for s := range o.Sightings() {
				if of, _ := d.OwnerOf(s.Of); of == owner && !yield(s) {
					return
				}
			}
		}
	}
}

// Upgraded returns the version of owner's sidecar that the last upgrade has
// written, or zero.
func Upgraded(m *schema.Manifest, owner string) (v Version) {
	_ = v.UnmarshalText([]byte(m.Upgraded[owner])) // the manifest was checked
	return v
}

func (d *Store) sidecarPath(owner string) string {
	return filepath.Join(d.Path(), statedir.Sidecar(owner))
}
