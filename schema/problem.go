package schema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A Problem is one fault of a declaration.
type Problem struct {
	// At points to the faulty part of owners.yaml, or to the place of a missing
	// one: /owners/cost/fields/turns/kind.
	At jsontext.Pointer
	// Format and Args make the text, as for [fmt.Sprintf]: the fault, a colon and
	// the remedy. An argument of type Pointer is the place of another part.
	Format string
	Args   []any
}

// Text returns the fault and its remedy, with places spelled by place.
func (p Problem) Text(place func(jsontext.Pointer) string) string {
	args := slices.Clone(p.Args)
	for i, arg := range args {
		if at, ok := arg.(jsontext.Pointer); ok {
			args[i] = place(at)
		}
	}
	return fmt.Sprintf(p.Format, args...)
}

// String returns the text with pointers for places.
func (p Problem) String() string {
	return p.Text(func(at jsontext.Pointer) string { return string(at) })
}

// PointerTo returns the place of owner's field in owners.yaml, or of the owner
// if field is empty.
func PointerTo(owner, field string) jsontext.Pointer {
	at := jsontext.Pointer("/owners").AppendToken(owner)
	if field != "" {
		at = (at + "/fields").AppendToken(field)
	}
	return at
}

// PartName names the part of an owners.yaml at a place for messages: "field
// turns", "the wait of owner cost", "member port of field target".
func PartName(at jsontext.Pointer) string {
	name, names := "the file", "" // names is the kind of names that the next token is one of
	for token := range at.Tokens() {
		switch of := " of " + name; {
		case names == "owner", names == "field":
			name, names = names+" "+plain(token), ""
		case names == "member":
			name, names = "member "+plain(token)+strings.TrimPrefix(of, " of the members"), ""
		case names != "":
			i, _ := strconv.Atoi(token)
			name = fmt.Sprintf("%s %d%s", names, i+1, strings.TrimPrefix(of, " of "+plurals[names]))
		default:
			name, names = attributeName(token, name)
		}
	}
	return name
}

var plurals = map[string]string{"value": "the values", "dependency": "the dependencies"}

// attributeName names the attribute token of the part called whole, and the
// kind of names or elements that it holds.
func attributeName(token, whole string) (name, names string) {
	of := " of " + whole
	switch token {
	case "state", "package", "instances":
		return token, ""
	case "owners":
		return token, "owner"
	case "by":
		return whole + " by", ""
	case "of":
		return "an element" + of, ""
	case "fields":
		if strings.HasPrefix(whole, "owner ") {
			return "the fields" + of, "field"
		}
		return "the members" + of, "member"
	case "record":
		return "the members" + of, "member"
	case "values":
		return "the values" + of, "value"
	case "depends_on":
		return "the dependencies" + of, "dependency"
	case "busy", "keys":
		return token + of, ""
	case "wait", "then":
		of = strings.TrimPrefix(of, " of busy")
	}
	if other, ok := attributes[token]; ok {
		token = other
	}
	return "the " + token + of, ""
}

var attributes = map[string]string{"then": "busy rule", "go": "Go name", "legacy": "legacy key", "was": "former name"}

// plain returns a name as messages show it: as it is if it is a name at all,
// else quoted.
func plain(name string) string {
	if ValidName(name) {
		return name
	}
	return fmt.Sprintf("%.40q", name)
}

// List returns the words as a sentence lists them: "a, b and c".
func list[T ~string](all []T, last string) string {
	var b strings.Builder
	for i, word := range all {
		switch {
		case i > 0 && i == len(all)-1:
			b.WriteString(" " + last + " ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(string(word))
	}
	return b.String()
}

// DidYouMean ends a message about an unknown word: with the nearest of the
// words, or else with all of them, introduced by all.
func DidYouMean[T ~string](word, all string, words []T) string {
	if w, ok := Nearest(word, words); ok {
		return "did you mean " + string(w) + "?"
	}
	if len(words) == 1 {
		return "write " + string(words[0])
	}
	return all + " " + list(words, "and")
}

// Nearest returns the one of the words that word was most likely meant to be, or
// false if none is near.
func Nearest[T ~string](word string, words []T) (best T, ok bool) {
	word = strings.ToLower(strings.TrimSpace(word))
	if len(word) > 64 {
		return "", false
	}
	least := 1 + max(1, len(word)/3)
	for _, w := range words {
		lower := strings.ToLower(string(w))
		if len(w) > 2 && strings.HasPrefix(word, lower) || len(word) > 2 && strings.HasPrefix(lower, word) {
			return w, true // boolean, int64, timestamp
		}
		if d := distance([]rune(word), []rune(lower)); d < min(least, len(word), len(w)) {
			best, least = w, d
		}
	}
	return best, best != ""
}

// distance counts the letters to insert, drop, replace or swap with their
// neighbour to turn x into y.
func distance(x, y []rune) int {
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := range x {
		row[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}
