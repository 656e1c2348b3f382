package sidecar

import (
	"context"
	"errors"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// OpenInstance is [Open] for the instance id of the state in dir. With
// o.Create it makes the instance if there is none, and dir too.
//
// While a Writer is open nobody removes its instance. If the instance is
// removed while OpenInstance looks at it, OpenInstance makes a new one with
// o.Create, and else returns an error that wraps [store.NoState] or
// [store.Moved]. It returns one that wraps [schema.ErrInstance] if id cannot be one.
func OpenInstance(ctx context.Context, dir, id string, d *schema.Declaration, owner string, o *Options) (*Writer, error) {
	if o == nil {
		o = &Options{}
	}
	for tries := 0; ; tries++ {
		w, err := openInstance(ctx, dir, id, d, owner, o)
		if tries < mostOpenings && o.Create && (errors.Is(err, store.Moved) || errors.Is(err, store.NoState)) {
			continue
		}
		return w, err
	}
}

// mostOpenings is how often OpenInstance begins again because the instance was
// removed in the moment that it was made. Who removes an instance only because
// it is old does so once in a long while.
const mostOpenings = 16

func openInstance(ctx context.Context, dir, id string, d *schema.Declaration, owner string, o *Options) (*Writer, error) {
	sd, err := statedir.OpenInstance(dir, id)
	if o.Create && d != nil && errors.Is(err, store.NoState) {
		// Another process may create it at the same moment: then it is there.
		if err := statedir.CreateInstance(dir, id, d); err != nil && !errors.Is(err, store.Exists) {
			return nil, advised(err)
		}
		sd, err = statedir.OpenInstance(dir, id)
	}
	if err != nil {
		return nil, advised(err)
	}
	return openIn(ctx, sd, d, owner, o)
}

// CreateInstance makes the instance id of the state in dir, declared by d, and
// dir too if it is missing. It returns an error that wraps [store.Exists]
// if it is there, and [schema.ErrInstance] if id cannot be one.
func CreateInstance(dir, id string, d *schema.Declaration) error {
	return advised(statedir.CreateInstance(dir, id, d))
}
