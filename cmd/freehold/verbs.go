package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/cmd/freehold/internal/ownersfile"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/cmd/internal/verbs"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/spf13/cobra"
)

// newVerb returns the command of a verb of the table.
func newVerb(c *cli.Call, verb *verbs.Verb) *cobra.Command {
	a := &cli.Writing{Call: c}
	least, most := verb.Operands.Bounds()
	spec := &cobra.Command{
		Use:     verb.Name + " " + string(verb.Operands),
		Short:   verb.Short,
		Long:    verb.Long,
		Example: verb.Example,
		Args:    cli.Operands(least, most, string(verb.Operands)),
	}
	cmd := c.Command(spec, func(ctx context.Context, args []string) error {
		return write(ctx, a, verb, args)
	})
	if verb.Reads {
		a.Looks = true
		a.Place.Flags(cmd)
	} else {
		a.Flags(cmd)
	}
	cmd.Flags().BoolP("quiet", "q", false, "print errors alone")
	if !verb.Reads {
		cmd.Flags().Bool("verbose", false, "print the change also into a pipe")
	}
	for _, f := range verb.Flags {
		if f.Switch {
			cmd.Flags().Bool(f.Name, false, f.Usage)
		} else {
			cmd.Flags().String(f.Name, "", f.Usage)
		}
	}
	a.Completes(cmd, verb.Complete)
	return cmd
}

// write carries out one call of verb and prints its answer.
func write(ctx context.Context, a *cli.Writing, verb *verbs.Verb, args []string) error {
	call := a.Verb(verb, args, &a.Place.Place, &a.Writing)
	err := a.Carry(ctx, call, &a.Writing)
	if _, answered := errors.AsType[failure.Verdict](err); err == nil || answered {
		return err
	}
	return notYet(call, err)
}

// notYet completes the error of a call if an owners.yaml here declares a part that
// the state does not have yet.
func notYet(call *verbs.Call, err error) error {
	now, unread := call.Declaration()
	if unread != nil || call.Suits(now) {
		return err
	}
	source := ownersfile.Near(now.State)
	if source == nil || !call.Suits(source.Declaration) {
		return err
	}
	err = fmt.Errorf("%w; %s declares that, and the state does not yet", err, source.File)
	return store.WithRemedy(err, store.By("state upgrade", "--owners", source.File))
}
