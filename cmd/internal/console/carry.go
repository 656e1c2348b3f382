package console

import (
	"context"
	"errors"
	"os"

	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/cmd/internal/verbs"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// Verb returns the call of a verb on the state of p, which acts as w says.
func (c *Console) Verb(verb *verbs.Verb, args []string, p *Place, w *Writing) *verbs.Call {
	return &verbs.Call{
		Verb: verb, Args: args, Stdin: c.Stdin, Flags: c.Given,
		Open: func(ctx context.Context, owner string) (*sidecar.Writer, error) {
			dir, options, err := w.Prepare(c, p)
			if err != nil {
				return nil, err
			}
			return sidecar.Open(ctx, dir, nil, owner, options)
		},
		View: p.View, Declaration: p.Declaration,
		Instance: func(id string) { p.ID.Set(id) },
		Warn:     func(err error) { c.Say("warning", display.Line(c.WithRemedies(err, ""))) },
	}
}

// Carry carries out a call and prints its answer.
func (c *Console) Carry(ctx context.Context, call *verbs.Call, w *Writing) error {
	if call.Verb.Acts {
		pid, err := verbs.For(call.Flags)
		if err != nil {
			return err
		}
		w.For = pid
	}
	report, err := call.Run(ctx)
	if _, answered := errors.AsType[failure.Verdict](err); err != nil && !answered {
		if errors.Is(err, store.NoAncestor) {
			note := "name the process that this is for: in a script --for $$"
			if w.For == os.Getpid() {
				note = "leave --for out for the process that started the shell, or put a command behind this one"
			}
			return store.WithRemedy(err, store.Remedy{Note: note})
		}
		if errors.Is(err, store.Busy) {
			return store.WithRemedy(err, store.Remedy{Note: "`--wait 5s` waits longer, `busy: {then: defer}` never loses it"})
		}
		return err
	}
	if c.Given["quiet"] == "true" {
		return err
	}
	_, terminal := c.Terminal()
	change, writes := report.(verbs.Change)
	switch {
	case call.Verb.Reads:
		return c.Answer(report, report.Text(terminal))
	case !writes || c.JSON || c.Given["verbose"] == "true":
		c.Report(report, report.Text(terminal))
	case terminal:
		c.Report(report, change.Line()+"\n")
	}
	if writes && !c.JSON && change.Deferred() != "" {
		c.Say("hint", change.Deferred())
	}
	return err
}
