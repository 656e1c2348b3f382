package main

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/prune"
	"github.com/spf13/cobra"
)

func newPrune(c *cli) *cobra.Command {
	p := &pruneCall{cli: c}
	cmd := c.command(&cobra.Command{
		Use:   "prune [--older-than AGE]",
		Short: "remove ended instances, and leftovers of killed writers",
		Long: `Remove the instances of a state that nobody has written for AGE (7d, 36h) and that
no process has open, and leftovers of killed writers in those that live on; of a
state without instances, only that. A directory is renamed away before it is
deleted, so that an instance is there as a whole or gone; the next
prune finishes the work of a killed one.

An instance is kept if a process has it open or holds one of its locks, if it is
younger, if its newest date is later than now, if something in it is not
Freehold's, and if it cannot be read. All that was kept is counted by its reason,
and named if time alone does not mend it: then the exit status is 1. With --json
everything is listed, an object on a line. If something could not be removed, the
exit status is 7.

A dry run takes the same decisions. Age is that of the newest file, commit, claim
and pending patch in an instance. If the clock was set forward, commits,
claims and patches since the machine started are dated by a clock that nobody
sets.`,
		Example: `  freehold prune --older-than 7d --dry-run
  freehold prune --older-than 36h --dir ./sessions --json`,
		Args: operands(0, 0, "no operands"),
	}, func(ctx context.Context, _ []string) error { return p.run(ctx) })
	p.place.flags(cmd)
	cmd.Flags().StringVar(&p.older, "older-than", "", "remove instances that nobody has written for `AGE`: 7d, 36h (default none)")
	cmd.Flags().BoolVar(&p.dryRun, "dry-run", false, "print the plan, and remove nothing")
	p.given = func() bool { return cmd.Flags().Changed("older-than") }
	return cmd
}

// A pruneCall is one call of prune.
type pruneCall struct {
	*cli
	place
	older  string
	given  func() bool
	dryRun bool
}

func (p *pruneCall) run(ctx context.Context) error {
	o := &prune.Options{DryRun: p.dryRun, Instance: p.instance}
	if p.given() {
		age, err := parseAge(p.older)
		if err != nil {
			return err
		}
		o.OlderThan = max(age, 1) // zero is no age to the library
	}
	if p.chosen.Changed {
		if err := schema.CheckInstanceID(p.instance); err != nil {
			return fmt.Errorf("--instance: %w", err)
		}
	}
	dir, err := p.gathering()
	if err != nil {
		return err
	}
	if p.chosen.Changed { // a mistyped one is not "nothing to prune"
		if _, err := p.choose(dir); err != nil {
			return err
		}
	}
	if id := instanceOf(dir); id != "" && p.given() { // it was named by its own directory
		dir, o.Instance = filepath.Dir(dir), id
	}
	report, err := prune.Run(ctx, dir, o)
	if report == nil {
		return err
	}
	if told := p.tell(report); told != nil {
		return told
	}
	if err != nil {
		return err
	}
	return pruned(report)
}

// parseAge reads a duration that may have days, as 7d or 1d12h.
func parseAge(text string) (time.Duration, error) {
	const day, most = 24 * time.Hour, 100 * 365
	rest, days := text, 0
	if before, after, ok := strings.Cut(text, "d"); ok {
		n, err := strconv.ParseUint(before, 10, 32)
		if err != nil || n > most {
			return 0, failure.Usage("--older-than %s is no age: write 7d or 36h", display.Quote(text))
		}
		if rest, days = after, int(n); rest == "" {
			rest = "0s"
		}
	}
	age, err := time.ParseDuration(rest)
	if err != nil || age < 0 || strings.HasPrefix(rest, "+") || age > most*day {
		return 0, failure.Usage("--older-than %s is no age: write 7d or 36h", display.Quote(text))
	}
	return time.Duration(days)*day + age, nil
}

// tell prints the report.
func (p *pruneCall) tell(r *prune.Report) error {
	if !p.json {
		return p.print(p.pruneText(r))
	}
	for _, i := range r.Items {
		i.Says = p.standalone(pruneSays(i), pruneDir(r, i))
		if err := p.printJSON(i); err != nil {
			return err
		}
	}
	return nil
}

// pruneDir returns the state directory that an item is about.
func pruneDir(r *prune.Report, i prune.Item) string {
	if i.Kind == prune.Instance {
		return i.Path
	}
	return r.Dir
}

// pruneSays returns the reason of an item with its remedy.
func pruneSays(i prune.Item) string {
	if i.Remedy.IsZero() {
		return i.Says
	}
	return i.Says + ": " + failure.RemedyText(i.Remedy)
}

// pruneText is the report for people: a line for what was removed or wants a
// look, and a count of the rest by reason.
func (p *pruneCall) pruneText(r *prune.Report) string {
	var b strings.Builder
	for _, i := range r.Items {
		if i.Action == prune.Kept && !i.WantsALook() {
			continue
		}
		name := display.Escape(i.Path)
		if i.Kind == prune.Instance && i.Instance != "" {
			name = display.Quote(i.Instance) + " (" + name + ")"
		}
		fmt.Fprintf(&b, "%s %s %s: %s\n", i.Action, i.Kind, name, display.Escape(p.standalone(pruneSays(i), pruneDir(r, i))))
	}
	counts := map[string]map[string]int{}
	for _, i := range r.Items {
		if counts[i.Action] == nil {
			counts[i.Action] = map[string]int{}
		}
		counts[i.Action][i.Reason]++
	}
	for _, action := range []string{prune.Removed, prune.WouldRemove, prune.Kept, prune.Failed} {
		var parts []string
		total := 0
		for _, reason := range slices.Sorted(maps.Keys(counts[action])) {
			parts = append(parts, fmt.Sprintf("%d %s", counts[action][reason], reason))
			total += counts[action][reason]
		}
		if total > 0 {
			fmt.Fprintf(&b, "%s %d: %s\n", action, total, strings.Join(parts, ", "))
		}
	}
	if b.Len() == 0 {
		return "nothing to prune\n"
	}
	return b.String()
}

// pruned returns the verdict on a report.
func pruned(r *prune.Report) error {
	var v error
	for _, i := range r.Items {
		if i.Action == prune.Failed {
			return failure.Verdict{Status: failure.ExitIO}
		}
		if i.WantsALook() {
			v = failure.Verdict{Status: failure.ExitNegative}
		}
	}
	return v
}
