package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/cmd/freehold/internal/ownersfile"
	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/cmd/internal/verbs"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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
		return write(ctx, a, verb, spec, args)
	})
	if verb.Reads {
		a.Looks = true
		a.Place.Flags(cmd)
	} else {
		a.Flags(cmd)
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
func write(ctx context.Context, a *cli.Writing, verb *verbs.Verb, cmd *cobra.Command, args []string) error {
	call := &verbs.Call{
		Verb: verb, Args: args, Stdin: a.Stdin, Flags: map[string]string{},
		Open: a.Open, View: a.View, Declaration: a.Declaration,
		Warn: func(err error) { a.Say("warning", display.Line(a.WithRemedies(err, ""))) },
	}
	cmd.Flags().Visit(func(f *pflag.Flag) { call.Flags[f.Name] = f.Value.String() })
	if verb.Acts {
		pid, err := verbs.For(call.Flags)
		if err != nil {
			return err
		}
		a.For = pid
	}
	report, err := call.Run(ctx)
	if _, answered := errors.AsType[failure.Verdict](err); err != nil && !answered {
		if errors.Is(err, store.NoAncestor) {
			note := "name the process that this is for: in a script --for $$"
			if a.For == os.Getpid() {
				note = "leave --for out for the process that started the shell, or put a command behind this one"
			}
			return store.WithRemedy(err, store.Remedy{Note: note})
		}
		return notYet(call, err)
	}
	_, terminal := a.Terminal()
	text := report.Text(terminal)
	if verb.Reads {
		return a.Answer(report, text)
	}
	a.Report(report, text)
	return err
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
