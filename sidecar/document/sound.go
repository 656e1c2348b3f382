package document

import (
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/freehold-dev/freehold/schema"
)

// sound says why Decode would refuse the text of d. What came from a file and
// was not set since has been checked.
func (d *Document) sound() error {
	if !schema.ValidName(d.Owner) {
		return fmt.Errorf("the owner %.80q is no name: want %s", d.Owner, schema.NameRule)
	}
	if d.State == "" || !utf8.ValidString(d.State) {
		return fmt.Errorf("%.80q is no state id", d.State)
	}
	if d.Version.IsZero() {
		return fmt.Errorf("the sidecar of %s has no version: a document is committed before it is written", d.Owner)
	}
	id := d.Writer.Identity
	if !utf8.ValidString(id.Boot) || !utf8.ValidString(id.Nonce) {
		return fmt.Errorf("the writer's identity has invalid UTF-8: boot %q, nonce %q", id.Boot, id.Nonce)
	}
	if err := (Provenance{d.Version, d.WrittenAt, d.Writer.Program, id.PID}).sound(); err != nil {
		return err
	}
	for i := range d.fields {
		if e := &d.fields[i]; e.set != nil {
			if err := e.set.sound(); err != nil {
				return fmt.Errorf("field %s: %w", e.key, err)
			}
		}
	}
	for i := range d.members {
		if m := &d.members[i]; m.at == fresh {
			if err := m.sound(); err != nil {
				return fmt.Errorf("field %.80s: %w", m.key, err)
			}
		}
	}
	for _, members := range [][]member{d.envelope, d.writer, d.identity} {
		if len(members)+len(envelopeNames) > MaxMembers {
			return errTooMany
		}
	}
	if !d.named {
		return nil // they are those of the file, which Decode has compared
	}
	return d.distinct()
}

// distinct holds the rules for the names of one object.
func (d *Document) distinct() error {
	names := make([]nameAt, 0, len(d.members)+1)
	names = append(names, nameAt{text: []byte(envelopeName)})
	for i := range d.members {
		names = append(names, nameAt{text: unquoteName(d.members[i].key)})
	}
	if err := distinct(names); err != nil {
		return err
	}
	names = names[:0]
	for i := range d.fields {
		names = append(names, nameAt{text: unquoteName(d.fields[i].key)})
	}
	return distinct(names)
}

var errTooMany = fmt.Errorf("more than %d members in one object: store fewer", MaxMembers)

func distinct(names []nameAt) error {
	if len(names) > MaxMembers {
		return errTooMany
	}
	if i, j, ok := clash(names); ok {
		return fmt.Errorf("the names %q and %q differ only in case: take one out of the file and accept it, or quarantine it", names[i].text, names[j].text)
	}
	return nil
}

func (w *written) sound() error {
	var err error
	pairs(w.open, func(key, value []byte) {
		e := entry{key: key, raw: value}
		if wrong := e.provenance().sound(); wrong != nil {
			err = wrong
		}
		if !validNonce(unquoteName(key)) {
			err = fmt.Errorf("%.80q is no token of an event", key)
		}
	})
	if err != nil || w.Provenance == (Provenance{}) && w.open != nil {
		return err
	}
	return w.Provenance.sound()
}

func (p Provenance) sound() error {
	if err := p.Version.sound(); err != nil {
		return err
	}
	if year := p.At.UTC().Year(); p.At.IsZero() || year < 1 || year > 9999 {
		return fmt.Errorf("%v is no instant that a sidecar can hold: check the clock", p.At.Format(time.RFC3339))
	}
	if !utf8.ValidString(p.Program) {
		return fmt.Errorf("the program name %.80q has invalid UTF-8", p.Program)
	}
	if p.PID < 0 || p.PID > maxPID {
		return fmt.Errorf("%d is no process id", p.PID)
	}
	return nil
}

func (m *member) sound() error {
	if !schema.ValidName(string(unquoteName(m.key))) {
		return fmt.Errorf("no name for a field: want %s", schema.NameRule)
	}
	if len(m.value) == 0 {
		return fmt.Errorf("no value: clear the field instead")
	}
	s := scanWithin(MaxDepth-1, m.value, 0, func(s *scanner) { s.value() }) // the file is an object
	defer s.release()
	if err := s.failure(); err != nil {
		return fmt.Errorf("no JSON value: %w", err)
	}
	return nil
}
