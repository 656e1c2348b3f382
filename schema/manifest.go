package schema

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ManifestFormat is the format number that this release writes and reads.
const ManifestFormat = 1

// A Manifest is what a state directory says of itself: the declaration that
// its readers and writers go by, and the identities of its lock files. It
// stands in .freehold/manifest.json.
type Manifest struct {
	// Format is [ManifestFormat].
	Format int `json:"format"`
	// StateID is drawn at random when the directory is made; versions
	// compare only within one state id.
	StateID string `json:"state_id"`
	// Locks holds the inode number of each lock file, by file name. A lock
	// file that is another inode would let two processes in at once.
	Locks map[string]uint64 `json:"locks"`
	// Declaration of the state.
	Declaration Declaration `json:"declaration"`
	// Unknown keeps the members that a newer release wrote.
	Unknown jsontext.Value `json:",embed"`
}

// Marshal returns m as the text of manifest.json.
func (m *Manifest) Marshal() ([]byte, error) {
	text, err := json.Marshal(m, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return nil, err
	}
	return append(text, '\n'), nil
}

// ParseManifest reads the text of manifest.json. It returns an error if the
// format is not [ManifestFormat] or the declaration could not have come from
// an owners.yaml: a manifest may be the work of a stranger.
func ParseManifest(text []byte) (*Manifest, error) {
	var head struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, err
	}
	if head.Format != ManifestFormat {
		return nil, fmt.Errorf("the manifest has format %d and this release reads format %d: use the release that wrote it", head.Format, ManifestFormat)
	}
	m := new(Manifest)
	if err := json.Unmarshal(text, m); err != nil {
		return nil, err
	}
	return m, m.Declaration.sound()
}

// sound holds the rules of a declaration that code relies on for its safety:
// names become file names, and types decide how bytes are read.
func (d *Declaration) sound() error {
	seen := map[string]string{}
	for _, owner := range d.OwnerNames() {
		o := d.Owners[owner]
		if !ValidName(owner) {
			return fmt.Errorf("the owner name %q does not fit %s", owner, NameRule)
		}
		if mode := o.EffectiveMode(); mode != Shared && mode != Exclusive {
			return fmt.Errorf("owner %s has the unknown mode %q", owner, mode)
		}
		if durability := o.EffectiveDurability(); durability != Power && durability != Process {
			return fmt.Errorf("owner %s has the unknown durability %q", owner, durability)
		}
		if o.Busy.Then != "" && o.Busy.Then != Fail {
			return fmt.Errorf("owner %s has the unknown busy rule %q", owner, o.Busy.Then)
		}
		if o.Busy.Wait != "" {
			if wait, err := time.ParseDuration(o.Busy.Wait); err != nil || wait < 0 {
				return fmt.Errorf("owner %s has the wait %q, which is no duration", owner, o.Busy.Wait)
			}
		}
		for _, field := range o.FieldNames() {
			if !ValidName(field) {
				return fmt.Errorf("the field name %q does not fit %s", field, NameRule)
			}
			if other, ok := seen[field]; ok {
				return fmt.Errorf("field %s has two owners, %s and %s", field, other, owner)
			}
			seen[field] = owner
			if f := o.Fields[field]; !f.EffectiveKind().Allows(f.Type) {
				return fmt.Errorf("field %s has the kind %q of type %q, which this release does not know", field, f.EffectiveKind(), f.Type)
			}
		}
	}
	return nil
}

// ErrDeclaration is returned when a program's declaration and a state
// directory's manifest contradict each other.
var ErrDeclaration = errors.New("the program's declaration contradicts the state's manifest")

// Merge returns the declaration under which a program that was built from
// built and a directory whose manifest says d work together: everything that
// either declares. The second result reports whether that is more than d. A
// field missing from built is no contradiction, for an older build knows
// less. Merge returns an error that wraps [ErrDeclaration] and lists every
// contradiction if an owner or a field differs.
func (d *Declaration) Merge(built *Declaration) (*Declaration, bool, error) {
	merged := &Declaration{State: d.State, Package: d.Package, Owners: map[string]Owner{}}
	for name, o := range d.Owners {
		merged.Owners[name] = o
	}
	var clashes []string
	if d.State != built.State {
		clashes = append(clashes, fmt.Sprintf("the state is %s there and %s here", d.State, built.State))
	}
	more := false
	for _, name := range built.OwnerNames() {
		o := built.Owners[name]
		for _, field := range o.FieldNames() {
			if other, ok := d.OwnerOf(field); ok && other != name {
				clashes = append(clashes, fmt.Sprintf("field %s belongs to owner %s there and to %s here", field, other, name))
			}
		}
		old, ok := d.Owners[name]
		if !ok {
			merged.Owners[name], more = o, true
			continue
		}
		union, added, differs := old.merge(name, o)
		clashes = append(clashes, differs...)
		merged.Owners[name], more = union, more || added
	}
	if len(clashes) > 0 {
		return nil, false, fmt.Errorf("%w: %s", ErrDeclaration, strings.Join(clashes, "; "))
	}
	return merged, more, nil
}

func (o Owner) merge(name string, built Owner) (union Owner, added bool, clashes []string) {
	if o.EffectiveMode() != built.EffectiveMode() {
		clashes = append(clashes, fmt.Sprintf("owner %s is %s there and %s here", name, o.EffectiveMode(), built.EffectiveMode()))
	}
	if o.EffectiveDurability() != built.EffectiveDurability() {
		clashes = append(clashes, fmt.Sprintf("owner %s has durability %s there and %s here", name, o.EffectiveDurability(), built.EffectiveDurability()))
	}
	union = o
	union.Fields = map[string]Field{}
	for field, f := range o.Fields {
		union.Fields[field] = f
	}
	for _, field := range built.FieldNames() {
		f := built.Fields[field]
		old, ok := o.Fields[field]
		if !ok {
			union.Fields[field], added = f, true
			continue
		}
		if old.Type != f.Type || old.EffectiveKind() != f.EffectiveKind() {
			clashes = append(clashes, fmt.Sprintf("field %s is a %s of type %s there and a %s of type %s here",
				field, old.EffectiveKind(), old.Type, f.EffectiveKind(), f.Type))
			continue
		}
		if values := newValues(old, f); len(values) > 0 {
			old.Values = append(append([]string{}, old.Values...), values...)
			union.Fields[field], added = old, true
		}
	}
	return union, added, clashes
}

// newValues returns the values of the enum built that old lacks.
func newValues(old, built Field) []string {
	have := map[string]bool{}
	for _, v := range old.Values {
		have[v] = true
	}
	var fresh []string
	for _, v := range built.Values {
		if !have[v] {
			fresh = append(fresh, v)
		}
	}
	return fresh
}
