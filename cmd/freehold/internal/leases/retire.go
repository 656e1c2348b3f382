package leases

import (
	"context"
	"errors"
	"time"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/cmd/internal/console"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/sidecar/retire"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/spf13/cobra"
)

func newRetire(c *cli.Call) *cobra.Command {
	r := &retirement{Call: c}
	cmd := c.Command(&cobra.Command{
		Use:   "retire OWNER --epoch N --pid N",
		Short: "end exactly the process that holds a lease",
		Long: `End the process PID that took OWNER's lease in the epoch N, both as "freehold lease
OWNER" showed them, and no other. The fence is shut first: a successor waits until
this is over. SIGTERM goes only to the process that is proved to hold the lease; with
--kill, SIGKILL follows after --grace. The proofs are listed.

0: it was asked to end and ended. 9: it was gone already, without a signal, or ended
in another way. 6: another process holds the lease, or nothing proves which; no signal
was sent. 5: it did not end in time. 4: it is never signalled: the first process, the
caller, an ancestor of the caller, or another user's.`,
		Example: `  freehold retire watchdog --epoch 1795987360622345 --pid 4242
  freehold retire watchdog --epoch 1795987360622345 --pid 4242 --grace 30s --kill --json`,
		Args: cli.Operands(1, 1, "an OWNER"),
	}, func(ctx context.Context, args []string) error { return r.run(ctx, args[0]) })
	r.Flags(cmd)
	flags := cmd.Flags()
	flags.Uint64Var(&r.epoch, "epoch", 0, "the epoch `N` that the process began")
	flags.IntVar(&r.pid, "pid", 0, "its process id `N`")
	flags.DurationVar(&r.options.Grace, "grace", 10*time.Second, "the `DURATION` that it may take to end")
	flags.BoolVar(&r.options.Kill, "kill", false, "kill it if it takes longer")
	flags.StringVar(&r.options.Program, "program", "", "the `NAME` of the program that retires it, for the record (default freehold)")
	cmd.MarkFlagRequired("epoch")
	cmd.MarkFlagRequired("pid")
	r.Completes(cmd, completeExclusive)
	return cmd
}

// A retirement is one call of retire.
type retirement struct {
	*cli.Call
	cli.Place
	epoch   uint64
	pid     int
	options retire.Options
}

func (r *retirement) run(ctx context.Context, owner string) error {
	if r.epoch == 0 || r.pid <= 0 || r.options.Grace <= 0 {
		return failure.Usage("--epoch %d, --pid %d and --grace %v must be positive: give other ones", r.epoch, r.pid, r.options.Grace)
	}
	if err := console.CheckProgram(r.options.Program); err != nil {
		return err
	}
	dir, err := r.Find()
	if err != nil {
		return err
	}
	prepared := &retire.Prepared{Dir: dir, Owner: owner}
	prepared.Epoch, prepared.Holder.Identity.PID = r.epoch, r.pid
	r.options.Notice = r.Notice
	result, err := prepared.Run(ctx, &r.options)
	if errors.Is(err, store.NotOwner) {
		return err
	}
	report := retireReport{Owner: owner, Outcome: result.Outcome, Prepared: *holderOf(prepared.Holding), Proofs: result.Proofs}
	if err != nil {
		report.Error = r.WithRemedies(err, dir)
	}
	if result.Current != nil {
		report.Current = holderOf(*result.Current)
	}
	r.Report(report, report.text())
	if err == nil && result.Outcome == retire.AlreadyGone {
		return failure.Verdict{Status: failure.ExitGone}
	}
	return err
}

// A retireReport is the report of retire, also when it failed.
type retireReport struct {
	Owner    string         `json:"owner"`
	Outcome  retire.Outcome `json:"outcome"`
	Prepared holder         `json:"prepared"`
	// Current holds the lease instead of the prepared process.
	Current *holder        `json:"current,omitempty"`
	Proofs  []retire.Proof `json:"proofs"`
	Error   string         `json:"error,omitempty"`
}

// A holder is a process and the epoch of its lease, zero if unknown.
type holder struct {
	PID     int    `json:"pid"`
	Epoch   uint64 `json:"epoch,omitzero"`
	Program string `json:"program,omitempty"`
}

func holderOf(h retire.Holding) *holder {
	return &holder{h.Holder.Identity.PID, h.Epoch, h.Holder.Program}
}

// text returns the report for people.
func (r retireReport) text() string {
	var t console.Text
	t.Line("%s %s: process %d of epoch %d", r.Owner, r.Outcome, r.Prepared.PID, r.Prepared.Epoch)
	for _, p := range r.Proofs {
		t.Line("  %s: %s", p.Code, p.Says)
	}
	return t.String()
}
