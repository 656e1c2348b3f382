package main

import (
	"context"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/spf13/cobra"
)

func newLease(c *cli) *cobra.Command {
	h := &holding{cli: c}
	var cmd *cobra.Command
	cmd = c.command(&cobra.Command{
		Use:   "lease OWNER [-- CMD...]",
		Short: "show who holds a lease, or hold it while a command runs",
		Long: `Show which process holds the lease of the exclusive owner OWNER: by the kernel's
lock, which alone counts, and by the record beside it; whether the two agree;
and the process that was retired lately. It takes no lock and disturbs nobody.

With -- CMD, take the lease, run CMD, and give the lease back when CMD ends. The
exit status is CMD's, or 128 and the signal's number if a signal ended it.
Signals are passed on to CMD, but those that a terminal sends to both. CMD
inherits no lock, so that its children hold nothing. If freehold is
killed, Linux kills CMD with it, though not CMD's own children; elsewhere CMD
goes on without the lease. Somebody else's lease is an error (5), at once or
after --wait. CMD holds no right to write from this: "freehold set" within it
finds the lease held.`,
		Example: `  freehold lease watchdog --json
  freehold lease watchdog --wait 1m -- ./watch.sh --every 5s`,
		Args: func(cmd *cobra.Command, args []string) error {
			if dash := cmd.ArgsLenAtDash(); dash == 1 {
				return operands(2, -1, "a CMD behind the --")(cmd, args)
			}
			return operands(1, 1, "an OWNER, and a CMD behind a -- if it is to run one")(cmd, args)
		},
	}, func(ctx context.Context, args []string) error {
		if cmd.ArgsLenAtDash() == 1 {
			return h.hold(ctx, args[0], args[1:])
		}
		return h.show(args[0])
	})
	h.flags(cmd)
	h.completes(cmd, completeExclusive)
	return cmd
}

// completeExclusive completes the one operand OWNER of a command about leases.
func completeExclusive(d *schema.Declaration, args []string) []string {
	if len(args) > 0 {
		return nil
	}
	var names []string
	for _, name := range d.OwnerNames() {
		if d.Owners[name].EffectiveMode() == schema.Exclusive {
			names = append(names, name)
		}
	}
	return names
}

// A holding is one call of lease.
type holding struct {
	*cli
	place
	program string
	wait    time.Duration
}

func (h *holding) flags(cmd *cobra.Command) {
	h.place.flags(cmd)
	cmd.Flags().StringVar(&h.program, "program", "", "the `NAME` of the holder in the record (default freehold)")
	cmd.Flags().DurationVar(&h.wait, "wait", 0, "wait at most `DURATION` while another process holds the lease")
}

func (h *holding) show(owner string) error {
	dir, err := h.find()
	if err != nil {
		return err
	}
	state, err := sidecar.LeaseStatus(dir, owner)
	if err != nil {
		return err
	}
	report := newLeaseReport(state)
	if h.json {
		return h.printJSON(report)
	}
	return h.print(report.text())
}
