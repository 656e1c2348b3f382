package cost

import (
	"context"
	"log"

	"m/cost/internal/costfile"
)

// Of what a verb is made, the error is as good as the verb's.
func update(ctx context.Context, w *costfile.Writer) error {
	_, err := w.Update(ctx, stamp)
	return err
}

func stamp(tx costfile.Tx) error { return nil }

func look(path string) error { return nil }

func parts(ctx context.Context, w *costfile.Writer) {
	update(ctx, w)                             // want `the error of cost.update is dropped`
	_ = update(ctx, w)                         // want `the error of cost.update is dropped`
	w.Update(ctx, func(tx costfile.Tx) error { // want `Update is dropped`
		stamp(tx) // want `the error of cost.stamp is dropped`
		return stamp(tx)
	})
	_ = look("x")
	if err := update(ctx, w); err != nil {
		log.Print(err)
	}
}

func declaredBefore(ctx context.Context, w *costfile.Writer) {
	var err error
	_, err = w.Update(ctx, stamp) // want `Update is dropped`
	_ = err
	var again error
	_, again = w.Update(ctx, stamp)
	log.Print(again)
}

var last error

func named(ctx context.Context, w *costfile.Writer, given error) (err error) {
	_, last = w.Update(ctx, stamp)
	_, given = w.Update(ctx, stamp) // want `Update is dropped`
	_, err = w.Update(ctx, stamp)
	return
}
