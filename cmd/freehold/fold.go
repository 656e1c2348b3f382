package main

import (
	"context"
	"fmt"
	"time"

	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/verbs"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/spf13/cobra"
)

func newFold(c *cli) *cobra.Command {
	r := &acting{cli: c}
	cmd := c.command(&cobra.Command{
		Use:   "fold OWNER",
		Short: "fold pending patches",
		Long: `Take the patches that could not wait for OWNER's lock into its sidecar now. Each
commit of OWNER does that too, and views show them anyway. However many there
are, fold goes on until all are in that were deferred before it began; with
--wait, no longer than that, and then folded patches stay folded. With nothing
to fold, the answer is "unchanged".`,
		Example: "  freehold fold tool",
		Args:    operands(1, 1, "an OWNER"),
	}, func(ctx context.Context, args []string) error {
		w, err := r.open(ctx, args[0])
		if err != nil {
			return err
		}
		defer w.Close()
		report, err := r.fold(ctx, w)
		if err != nil {
			return err
		}
		c.report(report, report.text())
		return nil
	})
	r.flags(cmd)
	r.completes(cmd, verbs.Operands("OWNER").Complete)
	return cmd
}

// fold folds the pending patches of w's owner, no longer than --wait if given.
func (a *acting) fold(ctx context.Context, w *sidecar.Writer) (foldReport, error) {
	limit := time.Duration(-1)
	if a.waits.Changed {
		limit = a.wait
	}
	commit, err := w.Fold(ctx, limit)
	return foldReport{w.Owner(), commit.Folded, commit.Version}, err
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
