// Command curate archives skills that nobody uses.
//
//	curate [-dir STATE] [-now TIME] [-dry-run]
//	curate [-dir STATE] [-now TIME] -plan FILE
//
// The output has a line for each move; the skills that were left alone, with the
// reasons, go to standard error. With -dry-run nothing is moved, and the plan is
// printed as JSON. With -plan the moves of such a plan are made, as far as the
// rule still asks for them, and only for the same incarnations of the skills.
// The exit status is not 0 after a failure, for the timer to show.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/freehold-dev/freehold/owners/command"
	"github.com/freehold-dev/freehold/owners/usage"
	"github.com/freehold-dev/freehold/owners/usage/curator"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

func main() {
	var c curate
	command.Command{Program: "curate", Flags: c.flags, Do: c.do}.Main()
}

type curate struct {
	now    time.Time
	dryRun bool
	plan   string
}

func (c *curate) flags(f *flag.FlagSet) {
	f.BoolVar(&c.dryRun, "dry-run", false, "print the plan and move nothing")
	f.StringVar(&c.plan, "plan", "", "make the moves of the plan in `FILE`, which -dry-run has printed")
	command.TimeVar(f, &c.now, "now", "the present time")
}

func (c *curate) do(ctx context.Context, dir string, _ []string) error {
	if c.dryRun {
		p, err := curator.Propose(ctx, dir, c.now)
		if err != nil {
			return err
		}
		return json.MarshalEncode(jsontext.NewEncoder(os.Stdout), p)
	}
	done, err := c.act(ctx, dir)
	if err != nil {
		return err
	}
	for _, m := range done.Moves {
		why := "no activity since"
		if m.To == usage.SkillsStateActive() {
			why = "made or used at"
		}
		fmt.Printf("%s: %v: %s %s\n", m.Skill.Key, m.To, why, m.Anchor.Format(time.RFC3339))
	}
	for _, k := range done.Kept {
		fmt.Fprintf(os.Stderr, "curate: left %s alone: %s\n", k.Skill, k.Why)
	}
	return nil
}

func (c *curate) act(ctx context.Context, dir string) (curator.Plan, error) {
	o := &sidecar.Options{Program: "curate"}
	if c.plan == "" {
		return curator.Curate(ctx, dir, c.now, o)
	}
	text, err := command.ReadFile(c.plan)
	if err != nil {
		return curator.Plan{}, err
	}
	var p curator.Plan
	if err := json.Unmarshal(text, &p, json.RejectUnknownMembers(true)); err != nil {
		return curator.Plan{}, fmt.Errorf("%s is not a plan: %w; give the output of -dry-run", c.plan, err)
	}
	return curator.Act(ctx, dir, p, c.now, o)
}
