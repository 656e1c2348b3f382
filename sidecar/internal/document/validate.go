package document

import (
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/freehold-dev/freehold/schema"
)

// validate returns an error if [Decode] would refuse the text of d. Parts that
// came from a file and were not set since have been checked.
func (d *Document) validate() error {
	switch {
	case !schema.ValidName(d.Owner):
		return fmt.Errorf("the owner %.80q is not a name: want %s", d.Owner, schema.NameRule)
	case d.State == "" || !utf8.ValidString(d.State):
		return fmt.Errorf("invalid state id %.80q", d.State)
	case d.Version.IsZero():
		return fmt.Errorf("the sidecar of %s was never committed", d.Owner)
	}
	p := Provenance{d.Version, d.WrittenAt, d.Writer.Program, d.Writer.Identity.PID}
	if err := d.Writer.validate(); err != nil {
		return err
	}
	if err := p.validate(); err != nil {
		return err
	}
	for i := range d.fields {
		if e := &d.fields[i]; e.set != nil {
			if err := e.set.validate(); err != nil {
				return fmt.Errorf("field %.80s: %w", e.key, err)
			}
		}
	}
	for i := range d.members {
		if m := &d.members[i]; m.at == fresh {
			if err := m.validate(); err != nil {
				return fmt.Errorf("field %.80s: %w", m.key, err)
			}
		}
	}
	return validateNames(d)
}

var errTooMany = fmt.Errorf("more than %d members in one object", MaxMembers)

// validateNames checks the number of names, and new names against each other.
func validateNames(d *Document) error {
	for _, layout := range [][]member{d.envelope, d.writer, d.identity} {
		if len(layout)+len(envelopeShape.names) > MaxMembers {
			return errTooMany
		}
	}
	if !d.named {
		return nil // Decode has compared the names
	}
	members := make([][]byte, 0, len(d.members)+1)
	members = append(members, []byte(envelopeName))
	for i := range d.members {
		members = append(members, unquoteName(d.members[i].key))
	}
	if err := validateDistinct(members); err != nil {
		return err
	}
	fields := members[:0]
	for i := range d.fields {
		fields = append(fields, unquoteName(d.fields[i].key))
	}
	return validateDistinct(fields)
}

// validateDistinct checks that no two names differ in case alone.
func validateDistinct(names [][]byte) error {
	if len(names) > MaxMembers {
		return errTooMany
	}
	if !slices.ContainsFunc(names, func(name []byte) bool { return !isLower(name) }) {
		return nil
	}
	seen := make(map[string][]byte, len(names))
	for _, name := range names {
		folded := schema.FoldCase(string(name))
		if twin, ok := seen[folded]; ok {
			return fmt.Errorf("the names %q and %q differ only in case", twin, name)
		}
		seen[folded] = name
	}
	return nil
}

func (w *written) validate() error {
	var err error
	pairs(w.open, func(key, value []byte) {
		e := entry{raw: value}
		p := e.provenance()
		if wrong := p.validate(); wrong != nil {
			err = wrong
		}
		if !schema.ValidNonce(unquoteName(key)) {
			err = fmt.Errorf("invalid event token %.80q", unquoteName(key))
		}
	})
	if err != nil || w.Provenance == (Provenance{}) && w.open != nil {
		return err
	}
	return w.Provenance.validate()
}

func (p *Provenance) validate() error {
	v, year := p.Version, p.At.UTC().Year()
	switch {
	case v.Epoch > schema.MaxEpoch, v.Revision > schema.MaxRevision, !schema.ValidNonce(v.Nonce):
		return fmt.Errorf("invalid version %d.%d.%.80q", v.Epoch, v.Revision, v.Nonce)
	case p.At.IsZero(), year < 1, year > 9999:
		return fmt.Errorf("the time %v is outside the years 1 to 9999: check the clock", p.At.Format(time.RFC3339))
	case !utf8.ValidString(p.Program):
		return fmt.Errorf("the program name %.80q has invalid UTF-8", p.Program)
	case p.PID < 0, p.PID > maxPID:
		return fmt.Errorf("invalid process id %d", p.PID)
	}
	return nil
}

func (w *Writer) validate() error {
	if id := &w.Identity; !utf8.ValidString(id.Boot) || !utf8.ValidString(id.Nonce) {
		return fmt.Errorf("the writer's identity has invalid UTF-8: boot %q, nonce %q", id.Boot, id.Nonce)
	}
	return nil
}

func (m *member) validate() error {
	if !schema.ValidName(string(unquoteName(m.key))) {
		return fmt.Errorf("not a name: want %s", schema.NameRule)
	}
	if len(m.value) == 0 {
		return errors.New("no value: clear the field instead")
	}
	if err := checkJSON(m.value, MaxDepth-1); err != nil { // the file is an object
		return fmt.Errorf("invalid JSON value: %w", err)
	}
	return nil
}
