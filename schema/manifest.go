package schema

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ErrUnsound is returned for a declaration that no owners.yaml makes.
var ErrUnsound = errors.New("unsound declaration")

// MaxManifest is the most bytes that a manifest may have.
const MaxManifest = 2 << 20

// manifestLimits leave room for four thousand fields and their documentation.
var manifestLimits = Limits{Depth: 64, Members: 4096, Values: 40_000, Text: 64 << 10}

// ManifestFormat is the format number that this release writes and reads.
const ManifestFormat = 1

// A Manifest describes a state directory: the declaration that
// its readers and writers go by, and the identities of its lock files. It
// stands in .freehold/manifest.json.
type Manifest struct {
	// Format is [ManifestFormat].
	Format int `json:"format"`
	// StateID is drawn at random when the directory is made, as 26 digits
	// of lower-case base32hex; versions compare only within one state id.
	StateID string `json:"state_id"`
	// Instance is the id of the instance that the directory holds. If empty,
	// the declaration has no instances.
	Instance string `json:"instance,omitempty"`
	// Locks holds the inode number of each lock file, by file name. A lock
	// file that is another inode would let two processes in at once.
	Locks map[string]uint64 `json:"locks"`
	// Claims holds, by owner, the inode number of the directory of its
	// claims. Owners without a once field have none.
	Claims map[string]uint64 `json:"claims,omitempty"`
	// IDs holds the random id in each lock file, by file name, and in the
	// directories of claims and of pending patches, by their path in .freehold: a
	// new file may have the inode number of the former one. A state of an older
	// release has none.
	IDs map[string]string `json:"ids,omitempty"`
	// Slots holds, by owner, the once fields with a slot in the owner's lock file,
	// in the order of the slots. A field keeps its slot for good.
	Slots map[string][]string `json:"slots,omitempty"`
	// Modules lists the modules with generated code that has opened the state to
	// write, the first one first, as [Manifest.AddModule] adds them. More than one
	// means that owners.yaml was copied.
	Modules []string `json:"modules,omitempty"`
	// Declaration of the state, without a module.
	Declaration Declaration `json:"declaration"`
	// Removed lists the parts that upgrades took out of the declaration, as
	// [Declaration.Parts] names it: programs that still declare it are older
	// than the state.
	Removed []string `json:"removed,omitempty"`
	// Pending is the upgrade that has taken effect while some sidecars do not
	// stand in their places yet; nil if there is none.
	Pending *Pending `json:"pending,omitempty"`
	// Upgraded holds, by owner, the version of the sidecar that an upgrade has
	// written last, as package document spells versions. A sidecar
	// with an older version is a restored copy from before the upgrade, and a
	// missing one was removed.
	Upgraded map[string]string `json:"upgraded,omitempty"`
	// Unknown keeps the members that a newer release wrote.
	Unknown jsontext.Value `json:",embed"`
	// Text is the file as package store read or wrote it, for comparing.
	Text []byte `json:"-"`
}

// A Pending upgrade has sidecars beside the state's: where one of them stands,
// it counts and not the one in the state. Nobody commits before it is finished.
type Pending struct {
	// ID names the upgrade and the directory of its sidecars: 13 digits of
	// lower-case base32hex.
	ID string `json:"id"`
	// Epoch is that of the sidecars that the upgrade has made, and larger than
	// that of all before.
	Epoch uint64 `json:"epoch,omitzero"`
	// Sidecars lists the owners whose sidecars the upgrade replaces, in the
	// order in which they go to their places.
	Sidecars []string `json:"sidecars,omitempty"`
	// Kept lists those owners of whose old sidecars a copy goes to the
	// quarantine, and Dropped the former owners whose sidecars go there.
	Kept    []string `json:"kept,omitempty"`
	Dropped []string `json:"dropped,omitempty"`
}

// Marshal returns m as the text of manifest.json. It returns an error if
// [ParseManifest] would not read that.
func (m *Manifest) Marshal() ([]byte, error) {
	m.addSlots()
	text, err := json.Marshal(m, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return nil, err
	}
	text = append(text, '\n')
	return text, limitManifest(text)
}

func limitManifest(text []byte) error {
	err := manifestLimits.Check(text)
	if len(text) > MaxManifest {
		err = fmt.Errorf("more than %d bytes", MaxManifest)
	}
	if err != nil {
		return fmt.Errorf("the manifest is larger than it may be (%w): divide the state into several", err)
	}
	return nil
}

// ParseManifest reads the text of manifest.json. It returns a [*FormatError] if
// the format is of a newer release, and an error if it is none, if the state id or
// the lock files are missing, or if the declaration could not have come from an
// owners.yaml: a manifest may be the work of a stranger.
func ParseManifest(text []byte) (*Manifest, error) {
	if err := limitManifest(text); err != nil {
		return nil, err
	}
	var head struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, notAManifest(err)
	}
	if head.Format > ManifestFormat {
		return nil, &FormatError{head.Format}
	}
	if head.Format < ManifestFormat {
		return nil, notAManifest(fmt.Errorf("it has the format %d", head.Format))
	}
	m := new(Manifest)
	if err := json.Unmarshal(text, m); err != nil {
		return nil, notAManifest(err)
	}
	return m, m.sound()
}

// A FormatError is the error of a manifest that a newer release wrote. The file
// is whole: nobody may restore it or make it anew.
type FormatError struct {
	Found int // the format number
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("it has format %d and this release reads format %d: use the release that wrote it", e.Found, ManifestFormat)
}

func notAManifest(err error) error { return fmt.Errorf("the text is no manifest: %w", err) }

func (m *Manifest) sound() error {
	switch {
	case !ValidStateID(m.StateID):
		return fmt.Errorf("the manifest has the state id %.80q, which no state is made with", m.StateID)
	case m.Locks == nil:
		return errors.New("the manifest has no lock files")
	case m.Declaration.Instanced() && m.Instance == "":
		return errors.New("the manifest declares instances and does not say which one this is")
	case !m.Declaration.Instanced() && m.Instance != "":
		return fmt.Errorf("the manifest is of the instance %.80q and declares none", m.Instance)
	case m.Instance != "":
		if err := CheckInstanceID(m.Instance); err != nil {
			return fmt.Errorf("the manifest is of no instance: %w", err)
		}
	}
	if err := m.Pending.sound(); err != nil {
		return err
	}
	for _, owner := range slices.Sorted(maps.Keys(m.Upgraded)) {
		if version := m.Upgraded[owner]; !validVersion(version) {
			return fmt.Errorf("the manifest says that an upgrade has given owner %.80q the version %.80q, which is none", owner, version)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.IDs)) {
		if id := m.IDs[name]; !ValidNonce(id) {
			return fmt.Errorf("the manifest says that %.80q has the id %.80q, which is none", name, id)
		}
	}
	return m.Declaration.sound()
}

// Slot returns the place of the slot of owner's once field in the owner's lock
// file; or false.
func (m *Manifest) Slot(owner, field string) (place int, ok bool) {
	place = slices.Index(m.Slots[owner], field)
	return place, place >= 0
}

// mostModules bounds [Manifest.Modules].
const mostModules = 8

// AddModule adds the path of a module to m.Modules and reports whether it was
// missing. An empty path, and one more than eight, are not added.
func (m *Manifest) AddModule(path string) (added bool) {
	if path == "" || len(m.Modules) >= mostModules || slices.Contains(m.Modules, path) {
		return false
	}
	m.Modules = append(slices.Clip(m.Modules), path)
	return true
}

// addSlots gives a slot to each once field that has none.
func (m *Manifest) addSlots() {
	slots := maps.Clone(m.Slots)
	for _, owner := range m.Declaration.OwnerNames() {
		o := m.Declaration.Owners[owner]
		for _, field := range o.FieldNames() {
			if o.Fields[field].EffectiveKind() == Once && !slices.Contains(slots[owner], field) {
				if slots == nil {
					slots = map[string][]string{}
				}
				slots[owner] = append(slices.Clone(slots[owner]), field)
			}
		}
	}
	m.Slots = slots
}

// sound holds that nothing in a pending upgrade names a file elsewhere.
func (p *Pending) sound() error {
	if p == nil {
		return nil
	}
	if !ValidNonce(p.ID) {
		return fmt.Errorf("the manifest has a pending upgrade with the id %.80q, which none is made with", p.ID)
	}
	for _, owner := range slices.Concat(p.Sidecars, p.Kept, p.Dropped) {
		if !ValidName(owner) {
			return fmt.Errorf("the pending upgrade is about the owner %.80q, whose name does not fit %s", owner, NameRule)
		}
	}
	return nil
}

// validVersion reports whether s is the version of a commit.
func validVersion(s string) bool {
	var v Version
	return v.UnmarshalText([]byte(s)) == nil && v.Epoch > 0 && v.Revision > 0
}

// ValidStateID reports whether s is a state id, as [Manifest.StateID] has it.
func ValidStateID(s string) bool {
	return len(s) == 2*NonceLen && isBase32Hex(s)
}

// Sound returns an error that wraps [ErrUnsound] and states the first problem
// if d could not have come from an owners.yaml.
func (d *Declaration) Sound() error {
	if err := d.sound(); err != nil {
		return fmt.Errorf("%w: %w", ErrUnsound, err)
	}
	return nil
}

func (d *Declaration) sound() error {
	if problems := d.Problems(nil); len(problems) > 0 {
		return errors.New(problems[0].String())
	}
	for _, owner := range d.OwnerNames() {
		if home := d.Owners[owner].Home; home != "" && !validHome(home) {
			return fmt.Errorf("owner %s has the home %.200q, which is no path below a module root: correct owners.yaml", owner, home)
		}
	}
	return nil
}

// validHome reports whether path, relative and with slashes, names a folder
// and does nothing to a terminal.
func validHome(path string) bool {
	return fs.ValidPath(path) && path != "." && strings.IndexFunc(path, func(r rune) bool { return !unicode.IsGraphic(r) }) < 0
}
