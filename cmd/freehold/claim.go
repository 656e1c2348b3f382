package main

import (
	"context"
	"fmt"

	"github.com/freehold-dev/freehold/schema"
	"github.com/spf13/cobra"
)

func newClaim(c *cli) *cobra.Command {
	a := &acting{cli: c}
	cmd := c.command(&cobra.Command{
		Use:   "claim OWNER FIELD",
		Short: "claim a once field, which one process ever wins",
		Long: `Claim a field of kind once, as its owner. Of all calls, in all processes and for
good, one wins: its exit status is 0, and the claim survives power loss. Whoever
comes later has lost; the exit status is 1, and the answer says to whom. A claim
stands also if its winner died. An owner that is not exclusive takes no lock for
it, so that nobody is waited for.

Any other status means that this call has not won: 7 if the claim could not be
written, as on a full disk, 3 if what stands in its place is no claim, 8 if it
was made and may not survive power loss.`,
		Example: "  freehold claim hook pretool_fired && echo only once",
		Args:    operands(2, 2, "an OWNER and a FIELD"),
	}, func(ctx context.Context, args []string) error { return a.claim(ctx, args[0], args[1]) })
	a.flags(cmd)
	a.completes(cmd, completeFields(schema.Once, ""))
	return cmd
}

// A claimReport is what claim prints.
type claimReport struct {
	Owner string `json:"owner"`
	Field string `json:"field"`
	Won   bool   `json:"won"`
	By    struct {
		Program string `json:"program"`
		PID     int    `json:"pid"`
		At      string `json:"at"`
		Claim   string `json:"claim"`
	} `json:"by"`
}

func (a *acting) claim(ctx context.Context, owner, field string) error {
	writer, err := a.openFor(ctx, owner, field, "claim")
	if err != nil {
		return err
	}
	defer writer.Close()
	won, by, err := writer.Claim(ctx, field)
	if err != nil {
		return err
	}
	r := claimReport{Owner: owner, Field: field, Won: won}
	r.By.Program, r.By.PID, r.By.At, r.By.Claim = by.Program, by.Identity.PID, exactly(by.At), by.ID
	if err := a.report(r, r.text()); err != nil || won {
		return err
	}
	return verdict{status: exitNegative}
}

func (r claimReport) text() string {
	if r.Won {
		return fmt.Sprintf("%s %s won at %s, claim %s\n", r.Owner, r.Field, r.By.At, r.By.Claim)
	}
	return fmt.Sprintf("%s %s lost to %s, process %d, at %s, claim %s\n", r.Owner, r.Field, visible(r.By.Program), r.By.PID, r.By.At, r.By.Claim)
}
