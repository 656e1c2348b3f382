package cost

import (
	"context"

	"m/cost/internal/costfile"
)

func Open(ctx context.Context, dir string) (*costfile.Writer, error) { // want `cost.Open mentions m/cost/internal/costfile, so importers of m/cost can come by its writer: export a function that does the writing instead`
	return costfile.Open(ctx, dir, nil)
}

type Bag struct {
	Writer *costfile.Writer // want `cost.Bag.Writer mentions`
	other  *costfile.Writer
}

//freehold:allow leak the hook of the old release calls it until June
func With(fn func(costfile.Tx) error) {}

func Record(ctx context.Context, dir string, n uint64) error {
	w, err := open(ctx, dir)
	if err != nil {
		return err
	}
	defer w.Close()
	_, err = w.Update(ctx, func(tx costfile.Tx) error {
		tx.Turns().Set(n)
		return nil
	})
	return err
}

func open(ctx context.Context, dir string) (*costfile.Writer, error) {
	return costfile.Open(ctx, dir, nil)
}
