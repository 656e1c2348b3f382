package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/statedir"
	"github.com/freehold-dev/freehold/sidecar/upgrade"
	"github.com/spf13/cobra"
)

func newStateUpgrade(c *cli) *cobra.Command {
	p, d, o := &place{}, &declared{cli: c}, &upgrade.Options{}
	cmd := c.command(&cobra.Command{
		Use:   "upgrade",
		Short: "bring a state up to a changed owners.yaml",
		Long: `Bring a state directory up to an owners.yaml that no longer only adds to what
the state was made from: that removes, renames ("was: old_name"), retypes, or
moves fields to another owner. The owners.yaml is the one in --owners, or else
the one that freehold gen would find. With --dry-run it says what would be done
and changes nothing: read that first.

Values go along with who wrote them. Where the type changes, every stored value
must convert exactly; else each that does not is named and nothing is changed
(exit status 64). A sidecar that is foreign, invalid, unreadable or regressed
refuses the upgrade (3). It takes every lock of the state: while an exclusive owner has a
live process, or something is set aside, which "freehold fold" takes in, it is
refused (5). Of each sidecar that it writes anew a copy is kept in
.freehold/quarantine.

Readers see the state as before or as after, never a mixture. Programs built
before the upgrade are refused from then on (4). An upgrade that was interrupted
is finished by the next one, which needs no owners.yaml for that, and until then
nobody commits.

Of a state with instances it upgrades all of them, each by itself, or the one in
--instance; with --json it prints an object a line. If some cannot be upgraded,
the others are, and running it again comes to those.`,
		Example: `  freehold state upgrade --dry-run
  freehold state upgrade --dir ./state --owners owners/runtime/owners.yaml`,
		Args: operands(0, 0, "no operands"),
	}, func(ctx context.Context, _ []string) error {
		if o.Wait <= 0 {
			return usage("--wait %s is no time to wait: give one above 0s", o.Wait)
		}
		source, err := d.one()
		dirs, missing := p.each()
		switch {
		case err != nil && !d.flag.Changed && missing == nil:
			if begun := interrupted(dirs); begun != nil {
				return c.upgradeAll(ctx, dirs, begun, o)
			}
			return err
		case err != nil:
			return err
		case missing != nil:
			return missing
		}
		return c.upgradeAll(ctx, dirs, source.Declaration, o)
	})
	p.flags(cmd)
	d.flags(cmd)
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "say what would be done, and change nothing")
	cmd.Flags().DurationVar(&o.Wait, "wait", upgrade.DefaultWait, "wait at most `DURATION` for each owner's commits")
	return cmd
}

// interrupted returns the declaration to which a state is being upgraded, which
// takes no owners.yaml to finish; nil if none is, or there are several.
func interrupted(dirs []string) *schema.Declaration {
	if len(dirs) != 1 {
		return nil
	}
	dir, err := statedir.Open(dirs[0])
	if err != nil {
		return nil
	}
	defer dir.Close()
	m, err := dir.Manifest()
	if err != nil || m.Pending == nil {
		return nil
	}
	return &m.Declaration
}

// upgradeAll upgrades one state after the other. One that cannot be upgraded
// keeps none of the others from it.
func (c *cli) upgradeAll(ctx context.Context, dirs []string, d *schema.Declaration, o *upgrade.Options) error {
	var errs []error
	for _, dir := range dirs {
		report, err := upgrade.Run(ctx, dir, d, o)
		switch {
		case err != nil && len(dirs) > 1 && errors.Is(err, sidecar.ErrNoState): // it was removed meanwhile
		case err != nil:
			errs = append(errs, err)
		default:
			if err := c.report(upgraded(report, o.DryRun), upgradeText(report, o.DryRun)); err != nil {
				return err
			}
		}
	}
	return errors.Join(errs...)
}

// An upgradeReport is what state upgrade prints.
type upgradeReport struct {
	State     string          `json:"state"`
	Dir       string          `json:"dir"`
	DryRun    bool            `json:"dry_run"`
	Resumed   bool            `json:"resumed"` // one that was interrupted was, or would be, finished
	Changes   []schema.Change `json:"changes"`
	Rewritten []string        `json:"rewritten"` // owners
	Kept      []upgradeKept   `json:"kept"`
}

type upgradeKept struct {
	Owner string `json:"owner"`
	Path  string `json:"path,omitzero"` // none in a dry run
}

func upgraded(r *upgrade.Report, dryRun bool) upgradeReport {
	report := upgradeReport{
		State: r.State, Dir: r.Dir, DryRun: dryRun, Resumed: r.Resumed,
		Changes: append([]schema.Change{}, r.Changes...), Rewritten: append([]string{}, r.Rewritten...), Kept: []upgradeKept{},
	}
	for _, k := range r.Kept {
		report.Kept = append(report.Kept, upgradeKept(k))
	}
	return report
}

// upgradeText returns the report for people: what changes, then where what was
// there before is.
func upgradeText(r *upgrade.Report, dryRun bool) string {
	var b strings.Builder
	would := func(done, planned string) string {
		if dryRun {
			return planned
		}
		return done
	}
	if r.Resumed {
		fmt.Fprintf(&b, "%s an upgrade that was interrupted\n", would("finished", "would first finish"))
	}
	switch {
	case len(r.Changes) > 0:
		fmt.Fprintf(&b, "%s the state %s in %s\n", would("upgraded", "would upgrade"), visible(r.State), visible(r.Dir))
	case !r.Resumed:
		fmt.Fprintf(&b, "nothing to upgrade: the state %s in %s is as declared\n", visible(r.State), visible(r.Dir))
	}
	for _, change := range r.Changes {
		fmt.Fprintf(&b, "  %s\n", visible(change.String()))
	}
	if len(r.Rewritten) > 0 {
		fmt.Fprintf(&b, "%s: %s\n", would("written anew", "would write anew"), strings.Join(r.Rewritten, ", "))
	}
	for _, k := range r.Kept {
		if dryRun {
			fmt.Fprintf(&b, "would keep %s.json as it is in .freehold/quarantine\n", k.Owner)
			continue
		}
		fmt.Fprintf(&b, "%s.json as it was: %s\n", k.Owner, visible(k.Path))
	}
	return b.String()
}
