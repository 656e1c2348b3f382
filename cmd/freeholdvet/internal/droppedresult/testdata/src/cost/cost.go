package cost

import (
	"context"
	"os"

	"github.com/freehold-dev/freehold/sidecar"

	"m/cost/internal/costfile"
)

type Recorded struct {
	sidecar.Commit
	Rows int
}

func Record(ctx context.Context, w *costfile.Writer) (Recorded, error) {
	c, err := w.Update(ctx, func(costfile.Tx) error { return nil })
	return Recorded{c, 1}, err
}

func Wrong(ctx context.Context, w *costfile.Writer, raw *sidecar.Writer, fn func(costfile.Tx) error) {
	w.Update(ctx, fn)                // want `the error of \*costfile.Writer.Update is dropped, and it alone tells whether anything was done: handle it`
	_, _ = w.Update(ctx, fn)         // want `Update is dropped`
	c, _ := (w.Update(ctx, fn))      // want `Update is dropped`
	var _, _ = w.Update(ctx, fn)     // want `Update is dropped`
	go w.Update(ctx, fn)             // want `Update is dropped`
	defer w.Update(ctx, fn)          // want `Update is dropped`
	raw.Update(ctx, nil)             // want `the error of \*sidecar.Writer.Update is dropped`
	sidecar.Accept(ctx, "", "", nil) // want `the error of sidecar.Accept is dropped`
	Record(ctx, w)                   // want `the error of cost.Record is dropped`
	record := Record
	record(ctx, w) // want `the error of record is dropped`
	go func() {
		_, _ = costfile.Open(ctx, "", nil) // want `the error of costfile.Open is dropped`
	}()
	_ = c
}

func Right(ctx context.Context, w *costfile.Writer, fn func(costfile.Tx) error) (sidecar.Commit, error) {
	defer w.Close()
	os.Remove("x")
	if _, err := w.Update(ctx, fn); err != nil {
		return sidecar.Commit{}, err
	}
	w.Update(ctx, fn) //freehold:allow droppedresult the next turn counts again
	return w.Update(ctx, fn)
}
