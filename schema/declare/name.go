package declare

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/schema"
)

// checkName reports a name that does not fit [schema.NameRule]. what is the
// thing named: "owner", "field", "state" or "package".
func (r *reporter) checkName(at place, what, name string) bool {
	if schema.ValidName(name) {
		return true
	}
	if strings.HasPrefix(name, "$") {
		r.report(at, "the %s name %s is reserved: names with $ say things about the file itself; choose a name of a-z, 0-9 and _", what, quote(name))
		return false
	}
	advice := "choose another"
	if better := snake(name); schema.ValidName(better) {
		advice = "write " + better
	}
	r.report(at, "the %s name %s may have only a-z, 0-9 and _, at most 48 of them, a letter first: %s", what, quote(name), advice)
	return false
}

// snake turns a name in another style, fieldName or field-name, into ours.
func snake(name string) string {
	var b strings.Builder
	for i, c := range []byte(strings.TrimSpace(name)) {
		switch {
		case c >= 'A' && c <= 'Z':
			if i > 0 && name[i-1] >= 'a' && name[i-1] <= 'z' {
				b.WriteByte('_')
			}
			b.WriteByte(c + 'a' - 'A')
		case c == '-' || c == '.' || c == ' ':
			b.WriteByte('_')
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// reservedOwner says why no owner may have the name, or returns "".
func reservedOwner(name, state string) string {
	switch {
	case name == "state":
		return "state.lock in .freehold guards the state itself"
	case name == "view":
		return "view.schema.json describes the view"
	case name == "schema":
		return "the folder schema holds the generated schemas"
	case name == TestPackage(state):
		return "the folder " + name + " holds the generated test package"
	case name == "internal", name == "vendor", name == "testdata":
		return "a folder of that name means something else to Go"
	case deviceName(name):
		return "Windows has no file of that name"
	}
	return ""
}

// deviceName reports whether name is a device on Windows, with any extension;
// Go refuses import paths with such an element everywhere.
func deviceName(name string) bool {
	switch base, _, _ := strings.Cut(strings.ToLower(name), "."); base {
	case "con", "prn", "aux", "nul":
		return true
	default:
		return len(base) == 4 && (strings.HasPrefix(base, "com") || strings.HasPrefix(base, "lpt")) && base[3] >= '1' && base[3] <= '9'
	}
}

// badPackage says why the view package cannot have the name, which fits
// [schema.NameRule] otherwise, or returns "".
func badPackage(name string) string {
	switch {
	case token.IsKeyword(name):
		return "is a keyword of Go"
	case types.Universe.Lookup(name) != nil:
		return "is predeclared in Go, and code that imports the package would lose it"
	case name == "main":
		return "is a program to Go, which nothing can import"
	case name == "init":
		return "can only be a function in Go, so that no file can import it"
	case name == "documentation":
		return "is a package whose files Go ignores"
	case strings.HasSuffix(name, "_test"):
		return "is the package of a test to Go"
	case slices.Contains(generatedNames, name):
		return "is a name that generated code uses itself"
	}
	return ""
}

// otherPackage returns a name for the view package of a state whose own is bad.
func otherPackage(state string) string { return strings.TrimSuffix(state, "_test") + "state" }

// generatedNames are the packages that generated code imports and the names
// of its parameters and variables: where it imports the view package too, the
// two would hide each other.
var generatedNames = []string{
	"context", "decimal", "fmt", "jsontext", "reader", "schema", "sidecar", "statetest", "testing", "time",
	"ctx", "dir", "e", "elements", "err", "fn", "id", "key", "keys", "o", "settings", "t", "tx", "v", "w",
}

// WriterPackage returns the name of the generated package that writes the
// owner's sidecar. It stands in the folder internal/NAME below the owner's
// home, in the file NAME.go: the ending keeps every owner's name from being a
// keyword, and the file from being one for tests or for one system only.
func WriterPackage(owner string) string { return owner + "file" }

// TestPackage returns the name of the generated package that makes states and
// views of the state for tests.
func TestPackage(state string) string { return state + "test" }

// nearest returns the one of the words that word was most likely meant to be,
// or false if none is close.
func nearest(word string, words []string) (string, bool) {
	word = strings.ToLower(strings.TrimSpace(word))
	if len(word) > 64 {
		return "", false
	}
	best, least := "", 1+max(1, len(word)/3)
	for _, w := range words {
		if strings.HasPrefix(word, w) || len(word) > 2 && strings.HasPrefix(w, word) {
			return w, true // boolean, int64, timestamp
		}
		if d := distance(word, w); d < least {
			best, least = w, d
		}
	}
	return best, best != ""
}

// didYouMean ends a message about word: with the nearest of the words, or
// else with all of them, which are what.
func didYouMean(word, what string, words []string) string {
	if w, ok := nearest(word, words); ok {
		return "did you mean " + w + "?"
	}
	if len(words) == 1 {
		return "write " + words[0]
	}
	return what + " " + list(words, "and")
}

// distance counts the letters to insert, drop, replace or swap with their
// neighbour to turn a into b.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
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
