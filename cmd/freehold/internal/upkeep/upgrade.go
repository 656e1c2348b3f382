package upkeep

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/cmd/freehold/internal/ownersfile"
	"github.com/freehold-dev/freehold/cmd/internal/console"
	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/freehold-dev/freehold/sidecar/upgrade"
)

func newStateUpgrade(c *cli.Call) *cobra.Command {
	u := &upgradeRun{Call: c}
	u.cmd = c.Command(&cobra.Command{
		Use:   "upgrade",
		Short: "bring a state up to a changed owners.yaml",
		Long: `Bring a state up to an owners.yaml that removes, renames ("was: old_name"), retypes
or moves fields: the one in --owners, or else the one that freehold gen would find.
Run it with --dry-run first: that lists the changes, the stored values that would
go, and the reason of a refusal, and changes nothing.

Values keep their provenance. If a value does not convert exactly to a new type, it
is named and nothing changes (64). Damaged sidecars refuse the upgrade (3), and so do
a live process of an exclusive owner and pending patches that cannot be folded (5).
Each rewritten sidecar has a copy in .freehold/quarantine. Readers see the state
before or after, never a mixture; programs built before are refused (4). The next
upgrade finishes an interrupted one, and without --owners does nothing else.

A state with instances is upgraded instance by instance, or the one in --instance;
--json prints an object a line. If some are refused, the others are upgraded.`,
		Example: `  freehold state upgrade --dry-run
  freehold state upgrade --dir ./state --owners owners/runtime/owners.yaml`,
		Args: cli.Operands(0, 0, "no operands"),
	}, func(ctx context.Context, _ []string) error { return u.run(ctx) })
	u.Place.Flags(u.cmd)
	u.owners.Add(u.cmd, ownersfile.Default)
	u.cmd.Flags().BoolVar(&u.options.DryRun, "dry-run", false, "print the plan, and change nothing")
	cli.AddWait(u.cmd, &u.wait, "wait at most `DURATION` for each owner's commits (default the longest that one of them declares)")
	return u.cmd
}

// An upgradeRun is one call of state upgrade.
type upgradeRun struct {
	*cli.Call
	cli.Place
	cmd     *cobra.Command
	owners  ownersfile.Flag
	wait    console.Wait
	options upgrade.Options
}

func (u *upgradeRun) run(ctx context.Context) (err error) {
	u.options.Notice = u.Notice
	if u.options.Wait, err = u.wait.Patience(); err != nil {
		return err
	}
	source, err := u.owners.Read()
	dirs, missing := u.Each()
	begun := u.begun(dirs)
	switch {
	case err != nil && (len(begun) == 0 || len(begun) < len(dirs)):
		return err
	case missing != nil:
		return missing
	}
	progress := u.Progress("upgrading")
	defer progress.End()
	t := tally{upgradeRun: u}
	for n, dir := range dirs {
		progress.At(n, len(dirs))
		to := begun[dir]
		if to == nil {
			to = source.Declaration
		}
		report, err := upgrade.Run(ctx, dir, to, &u.options)
		if err != nil && len(dirs) > 1 && errors.Is(err, store.NoState) {
			continue // the instance was removed meanwhile
		}
		t.add(report, err)
	}
	return t.end()
}

// begun returns, by directory, the declarations of interrupted upgrades, unless
// the caller names one. To finish an upgrade takes no owners.yaml, and one beside
// the caller may be the older build's, which would undo the upgrade right away.
func (u *upgradeRun) begun(dirs []string) map[string]*schema.Declaration {
	all := map[string]*schema.Declaration{}
	if u.owners.Given() {
		return all
	}
	for _, path := range dirs {
		if m, err := console.ManifestIn(path); err == nil && m.Pending != nil {
			all[path] = &m.Declaration
		}
	}
	return all
}

// An upgradeReport is the report of state upgrade.
type upgradeReport struct {
	DryRun  bool   `json:"dry_run"`
	Refused string `json:"refused,omitzero"` // the reason why nothing of this is done
	*upgrade.Report
}

func (u *upgradeRun) report(report *upgrade.Report, refused error) {
	r := upgradeReport{Report: report, DryRun: u.options.DryRun}
	if refused != nil {
		r.Refused = u.WithRemedies(refused, r.Dir)
	}
	u.Report(r, r.text())
}

// A tally counts the outcomes of many upgrades. For people it prints
// the reports of the first, and in the end a count.
type tally struct {
	*upgradeRun
	upgraded, unchanged int
	refused             []error
}

func (t *tally) add(report *upgrade.Report, err error) {
	switch {
	case err != nil:
		t.refused = append(t.refused, err)
	case report.Resumed || len(report.Changes) > 0:
		t.upgraded++
	default:
		t.unchanged++
	}
	if report != nil && (t.JSON || t.all() <= mostShown) {
		t.report(report, err)
	}
}

func (t *tally) all() int { return t.upgraded + t.unchanged + len(t.refused) }

// end prints the count of many states, and returns the errors, as many as are shown.
func (t *tally) end() error {
	if t.all() > mostShown && !t.JSON {
		did := "upgraded"
		if t.options.DryRun {
			did = "would be upgraded"
		}
		t.Report(nil, fmt.Sprintf("%d instances: %d %s, %d as declared, %d refused\n", t.all(), t.upgraded, did, t.unchanged, len(t.refused)))
	}
	errs := t.refused
	if more := len(errs) - mostShown; more > 0 {
		errs = append(errs[:mostShown:mostShown], store.WithRemedy(fmt.Errorf("%d more instances were refused", more), store.Remedy{Note: "--json lists them"}))
	}
	return errors.Join(errs...)
}

// text returns the report for people: the changes and losses, then the copies of
// the former sidecars. The error has the reason of a refusal.
func (r upgradeReport) text() string {
	var t console.Text
	did := func(done, planned string) string {
		if r.DryRun {
			return planned
		}
		return done
	}
	if r.DryRun && r.Refused != "" {
		t.Line("an upgrade would be refused now; once it is not, it does this:")
	}
	if r.Resumed {
		t.Line("%s an upgrade of the state %s in %s that was interrupted", did("finished", "would first finish"), r.State, r.Dir)
	}
	for _, f := range r.Folded {
		t.Line("%s %s of %s", did("folded", "would fold"), display.Count(f.Patches, "pending patch", "pending patches"), f.Owner)
	}
	switch {
	case len(r.Changes) > 0:
		t.Line("%s the state %s in %s", did("upgraded", "would upgrade"), r.State, r.Dir)
	case !r.Resumed:
		t.Line("nothing to upgrade: the state %s in %s is as declared", r.State, r.Dir)
	}
	for _, change := range r.Changes {
		t.Line("  %s", change)
	}
	if len(r.Gone) > 0 {
		t.Line("%s", did("these stored values went:", "these stored values would go:"))
	}
	var lines []string
	for _, g := range r.Gone {
		lines = append(lines, fmt.Sprintf("%s: field %s%s: %s", g.File, g.Field, g.Part, goneText(g)))
	}
	t.List("  ", lines)
	if len(r.Rewritten) > 0 {
		t.Line("%s: %s", did("written anew", "would write anew"), strings.Join(r.Rewritten, ", "))
	}
	for _, k := range r.Kept {
		if r.DryRun {
			t.Line("would keep %s.json as it is in .freehold/quarantine", k.Owner)
		} else {
			t.Line("%s.json as it was: %s", k.Owner, k.Path)
		}
	}
	return t.String()
}

// goneText describes a stored value without a place.
func goneText(g upgrade.Gone) string {
	const stays = "; the claim stays and counts again if the field comes back"
	switch {
	case g.Observed != "":
		return "the observed version of " + g.Observed
	case g.Claimed && g.Value == nil:
		return "claimed by an unknown process" + stays
	case g.Claimed:
		return "claimed at " + display.Value(g.Declared, g.Value) + stays
	}
	var parts []string
	switch {
	case g.Keys > 0 && g.Part != "":
		parts = append(parts, "at "+display.Count(g.Keys, "key", "keys"))
	case g.Keys > 0:
		parts = append(parts, display.Count(g.Keys, "key", "keys"))
	case g.Value != nil && g.Declared.Type == "" && g.Declared.Kind == "": // not declared
		parts = append(parts, display.Clip(string(display.EscapeJSON(g.Value))))
	case g.Value != nil:
		parts = append(parts, display.Value(g.Declared, g.Value))
	}
	if g.Open > 0 {
		parts = append(parts, fmt.Sprintf("%d begun and not done", g.Open))
	}
	if g.Successor != "" {
		parts = append(parts, "not taken over, since "+g.Successor+" was written already")
	}
	return display.Clip(strings.Join(parts, ", "))
}
