package sidecar

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/document"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// An Advice says what helps where the file in the place of a sidecar is not as
// Freehold left it: to accept it is only good advice where that works. For the
// keys of maps that other owners decide it reads their sidecars, without locks.
type Advice struct {
	// Dir is the state's directory.
	Dir *store.Store
	// Manifest is the state's.
	Manifest *schema.Manifest
	// Placed has every command name the directory. If false, none does: who
	// says it to a person knows how that person named the state.
	Placed bool
}

// Acceptable says why [Accept] would refuse raw in the place of owner's sidecar,
// and what to do instead; it returns nil if Accept would take it.
func (a Advice) Acceptable(owner string, raw []byte) error {
	doc, err := document.DecodeForeign(raw)
	if err != nil {
		return err
	}
	return a.refusal(owner, doc)
}

func (a Advice) refusal(owner string, doc *document.Document) error {
	for _, name := range doc.Names() {
		value, err := a.acceptable(owner, name, doc)
		if err != nil {
			return err
		}
		if keeper, _ := a.Manifest.Declaration.OwnerOf(name); value != nil && keeper != owner {
			if err := a.keysKnown(owner, name, keeper, doc); err != nil {
				return err
			}
		}
	}
	return nil
}

// acceptable returns the value of a field in a document that another hand wrote,
// as the field's codec writes it, or nil if no owner declares the field or ever did.
func (a Advice) acceptable(owner, name string, doc *document.Document) ([]byte, error) {
	f, ok := a.Manifest.Declaration.Owners[owner].Fields[name]
	if other, others := a.Manifest.Declaration.OwnerOf(name); !ok && others {
		return nil, fmt.Errorf("field %s: %w: it belongs to owner %s: take it out of the file, or run %s", name, ErrNotOwner, other, a.command("quarantine", owner))
	}
	if !ok && slices.Contains(a.Manifest.Removed, "field "+name) { // a later field of that name would have its value
		return nil, fmt.Errorf("field %s: %w: an upgrade of the state has removed or renamed it: take it out of the file, with its value in a declared field if that is to stay, or run %s", name, ErrNotOwner, a.command("quarantine", owner))
	}
	if !ok {
		return nil, nil
	}
	if f.EffectiveKind() == schema.Once {
		return nil, fmt.Errorf("field %s: %w: it is claimed, and does not stand in the sidecar: take it out of the file, or run %s", name, ErrValue, a.command("quarantine", owner))
	}
	raw, _, _ := doc.Field(name)
	value, err := f.Normalize(raw)
	if err != nil {
		return nil, fmt.Errorf("field %s: %w: %w: mend it, or run %s", name, ErrValue, err, a.command("quarantine", owner))
	}
	return value, nil
}

// keysKnown refuses keys of a map that its other owner has not created. Those
// that the file itself attaches to an incarnation count as created.
func (a Advice) keysKnown(owner, field, keeper string, doc *document.Document) error {
	rows, err := doc.Rows(field)
	if err != nil {
		return err
	}
	var known map[string]bool
	for _, row := range rows {
		if !row.Born.IsZero() {
			continue
		}
		if known == nil {
			if known, err = a.keys(keeper, field); err != nil {
				return fmt.Errorf("field %s: the sidecar of owner %s, which decides the keys, cannot be used: %w: mend that first, or run %s", field, keeper, err, a.command("quarantine", owner))
			}
		}
		if !known[row.Key] {
			return a.noSuchKey(owner, field, row.Key, keeper)
		}
	}
	return nil
}

// keys returns the keys of a map that the owner who decides them has created.
func (a Advice) keys(keeper, field string) (map[string]bool, error) {
	known := map[string]bool{}
	raw, err := a.Dir.ReadFile(store.Sidecar(keeper), nil, document.MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return known, nil
	}
	if err != nil {
		return nil, err
	}
	doc, err := document.Decode(raw)
	if err == nil {
		err = doc.Belongs(keeper, a.Manifest.StateID)
	}
	if err != nil {
		return nil, err
	}
	rows, err := doc.Rows(field)
	for _, row := range rows {
		known[row.Key] = true
	}
	return known, err
}

func (a Advice) noSuchKey(owner, field, key, keeper string) error {
	return fmt.Errorf("field %s, key %q: %w: owner %s, which decides the keys, has not created it: take it out of the file, let that owner create it, or run %s", field, key, ErrNoKey, keeper, a.command("quarantine", owner))
}

// Unusable adds to err, which says what is wrong with raw in the place of
// owner's sidecar, what to do about it.
func (a Advice) Unusable(owner string, raw []byte, err error) error {
	if newer := new(document.FormatError); errors.As(err, &newer) { // it says what to do
		return newer
	}
	doc, torn := document.DecodeForeign(raw)
	if torn != nil {
		return fmt.Errorf("%w: mend it, or run %s to move it aside", err, a.command("quarantine", owner))
	}
	if why := a.refusal(owner, doc); why != nil {
		return fmt.Errorf("%w, and it cannot be accepted as it is: %v", err, why)
	}
	return fmt.Errorf("%w: look at it, then run %s to take it as it is, or %s to move it aside", err, a.command("accept", owner), a.command("quarantine", owner))
}

// command returns the command, in quotes, that runs verb on owner.
func (a Advice) command(verb, owner string) string {
	if !a.Placed {
		return fmt.Sprintf("`freehold %s %s`", verb, owner)
	}
	return fmt.Sprintf("`freehold %s %s --dir %s`", verb, owner, store.ShellWord(a.Dir.Path()))
}

// advice is the Advice for the state that the Writer writes in.
func (w *Writer) advice() Advice {
	return Advice{Dir: w.dir, Manifest: w.manifest}
}
