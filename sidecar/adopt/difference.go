package adopt

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/go-json-experiment/json/jsontext"
)

// changed returns the places where the legacy file differs from the read text.
func (l *Legacy) changed() ([]jsontext.Pointer, error) {
	now, err := look(l.path)
	if err != nil {
		return nil, err
	}
	if now.absent {
		return nil, store.WithRemedy(fmt.Errorf("%s: %w: the file was removed while it was adopted", l.path, ErrActive), store.Remedy{Note: "stop the program that removed the file, then adopt it again"})
	}
	if bytes.Equal(now.text, l.text) {
		return nil, nil
	}
	change := "the same values"
	var differ []jsontext.Pointer
	if other, err := Parse(l.path, now.text); err != nil {
		change = "invalid text"
	} else if differ = differences(nil, "", l.text, other.text); len(differ) > 0 {
		change = "other values at " + enumerate(differ)
	}
	err = fmt.Errorf("%s: %w: the file was rewritten with %s while it was adopted", l.path, ErrActive, change)
	return differ, store.WithRemedy(err, store.Remedy{Note: "stop the program that writes the file, adopt the file again, and compare the values that the state keeps"})
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
