package declare

import (
	_ "embed" // for the template
	"strings"
)

//go:embed template.yaml
var template string

// Template returns a first owners.yaml for the state: one owner, with comments
// that say how to go on. [Parse] finds no mistake in it unless state is no name
// for a state; a state whose name cannot be a package's gets a "package:".
func Template(state string) []byte {
	pkg := ""
	if badPackage(state) != "" {
		pkg = "\npackage: " + otherPackage(state) + " # " + state + " itself " + badPackage(state)
	}
	return []byte(strings.NewReplacer("SCHEMA", OwnersSchemaURL, "STATE", scalar(state), "\nPACKAGE", pkg).Replace(template))
}
