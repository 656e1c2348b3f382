package declare

import (
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// reservedOwner says why no owner may have the name, or returns "".
func reservedOwner(name, state string) string {
	switch {
	case name == "view":
		return "view.schema.json describes the view"
	case name == "owners":
		return "owners.schema.json describes owners.yaml"
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

// otherPackage returns a name for the view package of a state with a bad name.
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
