package document

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/freehold-dev/freehold/schema"
	"github.com/go-json-experiment/json/jsontext"
)

// A scanner reads a text that [checkJSON] has accepted. It walks over each
// byte once and returns parts of the text without copying.
//
// The first error of each kind stays. A newer release may give other meanings
// to well-formed text, so an error of an earlier kind hides the later ones.
type scanner struct {
	text   []byte
	pos    int    // where the next value or name begins
	at     int    // where the last value or name begins
	field  []byte // the field of the entry that is being read
	names  error  // names that differ in case alone, or too many names
	format error  // another format number, or none
	wrong  error  // a value that this release does not accept
}

// failure returns the error of the first kind.
func (s *scanner) failure() error {
	for _, err := range []error{s.names, s.format, s.wrong} {
		if err != nil {
			return err
		}
	}
	return nil
}

// fail records an error about a name at an offset.
func (s *scanner) fail(at int, format string, args ...any) {
	if s.names == nil {
		s.names = &SyntaxError{int64(at), fmt.Sprintf(format, args...)}
	}
}

// refuse records an error about the value at an offset.
func (s *scanner) refuse(at int, format string, args ...any) {
	if s.wrong != nil {
		return
	}
	text := fmt.Sprintf(format, args...)
	if s.field != nil {
		text = fmt.Sprintf("field %.80q: %s", s.field, text)
	}
	s.wrong = &SyntaxError{int64(at), text}
}

// since returns the text from an offset to here; appending to it copies it.
func (s *scanner) since(start int) []byte { return s.text[start:s.pos:s.pos] }

// skipSpace moves behind white space. In valid text, no other byte outside of a
// string is below a space.
func (s *scanner) skipSpace() {
	for s.pos < len(s.text) && s.text[s.pos] <= ' ' {
		s.pos++
	}
}

// value reads any value, or a name.
func (s *scanner) value() []byte {
	s.at = s.pos
	switch s.text[s.pos] {
	case '"':
		s.pos = stringEnd(s.text, s.pos)
	case '{', '[':
		s.pos = nestedEnd(s.text, s.pos)
	default:
		s.pos = wordEnd(s.text, s.pos)
	}
	return s.since(s.at)
}

// wordEnd returns the offset after the number or literal that begins at i.
func wordEnd(text []byte, i int) int {
	for i < len(text) && text[i] > ' ' && text[i] != ',' && text[i] != '}' && text[i] != ']' {
		i++
	}
	return i
}

// stringEnd returns the offset after the string that begins at i.
func stringEnd(text []byte, i int) int {
	for start := i + 1; ; {
		i += 1 + bytes.IndexByte(text[i+1:], '"')
		if text[i-1] != '\\' {
			return i + 1
		}
		slashes := i - start - len(bytes.TrimRight(text[start:i], `\`))
		if slashes%2 == 0 { // else the quote is escaped
			return i + 1
		}
	}
}

// nestedEnd returns the offset after the object or array that begins at i.
func nestedEnd(text []byte, i int) int {
	for depth := 0; ; {
		switch text[i] {
		case '"':
			i = stringEnd(text, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if i++; depth == 0 {
			return i
		}
	}
}

// each calls read for each member of the object that begins here. read gets
// the name with its quotes, and has to read the value.
func (s *scanner) each(read func(key []byte)) {
	s.pos++
	s.skipSpace()
	for s.text[s.pos] != '}' {
		key := s.value()
		s.skipSpace()
		s.pos++ // the colon
		s.skipSpace()
		read(key)
		s.skipSpace()
		if s.text[s.pos] == ',' {
			s.pos++
			s.skipSpace()
		}
	}
	s.pos++
}

// isObject reports whether an object begins here. Any other value is read and
// refused.
func (s *scanner) isObject(name string) bool {
	if s.text[s.pos] == '{' {
		return true
	}
	v := s.value()
	s.refuse(s.at, "%s must be an object, not %s", name, kind(v))
	return false
}

// members is each for an object that has fields as its members. [checkNames]
// holds for them.
func (s *scanner) members(read func(key []byte)) {
	start, n, lower := s.pos, 0, true
	s.each(func(key []byte) {
		n++
		lower = lower && isLower(key)
		read(key)
	})
	if n > MaxMembers || !lower {
		s.checkNames(start, nil)
	}
}

// checkNames records an error for an object at start with more than
// [MaxMembers] members, or with a name that differs in case alone from an earlier
// one, or from one that the format knows: a commit may write that later.
func (s *scanner) checkNames(start int, known []string) {
	inner, seen := scanner{text: s.text, pos: start}, map[string]nameAt{}
	for _, name := range known {
		seen[schema.FoldCase(name)] = nameAt{name, -1}
	}
	n := 0
	inner.each(func(key []byte) {
		at, name := inner.at, string(unquoteName(key))
		inner.value()
		if n++; n > MaxMembers {
			s.fail(at, "more than %d members in one object", MaxMembers)
		}
		folded := schema.FoldCase(name)
		switch twin, ok := seen[folded]; {
		case ok && twin.at < 0 && twin.name != name:
			s.fail(at, "the name %q differs only in case from %q, which the format knows", name, twin.name)
		case ok && twin.at >= 0:
			s.fail(at, "the name %q differs only in case from %q at byte %d", name, twin.name, twin.at)
		}
		seen[folded] = nameAt{name, at}
	})
}

type nameAt struct {
	name string
	at   int
}

// A shape is the members that the format knows of an object, in the order in
// which this release writes them.
type shape struct {
	names    []string
	optional []string
}

// object reads an object of a shape. It calls read for each known member, to
// read the value. It returns the object's layout: nil if the members stand as
// this release writes them, else all members, where only unknown ones have
// values.
func (s *scanner) object(title string, f *shape, read func(name string)) (layout []member) {
	if !s.isObject(title) {
		return nil
	}
	layout, seen := s.shaped(f, read)
	s.complete(title, f, seen)
	return layout
}

// shaped is object for an object, complete or not. It returns the known
// members that the object has, as a set of indices in f.names.
func (s *scanner) shaped(f *shape, read func(name string)) (layout []member, seen uint32) {
	start, n, lower, next := s.pos, 0, true, 0
	s.each(func(key []byte) {
		n++
		i := f.index(key, next)
		if layout == nil && (i < next || len(key) != len(f.names[i])+len(`""`)) {
			layout = f.members(seen)
		}
		m := member{key: key}
		if i < 0 {
			lower = lower && isLower(key)
			m.value = s.value()
		} else {
			seen |= 1 << i
			next = i + 1
			read(f.names[i])
		}
		if layout != nil {
			layout = append(layout, m)
		}
	})
	if n > MaxMembers || !lower {
		s.checkNames(start, f.names)
	}
	return layout, seen
}

// complete refuses the object that ends here if one of its required members is
// not in seen.
func (s *scanner) complete(title string, f *shape, seen uint32) {
	for i, name := range f.names {
		if seen&(1<<i) == 0 && !slices.Contains(f.optional, name) {
			s.refuse(s.pos-1, "%s has no %q", title, name)
		}
	}
}

// index returns the index of the name that key spells, or -1. guess is tried
// first.
func (f *shape) index(key []byte, guess int) int {
	if guess < len(f.names) && f.names[guess] == string(key[1:len(key)-1]) {
		return guess
	}
	name := unquoteName(key)
	return slices.IndexFunc(f.names, func(known string) bool { return known == string(name) })
}

// members returns the layout of the members in seen.
func (f *shape) members(seen uint32) []member {
	layout := make([]member, 0, len(f.names)+1)
	for i, name := range f.names {
		if seen&(1<<i) != 0 {
			layout = append(layout, member{key: quote(name)})
		}
	}
	return layout
}

// pairs calls read with each member of an object, which is valid, or of nil.
func pairs(object []byte, read func(key, value []byte)) {
	if object == nil {
		return
	}
	s := scanner{text: object}
	s.skipSpace()
	s.each(func(key []byte) { read(key, s.value()) })
}

// unquoteName returns the name that a member's key spells.
func unquoteName(key []byte) []byte {
	name := key[1 : len(key)-1 : len(key)-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		name, _ = jsontext.AppendUnquote(nil, key) // valid: the scanner read it
	}
	return name
}

// isLower reports whether a name, or its key, has no letter that another name
// could have in the other case, and no escape.
func isLower(name []byte) bool {
	for _, c := range name {
		if c >= 0x80 || 'A' <= c && c <= 'Z' || c == '\\' {
			return false
		}
	}
	return true
}

// kind names the kind of a JSON value in words.
func kind(value []byte) string {
	switch jsontext.Value(value).Kind() {
	case jsontext.KindNull:
		return "null"
	case jsontext.KindTrue, jsontext.KindFalse:
		return "a boolean"
	case jsontext.KindString:
		return "a string"
	case jsontext.KindNumber:
		return "a number"
	case jsontext.KindBeginObject:
		return "an object"
	case jsontext.KindBeginArray:
		return "an array"
	}
	return "nothing"
}

// excerpt returns a value for a message: on one line, short, and without
// characters that a terminal would obey.
func excerpt(v []byte) string {
	if k := jsontext.Value(v).Kind(); k == jsontext.KindBeginObject || k == jsontext.KindBeginArray {
		return kind(v)
	}
	text, err := jsontext.AppendUnquote(nil, v)
	if err != nil { // a number or a literal
		return fmt.Sprintf("%.40s", v)
	}
	return fmt.Sprintf("%.40q", text)
}
