package main

import (
	"context"
	"errors"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/cmd/internal/verbs"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// newVerb returns the command of a verb of the table.
func newVerb(c *cli, verb *verbs.Verb) *cobra.Command {
	a := &acting{cli: c}
	least, most := verb.Operands.Bounds()
	spec := &cobra.Command{
		Use:         verb.Name + " " + string(verb.Operands),
		Short:       verb.Short,
		Long:        verb.Long,
		Example:     verb.Example,
		Args:        operands(least, most, string(verb.Operands)),
		Annotations: map[string]string{takesNumber: "yes"},
	}
	cmd := c.command(spec, func(ctx context.Context, args []string) error {
		return a.call(ctx, verb, spec, args)
	})
	a.place.flags(cmd)
	if !verb.Reads {
		a.hand.flags(cmd)
	}
	for _, f := range verb.Flags {
		if f.Switch {
			cmd.Flags().Bool(f.Name, false, f.Usage)
		} else {
			cmd.Flags().String(f.Name, "", f.Usage)
		}
	}
	a.completes(cmd, verb.Complete)
	return cmd
}

// call carries out one call of verb and prints its answer.
func (a *acting) call(ctx context.Context, verb *verbs.Verb, cmd *cobra.Command, args []string) error {
	call := &verbs.Call{
		Verb: verb, Args: args, Stdin: a.stdin, Flags: map[string]string{},
		Open: a.open, View: a.view, Declaration: a.declaration,
		Warn: func(text string) { a.say("warning", text) },
	}
	cmd.Flags().Visit(func(f *pflag.Flag) { call.Flags[f.Name] = f.Value.String() })
	report, err := call.Run(ctx)
	if _, answered := errors.AsType[failure.Verdict](err); err != nil && !answered {
		return err
	}
	_, terminal := a.terminal()
	text := report.Text(terminal)
	if verb.Reads {
		return a.answer(report, text)
	}
	a.report(report, text)
	return err
}
