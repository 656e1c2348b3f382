package main

import (
	"context"
	"fmt"

	"github.com/freehold-dev/freehold/reader/explain"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/spf13/cobra"
)

func newBegin(c *cli) *cobra.Command {
	a := &acting{cli: c}
	cmd := c.command(&cobra.Command{
		Use:   "begin OWNER FIELD",
		Short: "say that an event is about to take place",
		Long: `Begin an event, as its owner, before it has its effect, and print a token. Give
that to done when the effect is there. In between, and for good if nobody says
done, readers take what depends on the event for ambiguous: nobody can tell
whether it took place. Events may overlap; each token ends its own.`,
		Example: `  token=$(freehold begin reset last_context_reset_at)
  freehold done reset last_context_reset_at "$token"`,
		Args: operands(2, 2, "an OWNER and a FIELD"),
	}, func(ctx context.Context, args []string) error {
		return a.with(ctx, args[0], args[1], "begin", func(e sidecar.Event) error {
			token, err := e.Begin(ctx)
			if err != nil {
				return err
			}
			return a.report(begunReport{args[0], args[1], token}, token.String()+"\n")
		})
	})
	a.flags(cmd)
	a.completes(cmd, completeFields(schema.Event, ""))
	return cmd
}

func newDone(c *cli) *cobra.Command {
	a := &acting{cli: c}
	var abandon bool
	cmd := c.command(&cobra.Command{
		Use:   "done OWNER FIELD TOKEN",
		Short: "say that an event took place, or was abandoned",
		Long: `End what began under TOKEN, as its owner: the event had its effect, and the
field's value becomes the time of this call. With --abandon nobody claims that:
the value stays, and since the effect may be there all the same, that is a
change of the field too. explain names the tokens of what is open. A TOKEN under
which nothing is open ends nothing: the exit status is 4.`,
		Example: `  freehold done reset last_context_reset_at "$token"
  freehold done reset last_context_reset_at "$token" --abandon`,
		Args: operands(3, 3, "an OWNER, a FIELD and a TOKEN"),
	}, func(ctx context.Context, args []string) error {
		var token sidecar.EventToken
		if err := token.UnmarshalText([]byte(args[2])); err != nil {
			return err
		}
		return a.with(ctx, args[0], args[1], "done", func(e sidecar.Event) error {
			end, did := e.Done, "done"
			if abandon {
				end, did = e.Abandon, "abandoned"
			}
			commit, err := end(ctx, token)
			if err != nil {
				return err
			}
			return a.report(endedReport{args[0], args[1], did, commit.Version}, fmt.Sprintf("%s %s %s in version %v\n", args[0], args[1], did, commit.Version))
		})
	})
	a.flags(cmd)
	cmd.Flags().BoolVar(&abandon, "abandon", false, "close it without saying that it took place")
	a.completes(cmd, completeFields(schema.Event, ""))
	return cmd
}

// A begunReport is what begin prints, and an endedReport what done does.
type begunReport struct {
	Owner string             `json:"owner"`
	Field string             `json:"field"`
	Token sidecar.EventToken `json:"token"`
}

type endedReport struct {
	Owner   string          `json:"owner"`
	Field   string          `json:"field"`
	Did     string          `json:"did"`
	Version sidecar.Version `json:"version"`
}

// with calls do with the event field of owner.
func (a *acting) with(ctx context.Context, owner, field, verb string, do func(sidecar.Event) error) error {
	writer, err := a.openFor(ctx, owner, field, verb)
	if err != nil {
		return err
	}
	defer writer.Close()
	return do(sidecar.EventOf(writer, field))
}

// begun says what of an event is open, and how to end it.
func (t *sentences) begun(owner, field string, open []explain.Opening) {
	for _, o := range open {
		t.say("It began at %s: %s, process %d, and is not done: `freehold done %s %s %s` ends it, with --abandon if it failed or nobody knows.",
			o.BegunAt, visible(o.Program), o.PID, owner, field, o.Token)
	}
}
