package adopt

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/go-json-experiment/json/jsontext"
)

// changed returns the places where the legacy file differs from the read text.
func (l *Legacy) changed() ([]jsontext.Pointer, error) {
	now, err := look(l.path)
	if err != nil {
		return nil, err
	}
	if now.absent {
		return nil, fmt.Errorf("%s: %w: the file was removed while it was adopted: see who did, then adopt it again", l.path, ErrActive)
	}
	if bytes.Equal(now.text, l.text) {
		return nil, nil
	}
	what := "the file was rewritten with the same values"
	var differ []jsontext.Pointer
	if other, err := Parse(l.path, now.text); err != nil {
		what = "the file was rewritten"
	} else if differ = differences(nil, "", l.text, other.text); len(differ) > 0 {
		what = "it changed " + enumerate(differ)
	}
	return differ, fmt.Errorf("%s: %w: %s while it was adopted: what it wrote since is in that file alone; stop it, adopt the file again and look at what is kept", l.path, ErrActive, what)
}

// differences appends to list the places where the JSON values a and b differ:
// first those in a, then those only in b.
func differences(list []jsontext.Pointer, at jsontext.Pointer, a, b []byte) []jsontext.Pointer {
	if jsontext.Value(a).Kind() != jsontext.KindBeginObject || jsontext.Value(b).Kind() != jsontext.KindBeginObject {
		if !same(a, b) {
			list = append(list, at)
		}
		return list
	}
	before, _ := schema.ParseObject(a) // both were read before
	after, _ := schema.ParseObject(b)
	now := map[string][]byte{}
	for _, m := range after {
		now[m.Name] = m.Value
	}
	for _, m := range before {
		if value, ok := now[m.Name]; ok {
			list = differences(list, at.AppendToken(m.Name), m.Value, value)
		} else {
			list = append(list, at.AppendToken(m.Name))
		}
		delete(now, m.Name)
	}
	for _, m := range after {
		if _, ok := now[m.Name]; ok {
			list = append(list, at.AppendToken(m.Name))
		}
	}
	return list
}

// same reports whether two JSON values are equal apart from white space.
func same(a, b []byte) bool {
	x, y := jsontext.Value(a).Clone(), jsontext.Value(b).Clone()
	return x.Compact() == nil && y.Compact() == nil && bytes.Equal(x, y)
}

// enumerate joins places for a sentence.
func enumerate(list []jsontext.Pointer) string {
	const most = 8
	var words []string
	for i, p := range list {
		if i == most {
			return strings.Join(words, ", ") + fmt.Sprintf(" and %d more", len(list)-most)
		}
		words = append(words, shown(p))
	}
	return strings.Join(words, ", ")
}
