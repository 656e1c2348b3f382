package screen

import (
	"context"
	"errors"
	"os/signal"
	"syscall"
	"time"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/cmd/internal/verbs"
	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/reader/explain"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"
)

func newWatch(c *cli.Call) *cobra.Command {
	p := cli.Looking()
	w := &watch{selection: *newSelection(c)}
	cmd := c.Command(&cobra.Command{
		Use:   "watch [FIELD...]",
		Short: "print every change when it happens",
		Long: `Print the fields, and from then on every change. FIELD and --owner select fields.
Changes within a hundredth of a second are joined, and the last state is never
missed. The watch ends, with exit status 0, on an interrupt (Ctrl-C), or when the
process that reads its output ends: on Linux at once, elsewhere at the next change.

On a terminal each change is a line: the time, the field, its old and new value, the
program, and the fields that the change makes stale. Into a pipe, or with --json,
each view with changes is a line of JSON, the first at once:

  {"type": "view", "changes": [{"field", "key", "value", "owner", ...}], "view": ...}

A change without "value" is a field that is unset, one with "key" is for that key of
a map, one without "field" is for the sidecar of the owner. With "cause" only the
freshness changed, by a change of that dependency: its are "changed_at", "program"
and "pid". "view" is the whole view, as view --json prints it. Lines of other types
have a "message": "error", and the watch goes on; "polling", if the system gives no
notices of changes and the watch looks for them often; "resync", if notices were
lost and the watch has read everything again.

If the directory is moved or replaced, the watch ends with exit status 3: a
directory in its place is another state.`,
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
		if w.View, err = r.View(ctx); err != nil {
			return err
		}
		if err := w.Choose(fields); err != nil {
			return err
		}
		return w.run(ctx, r)
	})
	p.Flags(cmd)
	w.flags(p, cmd)
	p.Completes(cmd, verbs.Operands("FIELD...").Complete)
	return cmd
}

// A watch is one call of the command. Its view is the last one.
type watch struct {
	selection
	differ explain.Differ
	failed bool // the last output was an error
	first  bool // nothing has been shown before
	widest widths
}

// The lines of JSON: one for each view, and one for each message.
type (
	viewLine struct {
		Type    string           `json:"type"`
		Changes []explain.Change `json:"changes"`
		View    jsontext.Value   `json:"view"`
	}
	messageLine struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	}
)

// run prints views and errors until the watch ends.
func (w *watch) run(ctx context.Context, r *reader.Reader) error {
	_, terminal := w.Terminal()
	w.JSON = w.JSON || !terminal
	signal.Ignore(syscall.SIGPIPE) // a reader that has enough is no failure
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	onceUnread(w.Stdout, stop)
	var last error
	for view, err := range r.Watch(ctx) {
		if last = err; err != nil {
			err = w.report(err)
		} else {
			w.View = view
			err = w.show()
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

// report prints an error of the watch. In JSON it is a line between the views.
func (w *watch) report(err error) error {
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
		return w.PrintJSON(messageLine{kind, w.WithRemedies(err, w.View.Dir())})
	case kind != "error":
		w.Notice(err)
	case !errors.Is(err, store.Moved): // which ends the command with these words
		w.Complain(err)
	}
	return nil
}

// show prints the changes in the last view.
func (w *watch) show() error {
	first, again := !w.differ.Begun(), w.failed
	w.first, w.failed = first, false
	all := w.differ.Next(w.View, w.Has)
	if len(all) == 0 && !first && !again {
		return nil
	}
	if w.JSON {
		for i := range all {
			if all[i].Err != nil {
				all[i].Error = w.WithRemedies(all[i].Err, w.View.Dir())
			}
		}
		view, err := w.Whole()
		if err != nil {
			return err
		}
		return w.PrintJSON(viewLine{"view", all, view})
	}
	text := ""
	if first {
		text = w.Prose(w.heading() + "; times are UTC; Ctrl-C ends the watch\n")
	} else if again {
		text = "the state can be read again\n"
	}
	return w.Styled(text + w.lines(all, time.Now().UTC()))
}
