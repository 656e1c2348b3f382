package main

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"slices"
	"syscall"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/cmd/internal/verbs"
	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/reader/explain"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newWatch(c *cli.Call) *cobra.Command {
	p := &cli.Place{}
	var owner string
	var flag *pflag.Flag
	cmd := c.Command(&cobra.Command{
		Use:   "watch [FIELD...]",
		Short: "print every change when it happens",
		Long: `Print the fields as they stand, and from then on every change: which field, to
what, whose it is, who wrote it and in which version. FIELD and --owner say which
fields; without them it is all. Changes that come within a hundredth of a second
are taken together, and the last state is never missed. An interrupt (Ctrl-C)
ends it, and so does the end of whoever reads the pipe that it writes into, on
Linux at once and elsewhere at the next change; the exit status is 0.

On a terminal it prints a line for each change. Into a pipe, or with --json, it
prints a line of JSON for each view that has any, the first at once:

  {"type": "view", "changes": [{"field", "key", "value", "owner", ...}], "view": ...}

where a change without "value" says that the field is unset, one with "key" is
about that key of a map, one without "field" is about the sidecar of the owner,
and "view" is the whole view, as view --json prints it. Lines with other types
have a "message": "error" says what is wrong, and the watch goes on; "polling"
that the system gives no notices of changes, so that it looks for them often
instead; "resync" that notices were lost, so that it has read everything again.

If the directory is moved or replaced, the watch ends with exit status 3: another
one in its place is another state.`,
		Example: `  freehold watch
  freehold watch turns --json | jq .view.fields.turns`,
	}, func(ctx context.Context, fields []string) error {
		dir, err := p.Find()
		if err != nil {
			return err
		}
		r, err := reader.Open(dir)
		if err != nil {
			return err
		}
		defer r.Close()
		view, err := r.View(ctx)
		if err != nil {
			return err
		}
		if err := (selection{view: view, owner: owner, flag: flag}).check(); err != nil {
			return err
		}
		w := &watching{Call: c, dir: view.Dir(), chosen: map[string]bool{}, owner: owner}
		if err := w.choose(view, fields); err != nil {
			return err
		}
		return w.run(ctx, r)
	})
	p.Flags(cmd)
	flag = ownerFlag(p, cmd, &owner)
	p.Completes(cmd, verbs.Operands("FIELD...").Complete)
	return cmd
}

// A watching is one call of watch under way.
type watching struct {
	*cli.Call
	dir    string          // of the state
	chosen map[string]bool // the fields; empty for all
	owner  string          // whose fields; empty for everybody's
	differ explain.Differ
	failed bool // the last thing said was an error
}

// choose takes the fields that the caller names.
func (w *watching) choose(view *reader.View, fields []string) error {
	for _, field := range fields {
		if _, _, err := verbs.Declared(view, field); err != nil {
			return err
		}
		if owners := view.Field(field).Owners(); w.owner != "" && !slices.Contains(owners, w.owner) { // of which there never is news
			return failure.Usage("field %s belongs to %s, and --owner says %s: leave one of them out", field, display.List(owners), w.owner)
		}
		w.chosen[field] = true
	}
	return nil
}

// The lines of JSON: one for each view, and one for each message.
type (
	viewLine struct {
		Type    string           `json:"type"`
		Changes []explain.Change `json:"changes"`
		View    record           `json:"view"`
	}
	messageLine struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	}
)

// run prints what the watch yields until it ends.
func (w *watching) run(ctx context.Context, r *reader.Reader) error {
	_, terminal := w.Terminal()
	w.JSON = w.JSON || !terminal
	signal.Ignore(syscall.SIGPIPE) // a reader that has enough is no failure
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	onceUnread(w.Stdout, stop)
	var last error
	for view, err := range r.Watch(ctx) {
		if last = err; err != nil {
			err = w.complainOf(err)
		} else {
			err = w.show(view)
		}
		if errors.Is(err, syscall.EPIPE) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	if ctx.Err() == nil {
		return last // the watch has ended by itself
	}
	return nil
}

// complainOf says what a watch yields in the place of a view. Into a pipe, all of
// it goes where the views go: a message elsewhere has no place among them.
func (w *watching) complainOf(err error) error {
	kind := "error"
	switch {
	case errors.Is(err, reader.ErrPolling):
		kind = "polling"
	case errors.Is(err, reader.ErrResync):
		kind = "resync"
	default:
		w.failed = true
	}
	switch {
	case w.JSON:
		return w.PrintJSON(messageLine{kind, w.WithRemedies(err, w.dir)})
	case kind != "error":
		w.Notice(err)
	case !errors.Is(err, store.Moved): // which ends the command with these words
		w.Complain(err)
	}
	return nil
}

// show prints what is new in a view.
func (w *watching) show(view *reader.View) error {
	first, again := !w.differ.Begun(), w.failed
	w.failed = false
	all := w.differ.Next(view, func(owner, field string) bool {
		return (w.owner == "" || w.owner == owner) && (len(w.chosen) == 0 || w.chosen[field])
	})
	switch {
	case len(all) == 0 && !first && !again:
		return nil
	case w.JSON:
		for i := range all {
			if all[i].Err != nil {
				all[i].Error = w.WithRemedies(all[i].Err, w.dir)
			}
		}
		return w.PrintJSON(viewLine{"view", all, record{w.Call, view}})
	}
	text := ""
	if first {
		text = fmt.Sprintf("state %s in %s, from %s cut %s; Ctrl-C ends it\n", display.Escape(view.State()), display.Escape(view.Dir()), view.Consistency(), view.ID())
	} else if again {
		text = "it can be read again\n"
	}
	for _, n := range all {
		if n.Err != nil {
			n.Error = w.WithRemedies(n.Err, "")
		}
		text += changeLine{n}.line()
	}
	return w.Styled(text)
}
