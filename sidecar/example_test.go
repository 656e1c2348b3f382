package sidecar_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
)

// Generated writer packages are made of this: a commit is all or nothing, and
// says whether it changed anything.
func Example() {
	dir, err := os.MkdirTemp("", "state")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	d := &schema.Declaration{State: "agent", Owners: map[string]schema.Owner{
		"cost":  {Fields: map[string]schema.Field{"turns": {Type: schema.TypeUint, Kind: schema.Max}}},
		"reset": {Fields: map[string]schema.Field{"cleared": {Type: schema.TypeBool}}},
	}}
	ctx := context.Background()
	w, err := sidecar.Open(ctx, dir, d, "cost", &sidecar.Options{Create: true, Program: "stop-hook"})
	if err != nil {
		log.Fatal(err)
	}
	defer w.Close()
	for _, turns := range []uint64{12, 11} {
		commit, err := w.Update(ctx, func(tx *sidecar.Tx) error {
			sidecar.MaxOf(tx, "turns", schema.Uint).Raise(turns)
			return nil
		})
		fmt.Println(commit.Outcome, err)
	}

	_, err = w.Update(ctx, func(tx *sidecar.Tx) error {
		tx.Apply(sidecar.Op{Field: "cleared", Verb: schema.VerbSet, Value: []byte("true")})
		return nil
	})
	fmt.Println(errors.Is(err, sidecar.ErrNotOwner))
	// Output:
	// applied <nil>
	// unchanged <nil>
	// true
}
