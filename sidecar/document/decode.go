package document

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
)

// Decode reads a sidecar. It returns an error that wraps [status.Invalid] if
// data is not a sidecar, [status.Newer] if a later format wrote it, and
// [status.Foreign] if another hand than Freehold's did. [Document.Belongs]
// checks the owner. Decode keeps no reference to data.
func Decode(data []byte) (*Document, error) {
	text := bytes.Clone(data)
	d, sum, err := decode(text)
	if err != nil {
		return nil, err
	}
	if !sealed(text, sum) {
		return nil, status.Foreign
	}
	return d, nil
}

// decode reads text, which becomes the Document's, and returns the offset of
// the sum's digits.
func decode(text []byte) (*Document, int, error) {
	if err := checkFile(text); err != nil {
		return nil, 0, err
	}
	s := &scanner{text: text}
	d, sum := s.document()
	if err := s.failure(); err != nil {
		return nil, 0, err
	}
	return d, sum, nil
}

// DecodeForeign reads a file that another hand wrote or edited, so that its
// values can be accepted. It requires JSON as strict as [Decode] does and an
// object whose names could be fields, else it returns an error that wraps
// [status.Invalid], or [status.Newer]. The caller checks the values against
// the declaration.
//
// If "$sidecar" still has its form, the result has all of it: the provenances,
// and members of a newer release. The sum is not checked, so nothing vouches
// for them. Otherwise the result has the values alone, and of Owner, State and
// Version the readable ones: a new version must be above that one, or readers
// would see the owner go back.
func DecodeForeign(data []byte) (*Document, error) {
	text := bytes.Clone(data)
	if err := checkFile(text); err != nil {
		return nil, err
	}
	s := &scanner{text: text}
	d, _ := s.document()
	switch {
	case s.names != nil:
		return nil, s.names
	case d == nil || status.Of(s.format) == status.Newer:
		return nil, s.failure()
	}
	for _, m := range d.members {
		name := string(unquoteName(m.key))
		if !schema.ValidName(name) && !strings.HasPrefix(name, "$") {
			return nil, &SyntaxError{int64(m.at), fmt.Sprintf("%.80q cannot be a field: want %s", name, schema.NameRule)}
		}
	}
	if s.failure() == nil {
		return d, nil
	}
	return &Document{Owner: d.Owner, State: d.State, Version: d.Version, members: d.members}, nil
}

// document reads a file. It returns the offset of the sum's digits, and no
// document if the file is not an object.
func (s *scanner) document() (d *Document, sum int) {
	s.skipSpace()
	start, sealed := s.pos, false
	if !s.isObject("the file") {
		return nil, 0
	}
	d = new(Document)
	s.members(func(key []byte) {
		if string(unquoteName(key)) == envelopeName {
			sealed = true
			sum = s.envelope(d)
			return
		}
		if d.members == nil {
			d.members = make([]member, 0, len(d.fields)+1)
		}
		value := s.value()
		d.members = append(d.members, member{key, value, s.at})
	})
	if !sealed {
		s.format = &SyntaxError{int64(start), `the object has no "$sidecar", so Freehold did not write it`}
	}
	return d, sum
}
