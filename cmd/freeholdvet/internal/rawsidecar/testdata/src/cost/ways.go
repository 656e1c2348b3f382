package cost

import (
	"context"

	raw "github.com/freehold-dev/freehold/sidecar"
	. "github.com/freehold-dev/freehold/sidecar/store"

	"m/cost/internal/costfile"
)

var open = raw.Open // want `sidecar.Open writes`

type mine struct{ *raw.Writer }

type updater interface {
	Update(context.Context, func(*raw.Tx) error) (raw.Commit, error)
}

func Ways(ctx context.Context, dir string, m mine, u updater) {
	m.Update(ctx, nil)        // want `sidecar.Update writes`
	update := m.Writer.Update // want `sidecar.Update writes`
	_, _ = update(ctx, nil)
	(*raw.Writer).Update(m.Writer, ctx, nil) // want `sidecar.Update writes`
	each(dir, Create)                        // want `store.Create writes`
	set := raw.ValueOf[uint64]               // want `sidecar.ValueOf writes`
	_ = set
	_, _ = open(ctx, dir, "cost", nil)
	u.Update(ctx, nil) // whose it is, whoever made it was told
}

func each(dir string, fn func(string) error) {}

func Harmless(ctx context.Context, w *costfile.Writer, c raw.Commit, o *raw.Options) raw.Version {
	defer w.Close()
	o.Create = true
	_, _ = Find(".")
	return c.Version
}
