package cost

import (
	"context"
	"errors"
	"log"

	"github.com/freehold-dev/freehold/sidecar"

	"m/cost/internal/costfile"
)

type updater interface {
	Update(ctx context.Context, fn func(costfile.Tx) error) (sidecar.Commit, error)
}

func Pointer(ctx context.Context) (*Recorded, error) { return nil, nil }

func Begin(ctx context.Context, dir, session string, o *sidecar.Options) error { return nil }

func Closes(o *sidecar.Options) {}

func Ways(ctx context.Context, w *costfile.Writer, u updater, fn func(costfile.Tx) error) error {
	_, err := w.Update(ctx, fn) // want `Update is dropped`
	_ = err
	c, failed := u.Update(ctx, fn) // want `Update is dropped`
	_ = failed
	log.Print(c)
	update := w.Update
	update(ctx, fn)                                     // want `the error of update is dropped`
	u.Update(ctx, fn)                                   // want `Update is dropped`
	Pointer(ctx)                                        // want `the error of cost.Pointer is dropped`
	Begin(ctx, "", "", nil)                             // want `the error of cost.Begin is dropped`
	if c, _ := w.Update(ctx, fn); c.Version.Epoch > 0 { // want `Update is dropped`
		return nil
	}
	switch _, err := w.Update(ctx, fn); { // want `Update is dropped`
	default:
		_ = err
	}
	go func() error {
		w.Update(ctx, fn) // want `Update is dropped`
		return nil
	}()
	for range 3 {
		_, err := w.Update(ctx, fn) // want `Update is dropped`
		_ = err
	}
	each := []func(){func() { u.Update(ctx, fn) }} // want `Update is dropped`
	each[0]()
	return nil
}

func Handled(ctx context.Context, w *costfile.Writer, u updater, fn func(costfile.Tx) error) (err error) {
	_, err = w.Update(ctx, fn)
	_, again := w.Update(ctx, fn)
	_ = err
	errs := errors.Join(again, Begin(ctx, "", "", nil))
	report := func(c sidecar.Commit, err error) { log.Print(c, err) }
	report(u.Update(ctx, fn))
	results := make(chan error, 1)
	go func() { results <- Begin(ctx, "", "", nil) }()
	Closes(nil)
	defer func() {
		if _, err := w.Update(ctx, fn); err != nil {
			log.Print(err)
		}
	}()
	return errors.Join(errs, <-results)
}
