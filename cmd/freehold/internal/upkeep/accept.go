package upkeep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/cmd/internal/console"
	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/cmd/internal/verbs"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/repair"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// newMending completes a command that mends the sidecar of one owner.
func newMending(c *cli.Call, spec *cobra.Command, work func(ctx context.Context, w *cli.Writing, owner string) error) *cobra.Command {
	w := &cli.Writing{Call: c}
	spec.Args = cli.Operands(1, 1, "an OWNER")
	cmd := c.Command(spec, func(ctx context.Context, args []string) error { return work(ctx, w, args[0]) })
	w.Flags(cmd)
	w.Completes(cmd, verbs.Operands("OWNER").Complete)
	return cmd
}

func newAccept(c *cli.Call) *cobra.Command {
	return newMending(c, &cobra.Command{
		Use:   "accept OWNER",
		Short: "fold the edits of another hand into a sidecar",
		Long: `Take the sidecar of OWNER as another hand left it. Each value is checked against
the declaration, a copy of the file goes to .freehold/quarantine, and the sidecar
begins a new epoch. A sidecar that is gone becomes an empty one, and a once field
with a claim that is gone can be claimed again. A sidecar as Freehold left it stays:
the answer is "unchanged".`,
		Example: "  freehold accept reset",
	}, func(ctx context.Context, w *cli.Writing, owner string) error {
		dir, options, err := w.Prepare()
		if err != nil {
			return err
		}
		done, err := sidecar.Accept(ctx, dir, owner, options)
		if err != nil {
			return unacceptable(err)
		}
		noteDropped(c, done.Kept)
		word := "unchanged"
		if done.Outcome == sidecar.Applied {
			word = "accepted"
		}
		var text console.Text
		if done.Version.IsZero() {
			text.Line("%s %s, and never written", owner, word)
		} else {
			text.Line("%s %s at version %v", owner, word, done.Version)
		}
		for _, field := range done.Freed {
			text.Line("the claim of %s is gone: the field can be claimed again", field)
		}
		if done.Kept.Path != "" {
			text.Line("the file as it was is kept in %s", done.Kept.Path)
		}
		w.Report(acceptReport{owner, done.Outcome.String(), done.Outcome == sidecar.Applied, done.Version, done.Kept.Path, done.Freed, done.Kept.Dropped}, text.String())
		return nil
	})
}

type acceptReport struct {
	Owner   string            `json:"owner"`
	Outcome string            `json:"outcome"`
	Changed bool              `json:"changed"`
	Version sidecar.Version   `json:"version"`
	Kept    string            `json:"kept,omitempty"` // path of the former file
	Freed   []string          `json:"freed,omitempty"`
	Dropped []repair.KeptFile `json:"dropped,omitempty"`
}

// unacceptable classes an error of Accept: a bad value is the file's and not the
// caller's, and a missing file is an answer.
func unacceptable(err error) error {
	switch {
	case errors.Is(err, store.BadValue):
		return fmt.Errorf("%w: %w", store.Invalid, err)
	case errors.Is(err, fs.ErrNotExist) && !errors.Is(err, store.NoState) && !errors.Is(err, store.Lost):
		return failure.As(fmt.Errorf("there is no sidecar: %w: nothing to do", err), failure.Negative)
	}
	return err
}

func newQuarantine(c *cli.Call) *cobra.Command {
	return newMending(c, &cobra.Command{
		Use:   "quarantine OWNER",
		Short: "move a sidecar that cannot be used away",
		Long: `Move the file in the place of OWNER's sidecar, of any kind, to
.freehold/quarantine and print its new path. An empty sidecar of a new epoch takes
its place: the owner's fields are unset.

The quarantine keeps the first file of an owner, the last few, and the last one as
Freehold left it; each dropped file is named. It never drops a file of more than
1 MiB, or one that is not regular.`,
		Example: "  freehold quarantine reset",
	}, func(ctx context.Context, w *cli.Writing, owner string) error {
		dir, options, err := w.Prepare()
		if err != nil {
			return err
		}
		moved, err := sidecar.Quarantine(ctx, dir, owner, options)
		if err != nil {
			return unacceptable(err)
		}
		noteDropped(c, moved)
		text := c.Plainly(moved.Path) + "\n"
		if moved.Path == "" {
			text = owner + " had no sidecar, and begins empty\n"
		}
		w.Report(quarantineReport{owner, moved}, text)
		return nil
	})
}

type quarantineReport struct {
	Owner string `json:"owner"`
	repair.Quarantined
}

// noteDropped names the files that left the quarantine to make room.
func noteDropped(c *cli.Call, q repair.Quarantined) {
	for _, f := range q.Dropped {
		c.Say("hint", "dropped from the quarantine to make room: "+f.Path)
	}
}

func newFold(c *cli.Call) *cobra.Command {
	return newMending(c, &cobra.Command{
		Use:   "fold OWNER",
		Short: "fold pending patches",
		Long: `Fold the patches that were deferred while OWNER's lock was busy into its sidecar.
Each commit of OWNER does that too, and views show the patches anyway. After --wait
it stops, and folded patches stay folded. With nothing to fold, the answer is
"unchanged".`,
		Example: "  freehold fold tool",
	}, func(ctx context.Context, w *cli.Writing, owner string) error {
		writer, err := w.Open(ctx, owner)
		if err != nil {
			return err
		}
		defer writer.Close()
		limit := time.Duration(-1)
		if w.Wait.Given {
			limit = w.Wait.Time
		}
		commit, err := writer.Fold(ctx, limit)
		if err != nil {
			return err
		}
		r := foldReport{owner, commit.Folded, commit.Version}
		w.Report(r, r.text())
		return nil
	})
}

type foldReport struct {
	Owner   string          `json:"owner"`
	Folded  int             `json:"folded"`
	Version sidecar.Version `json:"version"`
}

func (r foldReport) text() string {
	switch {
	case r.Version.IsZero():
		return fmt.Sprintf("%s unchanged, and never written\n", r.Owner)
	case r.Folded == 0:
		return fmt.Sprintf("%s unchanged at version %v\n", r.Owner, r.Version)
	}
	return fmt.Sprintf("%s folded %s: version %v\n", r.Owner, display.Count(r.Folded, "patch", "patches"), r.Version)
}
