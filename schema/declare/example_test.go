package declare_test

import (
	"fmt"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/declare"
)

// Parse names all mistakes of a file at once.
func ExampleParse() {
	_, err := declare.Parse("owners.yaml", "owners/agent", []byte(`
state: agent
owners:
  cost:
    feilds: {}
    fields:
      total_usd: {type: float, kind: counter}
  reset:
    fields:
      total_usd: {type: decimal}
`))
	fmt.Println(err)
	// Output:
	// owners.yaml:5:5: unknown key "feilds" in owner cost: did you mean fields?
	// owners.yaml:7:38: field total_usd is a counter of type float, which does not sum exactly: use type decimal
	// owners.yaml:10:7: owner cost declares the field total_usd already, at owners.yaml:7:7: a field has one owner; remove or rename one of the two
}

// AddField keeps what stands in the file and writes in its style.
func ExampleAddField() {
	text, err := declare.AddField([]byte(`state: agent
owners:
  cost:
    fields:
      tokens: {type: uint} # of the last call

# Ask before you add an owner.
`), "cost", "total_usd", schema.Field{Type: schema.TypeDecimal, Kind: schema.Counter})
	fmt.Print(string(text), err)
	// Output:
	// state: agent
	// owners:
	//   cost:
	//     fields:
	//       tokens: {type: uint} # of the last call
	//       total_usd: {type: decimal, kind: counter}
	//
	// # Ask before you add an owner.
	// <nil>
}
