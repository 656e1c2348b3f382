package document

import (
	"fmt"
	"strings"

	"github.com/freehold-dev/freehold/schema"
)

// DecodeForeign reads a file that some other hand wrote or edited, so that its
// values can be folded. It asks for JSON as strict as [Decode] does and for
// an object whose names could be fields, else it returns an error that wraps
// [ErrInvalid]; whether the values fit a declaration is the caller's business.
//
// If "$sidecar" still has its form, the result is all that stands there: who
// wrote what, and what a newer release put beside it. Nothing vouches for it,
// since the sum is not looked at. Otherwise the result has the values alone,
// and of Owner, State and Version what could be read; a new version must be
// above that one so that no reader sees the owner go back.
func DecodeForeign(data []byte) (*Document, error) {
	text := append([]byte(nil), data...)
	if err := notText(text); err != nil {
		return nil, err
	}
	d, object := new(Document), false
	s := scan(text, 0, func(s *scanner) { _, object = s.document(d) })
	defer s.release()
	if newer, ok := s.format.(*FormatError); s.err == nil && ok {
		return nil, newer
	}
	if s.err != nil || !object {
		return nil, s.failure()
	}
	for _, m := range d.members {
		name := string(unquoteName(m.key))
		if !schema.ValidName(name) && !strings.HasPrefix(name, "$") {
			return nil, &SyntaxError{int64(m.at), fmt.Sprintf("%.80q cannot be a field: want %s", name, schema.NameRule)}
		}
	}
	if s.format == nil && s.wrong == nil {
		return d, nil
	}
	return &Document{Owner: d.Owner, State: d.State, Version: d.Version, members: d.members}, nil
}
