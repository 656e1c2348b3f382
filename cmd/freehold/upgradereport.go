package main

import (
	"fmt"
	"strings"

	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/upgrade"
)

// An upgradeReport is what state upgrade prints.
type upgradeReport struct {
	State     string           `json:"state"`
	Dir       string           `json:"dir"`
	DryRun    bool             `json:"dry_run"`
	Refused   string           `json:"refused,omitzero"` // why what follows would not be done now, or was not
	Resumed   bool             `json:"resumed"`          // one that was interrupted was, or would be, finished
	Folded    []upgrade.Folded `json:"taken_in"`
	Changes   []schema.Change  `json:"changes"`
	Gone      []upgrade.Gone   `json:"gone"`      // what is stored and has no place any more
	Rewritten []string         `json:"rewritten"` // owners
	Kept      []upgradeKept    `json:"kept"`
}

type upgradeKept struct {
	Owner string `json:"owner"`
	Path  string `json:"path,omitzero"` // none in a dry run
}

func upgraded(r *upgrade.Report, dryRun bool, refused error) upgradeReport {
	report := upgradeReport{
		State: r.State, Dir: r.Dir, DryRun: dryRun, Resumed: r.Resumed, Folded: append([]upgrade.Folded{}, r.Folded...),
		Changes: append([]schema.Change{}, r.Changes...), Gone: append([]upgrade.Gone{}, r.Gone...), Rewritten: append([]string{}, r.Rewritten...), Kept: []upgradeKept{},
	}
	for _, k := range r.Kept {
		report.Kept = append(report.Kept, upgradeKept(k))
	}
	if refused != nil {
		report.Refused = failure.WithRemedies(refused)
	}
	return report
}

// upgradeText returns the report for people: what changes and what goes, then
// where what was there before is. Why it is refused stands in the error.
func upgradeText(r *upgrade.Report, dryRun bool, refused error) string {
	var b strings.Builder
	would := func(done, planned string) string {
		if dryRun {
			return planned
		}
		return done
	}
	if dryRun && refused != nil {
		b.WriteString("an upgrade would be refused now; once it is not, it does this:\n")
	}
	if r.Resumed {
		fmt.Fprintf(&b, "%s an upgrade of the state %s in %s that was interrupted\n", would("finished", "would first finish"), display.Escape(r.State), display.Escape(r.Dir))
	}
	for _, t := range r.Folded {
		fmt.Fprintf(&b, would("folded %s of %s that were deferred\n", "would fold %s of %s that are deferred\n"), display.Count(t.Patches, "patch", "patches"), t.Owner)
	}
	switch {
	case len(r.Changes) > 0:
		fmt.Fprintf(&b, "%s the state %s in %s\n", would("upgraded", "would upgrade"), display.Escape(r.State), display.Escape(r.Dir))
	case !r.Resumed:
		fmt.Fprintf(&b, "nothing to upgrade: the state %s in %s is as declared\n", display.Escape(r.State), display.Escape(r.Dir))
	}
	for _, change := range r.Changes {
		fmt.Fprintf(&b, "  %s\n", display.Escape(change.String()))
	}
	if len(r.Gone) > 0 {
		fmt.Fprintf(&b, "%s\n", would("of what was stored, this went:", "of what is stored, this would go:"))
	}
	for i, g := range r.Gone {
		if i == mostGone {
			fmt.Fprintf(&b, "  and %d more, which --json lists\n", len(r.Gone)-i)
			break
		}
		fmt.Fprintf(&b, "  %s: field %s: %s\n", display.Escape(g.File), display.Escape(g.Field+g.Part), goneText(g))
	}
	if len(r.Rewritten) > 0 {
		fmt.Fprintf(&b, "%s: %s\n", would("written anew", "would write anew"), strings.Join(r.Rewritten, ", "))
	}
	for _, k := range r.Kept {
		if dryRun {
			fmt.Fprintf(&b, "would keep %s.json as it is in .freehold/quarantine\n", k.Owner)
			continue
		}
		fmt.Fprintf(&b, "%s.json as it was: %s\n", k.Owner, display.Escape(k.Path))
	}
	return b.String()
}

// mostGone bounds how much of what goes a text lists.
const mostGone = 40

// goneText says what goes.
func goneText(g upgrade.Gone) string {
	switch {
	case g.Observed != "":
		return "what its writer had observed of " + display.Escape(g.Observed)
	case g.Claimed && g.Value == nil:
		return "claimed, nobody knows by whom; the claim stays and counts again if the field comes back"
	case g.Claimed:
		return "claimed at " + display.Value(g.Declared, g.Value) + "; the claim stays and counts again if the field comes back"
	}
	var what []string
	switch {
	case g.Keys > 0 && g.Part != "":
		what = append(what, "at "+display.Count(g.Keys, "key", "keys"))
	case g.Keys > 0:
		what = append(what, display.Count(g.Keys, "key", "keys"))
	case g.Value != nil && g.Declared.Type == "" && g.Declared.Kind == "": // not declared
		what = append(what, display.Clip(string(display.EscapeJSON(g.Value))))
	case g.Value != nil:
		what = append(what, display.Value(g.Declared, g.Value))
	}
	if g.Open > 0 {
		what = append(what, fmt.Sprintf("%d begun and not done", g.Open))
	}
	return display.Clip(strings.Join(what, ", "))
}
