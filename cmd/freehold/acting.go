package main

import (
	"context"

	"github.com/freehold-dev/freehold/sidecar"
	"github.com/spf13/cobra"
)

// An acting is one call of a command that acts as an owner.
type acting struct {
	*cli
	place
	hand
}

func (a *acting) flags(cmd *cobra.Command) {
	a.place.flags(cmd)
	a.hand.flags(cmd)
}

// prepare returns the state directory and how to act there.
func (a *acting) prepare() (dir string, o *sidecar.Options, err error) {
	if o, err = a.options(a.notice); err != nil {
		return "", nil, err
	}
	dir, err = a.find()
	return dir, o, err
}

// open opens the owner, going by the manifest alone. At a shut fence it waits as
// long as a program does, for good, unless the user said how long.
func (a *acting) open(ctx context.Context, owner string) (*sidecar.Writer, error) {
	dir, options, err := a.prepare()
	if err != nil {
		return nil, err
	}
	if a.waits.Changed {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, a.wait)
		defer cancel()
	}
	return sidecar.Open(ctx, dir, nil, owner, options)
}
