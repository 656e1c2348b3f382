package upkeep

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/cmd/internal/console"
	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/prune"
)

func newPrune(c *cli.Call) *cobra.Command {
	p := &pruneRun{Call: c}
	p.cmd = c.Command(&cobra.Command{
		Use:   "prune [--older-than AGE]",
		Short: "remove ended instances, and leftovers of killed writers",
		Long: `Remove the instances that have not been written for AGE (7d, 36h) and that no process
has open, and leftovers of killed writers in the others; of a state without instances,
only leftovers. A directory is renamed before it is deleted, and the next prune
finishes the work of a killed one.

An instance stays if a process has it open or holds a lock of it, if it is younger or
dated later than now, if it holds a foreign file, or if it cannot be read. Kept
instances are counted by reason, and the first twenty of each named if time alone
does not mend that: then the exit status is 1. It is 7 if a removal failed. --json
lists everything, an object a line. A dry run takes the same decisions.

The age is that of the newest file, commit, claim or pending patch. Those since the
machine started are dated by a clock that cannot be set.`,
		Example: `  freehold prune --older-than 7d --dry-run
  freehold prune --older-than 36h --dir ./sessions --json`,
		Args: cli.Operands(0, 0, "no operands"),
	}, func(ctx context.Context, _ []string) error { return p.run(ctx) })
	p.Flags(p.cmd)
	p.cmd.Flags().StringVar(&p.older, "older-than", "", "remove instances that have not been written for `AGE`: 7d, 36h (default none)")
	p.cmd.Flags().BoolVar(&p.dryRun, "dry-run", false, "print the plan, and remove nothing")
	return p.cmd
}

// A pruneRun is one call of prune.
type pruneRun struct {
	*cli.Call
	cli.Place
	cmd    *cobra.Command
	older  string
	dryRun bool
}

func (p *pruneRun) run(ctx context.Context) error {
	o := &prune.Options{DryRun: p.dryRun}
	aged := p.cmd.Flags().Changed("older-than")
	if aged {
		age, err := parseAge(p.older)
		if err != nil {
			return err
		}
		o.OlderThan = max(age, 1) // zero is no age to the library
	}
	id, chosen := p.Instance()
	if chosen {
		o.Instance = id
		if err := schema.CheckInstanceID(id); err != nil {
			return fmt.Errorf("--instance: %w", err)
		}
	}
	dir, err := p.Gathering()
	if err != nil {
		return err
	}
	if chosen { // a mistyped one is not "nothing to prune"
		if _, err := p.Choose(dir); err != nil {
			return err
		}
	}
	if here := console.InstanceOf(dir); here != "" && aged { // it was named by its own directory
		dir, o.Instance = filepath.Dir(dir), here
	}
	progress := p.Progress("pruning")
	o.Progress = progress.At
	report, err := prune.Run(ctx, dir, o)
	progress.End()
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
	const most = 100 * 365 * 24 * time.Hour
	rest, days := text, uint64(0)
	var err error
	if before, after, ok := strings.Cut(text, "d"); ok {
		days, err = strconv.ParseUint(before, 10, 15)
		if rest = after; rest == "" {
			rest = "0s"
		}
	}
	age, restErr := time.ParseDuration(rest)
	if err != nil || restErr != nil || age < 0 || strings.HasPrefix(rest, "+") || age > most {
		return 0, failure.Usage("--older-than %s is no age: write 7d or 36h", display.Quote(text))
	}
	return time.Duration(days)*24*time.Hour + age, nil
}

// tell prints the report: for people a line for each item that was removed or wants a
// look, the first of each reason, and a count of all by reason.
func (p *pruneRun) tell(r *prune.Report) error {
	var text console.Text
	shown := map[string]int{}
	for _, i := range r.Items {
		dir, name := r.Dir, i.Path
		if i.Kind == prune.Instance {
			dir = i.Path
			if i.Instance != "" {
				name = display.Quote(i.Instance) + " (" + i.Path + ")"
			}
		}
		if remedy := p.Sentence(i.Remedy, dir); remedy != "" {
			i.Says += ": " + remedy
		}
		if p.JSON {
			if err := p.PrintJSON(i); err != nil {
				return err
			}
		}
		if i.Action != prune.Kept || i.WantsALook() {
			kind := i.Action + " " + i.Reason
			if shown[kind]++; shown[kind] <= mostShown {
				text.Line("%s %s %s: %s", i.Action, i.Kind, name, i.Says)
			}
		}
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
			text.Line("%s %d: %s", action, total, strings.Join(parts, ", "))
		}
	}
	switch {
	case p.JSON:
		return nil
	case len(r.Items) == 0:
		return p.Print("nothing to prune\n")
	}
	return p.Print(text.String())
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
