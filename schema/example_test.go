package schema_test

import (
	"errors"
	"fmt"

	"github.com/freehold-dev/freehold/schema"
)

// A program that declares more than a state knows adds to it; one that
// contradicts it is refused, with every contradiction.
func ExampleDeclaration_Merge() {
	manifest := &schema.Declaration{State: "agent", Owners: map[string]schema.Owner{
		"cost": {Fields: map[string]schema.Field{"turns": {Type: schema.TypeUint, Kind: schema.Counter}}},
	}}
	newer := &schema.Declaration{State: "agent", Owners: map[string]schema.Owner{
		"cost": {Fields: map[string]schema.Field{"total_usd": {Type: schema.TypeDecimal, Kind: schema.Counter}}},
	}}
	merged, more, err := manifest.Merge(newer)
	fmt.Println(merged.Owners["cost"].FieldNames(), more, err)

	other := &schema.Declaration{State: "agent", Owners: map[string]schema.Owner{
		"reset": {Fields: map[string]schema.Field{"turns": {Type: schema.TypeUint}}},
	}}
	_, _, err = manifest.Merge(other)
	fmt.Println(errors.Is(err, schema.ErrDeclaration))
	fmt.Println(err)
	// Output:
	// [total_usd turns] true <nil>
	// true
	// the declaration contradicts the state's manifest: field turns belongs to owner cost there and to reset here
}

// Text that a person types becomes the value that a sidecar holds, exactly, or
// is refused.
func ExampleField_Parse() {
	wait := schema.Field{Type: schema.TypeDuration}
	for _, text := range []string{"90s", "90"} {
		raw, err := wait.Parse(text)
		fmt.Println(string(raw), err)
	}
	// Output:
	// "1m30s" <nil>
	//  want a duration such as "1m30s", not "90"
}
