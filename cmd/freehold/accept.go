package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/cmd/internal/verbs"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/spf13/cobra"
)

func newAccept(c *cli) *cobra.Command {
	r := &acting{cli: c}
	cmd := c.command(&cobra.Command{
		Use:   "accept OWNER",
		Short: "fold the edits of another hand into a sidecar",
		Long: `Take the sidecar of OWNER as some other hand left it. Every value is checked
against the declaration, a copy of the file goes to .freehold/quarantine, the
file is stamped anew and a new epoch begins. Where the sidecar is gone that another
owner's program has observed, an empty one begins the epoch. A sidecar that is as
Freehold left it stays untouched: the answer is "unchanged".`,
		Example: "  freehold accept reset",
		Args:    operands(1, 1, "an OWNER"),
	}, func(ctx context.Context, args []string) error {
		dir, options, err := r.prepare()
		if err != nil {
			return err
		}
		done, err := sidecar.Accept(ctx, dir, args[0], options)
		if err != nil {
			return unacceptable(err)
		}
		c.sayDropped(done.Kept)
		report := acceptReport{args[0], done.Outcome.String(), done.Outcome == sidecar.Applied, done.Version, done.Kept.Path, kept(done.Kept.Dropped)}
		text := fmt.Sprintf("%s %s at version %v\n", args[0], accepted(done.Outcome), done.Version)
		if done.Kept.Path != "" {
			text += "the file as it was is kept in " + display.Escape(done.Kept.Path) + "\n"
		}
		c.report(report, text)
		return nil
	})
	r.flags(cmd)
	r.completes(cmd, verbs.Operands("OWNER").Complete)
	return cmd
}

type acceptReport struct {
	Owner   string          `json:"owner"`
	Outcome string          `json:"outcome"`
	Changed bool            `json:"changed"`
	Version sidecar.Version `json:"version"`
	Kept    string          `json:"kept,omitempty"` // where the file is as it was
	Dropped []keptReport    `json:"dropped,omitempty"`
}

func accepted(o sidecar.Outcome) string {
	if o == sidecar.Applied {
		return "accepted"
	}
	return "unchanged"
}

// unacceptable gives the errors of Accept the meaning that they have here: a
// bad value is the file's and not the caller's, and a file that is missing is
// an answer.
func unacceptable(err error) error {
	switch {
	case errors.Is(err, sidecar.ErrValue):
		return fmt.Errorf("%w: %w", sidecar.ErrInvalid, err)
	case errors.Is(err, fs.ErrNotExist) && !errors.Is(err, sidecar.ErrNoState) && !errors.Is(err, sidecar.ErrLock):
		return failure.As(fmt.Errorf("there is no sidecar: %w: nothing to do", err), failure.Negative)
	}
	return err
}
