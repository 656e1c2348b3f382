package reader_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
)

// Programs use generated types; these are what those are made of.
func Example() {
	dir, err := os.MkdirTemp("", "state")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	d := &schema.Declaration{State: "runtime", Owners: map[string]schema.Owner{
		"cost":  {Fields: map[string]schema.Field{"turns": {Type: schema.TypeUint}}},
		"reset": {Fields: map[string]schema.Field{"cleared": {Type: schema.TypeBool}}},
	}}
	ctx := context.Background()
	w, err := sidecar.Open(ctx, dir, d, "cost", &sidecar.Options{Create: true, Program: "stop-hook"})
	if err != nil {
		log.Fatal(err)
	}
	defer w.Close()
	if _, err := w.Update(ctx, func(tx *sidecar.Tx) error {
		sidecar.ValueOf(tx, "turns", schema.Uint).Set(12)
		return nil
	}); err != nil {
		log.Fatal(err)
	}

	r, err := reader.OpenAs(dir, d)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	v, err := r.View(ctx)
	if err != nil {
		log.Fatal(err)
	}
	turns := reader.FieldOf(v, "turns", schema.Uint)
	n, err := turns.Get()
	by, _ := turns.Provenance()
	fmt.Println(n, err, by.Owner, by.Program)

	_, err = reader.FieldOf(v, "cleared", schema.Bool).Get()
	fmt.Println(errors.Is(err, reader.ErrUnset), err)
	// Output:
	// 12 <nil> cost stop-hook
	// true field cleared: unset: owner reset has not written it
}
