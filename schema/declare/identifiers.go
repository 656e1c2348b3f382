package declare

import (
	"fmt"
	"strings"
)

// An identifier is a name in a generated package, with what gave it.
type identifier struct {
	name string
	what string // "field total_usd", "the generated method Raw"
	at   place  // zero if the generator itself gave it
	fix  string // how its user gives it another name
}

// A scope is where identifiers must differ: a package, or a type's methods.
type scope map[string]identifier

// The names that generated code has, whatever is declared. Raw leads from the
// typed view to everything else that a view knows.
var (
	viewPackage = []string{"Declaration", "Open", "Reader", "View"}
	testPackage = []string{"Setting", "State", "View"}
	viewMethods = []string{"Raw"}
	txMethods   = []string{"IfVersion", "Version"}
)

// vetMethods are the methods that go vet wants in one form only, which is not
// that of an accessor.
var vetMethods = []string{
	"GobDecode", "GobEncode", "MarshalJSON", "MarshalXML", "ReadByte", "ReadRune",
	"UnmarshalJSON", "UnmarshalXML", "UnreadByte", "UnreadRune", "WriteByte",
}

// add adds generated names to s; what says of each what it is.
func (s scope) add(what string, names []string) scope {
	for _, name := range names {
		s[name] = identifier{name: name, what: fmt.Sprintf(what, name)}
	}
	return s
}

// checkIdentifiers reports declared names that become one Go identifier where
// both would be in one scope. All names are final here: what clashes is
// decided after initialisms and "go:" have had their say.
func (f *fileReader) checkIdentifiers() {
	const vet = "the method %s that go vet wants in another form"
	view := scope{}.add("the method View.%s of the generated view", viewMethods).add(vet, vetMethods)
	test := scope{}.add("%s in the generated test package", testPackage)
	pkg := scope{}.add("%s in the generated view package", viewPackage)
	for _, o := range f.owners {
		tx := scope{}.add("the method Tx.%s of the generated writer", txMethods).add(vet, vetMethods)
		for _, field := range o.fields {
			goName := GoName(field.name, field.field)
			id := identifier{goName, "field " + field.name, field.goAt, `give one of them another name with "go:"`}
			if f.claim(id, view, tx, test) && f.claim(id.as("Field"+goName, "the constant of field "+field.name), pkg) {
				f.claimEnum(field, id, pkg)
			}
		}
	}
}

func (id identifier) as(name, what string) identifier {
	id.name, id.what = name, what
	return id
}

// claimEnum adds what an enum declares in the view package.
func (f *fileReader) claimEnum(field fieldEntry, id identifier, pkg scope) {
	if len(field.field.Values) == 0 {
		return
	}
	if !f.claim(id.as(id.name, "the type of field "+field.name), pkg) ||
		!f.claim(id.as("Parse"+id.name, "the parser of field "+field.name), pkg) {
		return
	}
	for i, value := range field.field.Values {
		f.claim(identifier{
			GoValueName(field.name, field.field, value),
			"the value " + value + " of field " + field.name, field.values[i],
			"spell one of them differently",
		}, pkg)
	}
}

// claim adds id to the scopes, or reports the first in which its name is
// taken. Where fields clash in many, one problem is enough.
func (f *fileReader) claim(id identifier, scopes ...scope) bool {
	for _, s := range scopes {
		other, ok := s[id.name]
		switch {
		case !ok:
			continue
		case other.at == place{}:
			f.report(id.at, "%s becomes %s in Go, which is %s: %s", id.what, id.name, other.what, strings.Replace(id.fix, "one of them", "it", 1))
		default:
			f.report(id.at, "%s becomes %s in Go, and so does %s at %s: %s", id.what, id.name, other.what, f.cite(other.at), id.fix)
		}
		return false
	}
	for _, s := range scopes {
		s[id.name] = id
	}
	return true
}
