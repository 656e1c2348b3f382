package document

import (
	"bytes"
	"slices"

	"github.com/freehold-dev/freehold/schema"
	"github.com/go-json-experiment/json/jsontext"
)

// unquoteName returns the name that a member's key spells.
func unquoteName(key []byte) []byte {
	if len(key) < 2 {
		return nil // the scanner has failed
	}
	name := key[1 : len(key)-1 : len(key)-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		name, _ = jsontext.AppendUnquote(nil, key) // valid: the scanner read it
	}
	return name
}

// plain reports whether name has no letter that could be the upper or lower
// case of another.
func plain(name []byte) bool {
	for _, c := range name {
		if c >= 0x80 || (c >= 'A' && c <= 'Z') {
			return false
		}
	}
	return true
}

// A nameAt is a member's name and where its key begins.
type nameAt struct {
	text []byte
	at   int
}

// clash returns two that differ only in case, if there are any.
func clash(names []nameAt) (i, j int, ok bool) {
	if !slices.ContainsFunc(names, func(n nameAt) bool { return !plain(n.text) }) {
		return 0, 0, false
	}
	seen := make(map[string]int, len(names))
	for j := range names {
		folded := schema.FoldCase(string(names[j].text))
		if i, ok := seen[folded]; ok {
			return i, j, true
		}
		seen[folded] = j
	}
	return 0, 0, false
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
