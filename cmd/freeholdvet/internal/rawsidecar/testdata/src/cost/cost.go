package cost

import (
	"context"

	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"

	"m/cost/internal/costfile"
)

func Wrong(ctx context.Context, dir string) error {
	w, err := sidecar.Open(ctx, dir, "reset", nil) // want `sidecar.Open writes past the owner's writer package: call that package below the owner's home, or a verb that the home exports`
	if err != nil {
		return err
	}
	defer w.Close()
	_, err = w.Update(ctx, func(tx *sidecar.Tx) error { // want `sidecar.Update writes`
		tx.Apply(sidecar.Op{Field: "turns"})        // want `sidecar.Apply writes`
		sidecar.ValueOf[uint64](tx, "turns").Set(1) // want `sidecar.ValueOf writes`
		return nil
	})
	accept := sidecar.Accept // want `sidecar.Accept writes`
	_, _ = accept(ctx, dir, "cost", nil)
	_, err = sidecar.Quarantine(ctx, dir, "cost", nil) // want `sidecar.Quarantine writes`
	if err := store.Create(dir); err != nil {          // want `store.Create writes`
		return err
	}
	d, err := store.Open(dir)
	if err != nil {
		return err
	}
	_, err = d.Quarantine("cost.json") // want `store.Quarantine writes`
	return err
}

func part(e sidecar.Entry) {
	sidecar.ValueIn[bool](e, "pinned").Set(true) // want `sidecar.ValueIn writes`
}

func Right(ctx context.Context, dir string) (sidecar.Commit, error) {
	dir, err := store.Find(dir)
	if err != nil {
		return sidecar.Commit{}, err
	}
	w, err := costfile.Open(ctx, dir, &sidecar.Options{Create: true})
	if err != nil {
		return sidecar.Commit{}, err
	}
	defer w.Close()
	c, err := w.Update(ctx, func(tx costfile.Tx) error {
		tx.Turns().Set(1)
		return nil
	})
	if err != nil {
		_, err = sidecar.Resolve(ctx, dir, "cost", c.Version)
	}
	return c, err
}

func Allowed(ctx context.Context, dir string) {
	sidecar.Accept(ctx, dir, "cost", nil) //freehold:allow rawsidecar an operator asked for it
}
