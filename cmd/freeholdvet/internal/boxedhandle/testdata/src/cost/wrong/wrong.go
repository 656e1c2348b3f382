package wrong

import (
	"context"
	"fmt"
	"io"

	"github.com/freehold-dev/freehold/sidecar"

	"m/cost/internal/costfile"
)

func each(v any) {}

func close(c io.Closer) {}

func later(fn func() error) {}

func generic[T any](v T) {}

type server struct{ w *costfile.Writer } // keeps it

func (s *server) Serve() error { _, err := s.w.Update(nil, nil); return err }

type open struct{ W *costfile.Writer }

type teller struct{ tx costfile.Tx }

func (t teller) Tx() costfile.Tx { return t.tx }

func give(ctx context.Context, w *costfile.Writer, tx costfile.Tx, v sidecar.Value[bool], c sidecar.Commit) any {
	each(tx)                                  // want `costfile.Tx goes into an interface, any, and can be taken out again: pass a function that does the writing`
	close(w)                                  // want `costfile.Writer goes into an interface, io.Closer`
	_ = map[string]any{"open": costfile.Open} // want `costfile.Writer goes into an interface, any`
	_ = context.WithValue(ctx, "k", []any{v}) // want `sidecar.Value goes into an interface, any`
	each(open{w})                             // want `costfile.Writer goes into an interface, any`
	each(teller{tx})                          // want `costfile.Tx goes into an interface, any`
	each(map[string]*costfile.Writer{"w": w}) // want `costfile.Writer goes into an interface, any`
	later(w.Close)
	each(&server{w})
	each(func(tx costfile.Tx) error { return nil })
	fmt.Println(c.Version)
	generic(tx)
	return w // want `costfile.Writer goes into an interface, any`
}

func take(v any) {
	v.(interface{ Turns() sidecar.Value[uint64] }).Turns() // want `this takes sidecar.Value out of an interface: call a verb that the owner's home exports`
	_, _ = v.(io.Closer)
	_, _ = v.(costfile.Tx) // want `this takes costfile.Tx out`
}
