package main

import (
	"context"
	"fmt"
	"time"

	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/spf13/cobra"
)

func newHandoff(c *cli) *cobra.Command {
	h := &handing{cli: c}
	cmd := c.command(&cobra.Command{
		Use:   "handoff OWNER --to PID",
		Short: "pass a lease on to a process that waits for it",
		Long: `Ask the process that holds OWNER's lease through "freehold lease OWNER -- CMD" to
pass it on to the process PID, which waits for it, and to nobody else: to another
"freehold lease OWNER --wait DURATION -- CMD", or to a program that has opened the
owner. The holder asks its CMD to end (SIGTERM), hands the lease over when CMD
has ended, and exits. If CMD does not end within --grace, the holder keeps the
lease (5); if PID does not take it within --grace after that, it is free (5). A
program that holds the lease itself hands it over by itself, with
Handoff of package sidecar, and cannot be asked from outside (5).`,
		Example: "  freehold handoff watchdog --to 4242",
		Args:    operands(1, 1, "an OWNER"),
	}, func(ctx context.Context, args []string) error { return h.run(ctx, args[0]) })
	h.place.flags(cmd)
	cmd.Flags().IntVar(&h.to, "to", 0, "the process id `PID` of the successor")
	cmd.Flags().DurationVar(&h.grace, "grace", 10*time.Second, "the `DURATION` that CMD may take to end, and PID to take the lease")
	cmd.MarkFlagRequired("to")
	h.completes(cmd, completeExclusive)
	return cmd
}

// A handing is one call of handoff.
type handing struct {
	*cli
	place
	to    int
	grace time.Duration
}

type handoffReport struct {
	Owner string `json:"owner"`
	From  int    `json:"from"`
	To    int    `json:"to"`
}

// A handoffRequest is what a holder is asked.
type handoffRequest struct {
	to    store.Identity
	grace time.Duration
	reply func(error)
}

func (h *handing) run(ctx context.Context, owner string) error {
	if h.to <= 0 || h.grace <= 0 {
		return usage("--to %d and --grace %v must be positive: give other ones", h.to, h.grace)
	}
	dir, err := h.find()
	if err != nil {
		return err
	}
	state, err := sidecar.LeaseStatus(dir, owner)
	if err != nil {
		return err
	}
	to, err := store.IdentityOf(h.to)
	if err != nil {
		return err
	}
	if state.PID == 0 && state.Verdict == store.CannotJudge && state.Reason != "" {
		return fmt.Errorf("owner %s: %w: %s", owner, sidecar.ErrCannotJudge, state.Disagreement)
	}
	if state.PID == 0 {
		return fmt.Errorf("owner %s: %w that can be seen from here: start the successor, which takes the lease", owner, sidecar.ErrNoHolder)
	}
	if state.Lease == nil || state.Lease.Holder == nil || state.Disagreement != "" {
		return fmt.Errorf("owner %s: %w: process %d holds the lease, and the record does not say how to ask it: %s; see `freehold lease %s`", owner, sidecar.ErrCannotJudge, state.PID, state.Disagreement, owner)
	}
	if state.PID != h.to {
		if err := requestHandoff(ctx, owner, *state.Lease.Holder, to, h.grace); err != nil {
			return err
		}
	}
	return h.report(handoffReport{owner, state.PID, h.to}, fmt.Sprintf("%s is held by process %d\n", owner, h.to))
}
