// Command curate puts skills away that nobody uses.
//
//	curate [-dir STATE] [-now TIME] [-dry-run]
//	curate [-dir STATE] [-now TIME] -plan FILE
//
// It prints what it has done, a line for each skill, and says on standard error
// what it has left alone and why. With -dry-run it does nothing, and prints its
// plan as JSON; -plan acts on such a plan later, but only as far as the rule
// still asks for it, and only on the skills that the plan was made for: one that
// was deleted and made again is another. It is called from a timer, so a
// failure must show: it exits with 1 then.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/freehold-dev/freehold/owners/command"
	"github.com/freehold-dev/freehold/owners/usage"
	"github.com/freehold-dev/freehold/owners/usage/curator"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/go-json-experiment/json"
)

func main() {
	debug.SetTraceback("crash")
	c := curate{now: time.Now()}
	os.Exit(command.Command{Program: "curate", Flags: c.flags, Do: c.do}.Run(context.Background(), os.Args[1:], os.Stderr))
}

type curate struct {
	now    time.Time
	dryRun bool
	plan   string
}

func (c *curate) flags(f *flag.FlagSet) {
	f.BoolVar(&c.dryRun, "dry-run", false, "print the plan and do nothing")
	f.StringVar(&c.plan, "plan", "", "act on the plan in `FILE`, which -dry-run has printed")
	f.Func("now", "the time to go by, as RFC 3339; if not given, the clock's", func(text string) (err error) {
		c.now, err = time.Parse(time.RFC3339, text)
		return err
	})
}

func (c *curate) do(ctx context.Context, dir string, _ []string) error {
	if c.dryRun {
		return c.print(ctx, dir)
	}
	done, err := c.act(ctx, dir)
	if err != nil {
		return err
	}
	for _, m := range done.Moves {
		why := "nobody has touched it since"
		if m.To == usage.SkillsStateActive() {
			why = "somebody made or touched it at"
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
	text, err := read(c.plan)
	if err != nil {
		return curator.Plan{}, err
	}
	var p curator.Plan
	if err := json.Unmarshal(text, &p, json.RejectUnknownMembers(true)); err != nil {
		return curator.Plan{}, fmt.Errorf("%s is no plan: %w; give what -dry-run has printed", c.plan, err)
	}
	return curator.Act(ctx, dir, p, c.now, o)
}

// mostPlan bounds the plan, in bytes, and patience the time that it takes to come
// through a pipe.
const (
	mostPlan = 4 << 20
	patience = 10 * time.Second
)

// read reads a plan, also from a pipe, such as a shell makes of <(curate -dry-run).
// It does not wait for somebody to open the other end.
func read(file string) ([]byte, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	_ = f.SetReadDeadline(time.Now().Add(patience)) // which files on a disk do not have, nor need
	text, err := io.ReadAll(io.LimitReader(f, mostPlan+1))
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, fmt.Errorf("%s: nothing came for %v: give a file that -dry-run has filled", file, patience)
	case err != nil:
		return nil, err
	case len(text) > mostPlan:
		return nil, fmt.Errorf("%s: more than %d bytes: give what -dry-run has printed", file, mostPlan)
	}
	return text, nil
}

func (c *curate) print(ctx context.Context, dir string) error {
	r, err := usage.Open(dir)
	if err != nil {
		return err
	}
	defer r.Close()
	v, err := r.View(ctx)
	if err != nil {
		return err
	}
	p, err := curator.Decide(v, c.now)
	if err != nil {
		return err
	}
	text, err := json.Marshal(p)
	fmt.Printf("%s\n", text)
	return err
}
