package main

import (
	"context"

	"github.com/freehold-dev/freehold/cmd/internal/verbs"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/spf13/cobra"
)

func newQuarantine(c *cli) *cobra.Command {
	r := &acting{cli: c}
	cmd := c.command(&cobra.Command{
		Use:   "quarantine OWNER",
		Short: "move a sidecar that cannot be used pending",
		Long: `Move the file in the place of OWNER's sidecar, of any kind, to
.freehold/quarantine, where nothing reads it, and print its new path. An empty
sidecar of a new epoch takes its place: the owner's fields are unset afterwards.

Of the files that once were the sidecar, the quarantine keeps the first, the
last few, and the last one that was as Freehold left it; the same bytes once.
What goes to make room for another is said. What is no plain file, or has more
than 1 MiB, is never removed.`,
		Example: "  freehold quarantine reset",
		Args:    operands(1, 1, "an OWNER"),
	}, func(ctx context.Context, args []string) error {
		dir, options, err := r.prepare()
		if err != nil {
			return err
		}
		pending, err := sidecar.Quarantine(ctx, dir, args[0], options)
		if err != nil {
			return unacceptable(err)
		}
		c.sayDropped(pending)
		c.report(quarantineReport{args[0], pending.Path, pending.Sum, kept(pending.Dropped)}, c.plainly(pending.Path)+"\n")
		return nil
	})
	r.flags(cmd)
	r.completes(cmd, verbs.Operands("OWNER").Complete)
	return cmd
}

type quarantineReport struct {
	Owner   string       `json:"owner"`
	Path    string       `json:"path"`
	Sum     string       `json:"sha256,omitempty"` // of the bytes, where they could be read
	Dropped []keptReport `json:"dropped,omitempty"`
}

type keptReport struct {
	Path string `json:"path"`
	Sum  string `json:"sha256"`
}

func kept(files []store.KeptFile) (reports []keptReport) {
	for _, f := range files {
		reports = append(reports, keptReport{f.Path, f.Sum})
	}
	return reports
}

// sayDropped says what went from the quarantine to make room.
func (c *cli) sayDropped(pending store.Quarantined) {
	for _, f := range pending.Dropped {
		c.hint("dropped from the quarantine to make room: " + f.Path)
	}
}
