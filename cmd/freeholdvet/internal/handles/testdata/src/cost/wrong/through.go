package wrong

import (
	"reflect"

	"m/cost/internal/costfile"
)

func peek(v any) reflect.Value { return reflect.ValueOf(v).Elem() }

func kind(name string, v any) string { return name + reflect.TypeOf(v).String() }

func inspect(v reflect.Value) {}

func through(tx costfile.Tx, many map[string]costfile.Tx, later chan *costfile.Tx, other struct{ N int }) {
	peek(&tx).Field(0) // want `reflect goes around the methods of costfile.Tx`
	peek(&other)
	kind("tx", tx) // the name of a type is no secret
	valueOf := reflect.ValueOf
	valueOf(&tx) // want `reflect goes around the methods of costfile.Tx`
	var some any = &tx
	reflect.ValueOf(some) // want `reflect goes around the methods of costfile.Tx`
	t := reflect.TypeOf(tx)
	reflect.New(t)         // want `reflect goes around the methods of costfile.Tx`
	reflect.ValueOf(many)  // want `reflect goes around the methods of costfile.Tx`
	reflect.ValueOf(later) // want `reflect goes around the methods of costfile.Tx`
	var harmless any = other
	reflect.ValueOf(harmless)
	inspect(reflect.ValueOf(map[string]int{}))
}
