package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/cmd/internal/verbs"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/adopt"
	"github.com/spf13/cobra"
)

func newAdopt(c *cli) *cobra.Command {
	a := &adoption{cli: c, declared: declared{cli: c}}
	cmd := c.command(&cobra.Command{
		Use:   "adopt LEGACY.json",
		Short: "take over the file that programs shared before",
		Long: `Split the file that programs shared before Freehold over the owners of its keys,
one commit for each owner. A key goes to the field that declares it as its
"legacy:" key, or else to the field of that name; a map with "legacy: ." is the
file itself. The file is never changed.

The whole file is checked first: if a value does not fit its field, every such
value is named and nothing is written (exit status 64). Null, and an instant of
the year 1, mean unset. Keys that nobody owns are listed and stay in the file.

A field that the state has a value for, or that was cleared in it, is kept and
listed; a max or a min moves on to the value in the file; a set or a map gets what
it lacks, once. So adopt can be interrupted and run again, and by several at
once. A file that is not there is nothing to do (0). One that is there and cannot
be read, or is no JSON object, is an error (3). If somebody writes the file
meanwhile, adopt names the change (5): stop that program, then run it again.

With --dry-run it prints the plan and the obstacles that there are now, and
exits accordingly. With --infer it changes no state: it prints a first owners.yaml
for the file. With either, - stands for standard input.`,
		Example: `  freehold adopt runtime.json --dry-run
  freehold adopt runtime.json --dir ./state --json
  freehold adopt --infer old.json --state agent > owners.yaml`,
		Args: operands(1, 1, "a LEGACY.json"),
	}, func(ctx context.Context, args []string) error { return a.run(ctx, args[0]) })
	a.flags(cmd)
	return cmd
}

// An adoption is one call of adopt.
type adoption struct {
	*cli
	place
	declared
	hand
	dryRun bool
	guess  bool   // infer
	state  string // the name for that
}

func (a *adoption) flags(cmd *cobra.Command) {
	a.place.flags(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&a.dryRun, "dry-run", false, "print the plan of the import, and write nothing")
	flags.StringVar(&a.declared.file, "owners", "", "go by this owners.yaml `FILE`, which may declare more than the state does yet")
	a.declared.mark(cmd)
	flags.DurationVar(&a.wait, "wait", 0, "wait at most `DURATION` for each owner's other processes (default the longest that one of them declares)")
	a.waits = flags.Lookup("wait")
	flags.BoolVar(&a.guess, "infer", false, "print a first owners.yaml for the file, and change nothing")
	flags.StringVar(&a.state, "state", "", "the `NAME` of the state that --infer declares (default legacy)")
	for _, other := range []string{"dir", "instance", "dry-run", "owners", "wait"} {
		cmd.MarkFlagsMutuallyExclusive("infer", other)
	}
}

func (a *adoption) run(ctx context.Context, file string) error {
	if a.guess {
		return a.infer(ctx, file)
	}
	if a.state != "" {
		return failure.Usage("--state names what --infer declares: a state directory has its name already; leave it out")
	}
	options, err := a.options(a.notice)
	if err != nil {
		return err
	}
	dir, err := a.find()
	if err != nil {
		return err
	}
	d, err := a.declaration()
	if err != nil {
		return err
	}
	report := adoptReport{File: file, Dir: dir, DryRun: a.dryRun}
	legacy, err := a.read(ctx, file)
	if errors.Is(err, adopt.ErrAbsent) {
		report.Absent = true
		a.report(report.filled(), fmt.Sprintf("nothing to do: %s does not exist\n", display.Escape(file)))
		return nil
	}
	if err != nil {
		return err
	}
	plan, err := legacy.Plan(d)
	if err != nil {
		return err
	}
	done, err := plan.Apply(ctx, dir, &adopt.Options{Wait: options.Wait, DryRun: a.dryRun})
	report.take(plan, done, func(text string) string { return a.standalone(text, dir) })
	a.report(report.filled(), report.text(d))
	return err
}

// standardInput is what "-" means, in messages.
const standardInput = "standard input"

// read reads the legacy file. An adoption compares it with what it was at the end,
// and reads it again when it was interrupted, which standard input is not for.
func (a *adoption) read(ctx context.Context, file string) (*adopt.Legacy, error) {
	switch {
	case file != "-":
		return adopt.Read(ctx, file)
	case !a.guess && !a.dryRun:
		return nil, failure.Hint(failure.Usage("adopt reads its file more than once, and again if it was interrupted: save %s to a file and name that", standardInput), "give - with --dry-run or --infer alone, which read it once")
	}
	text, err := verbs.ReadAll(ctx, a.stdin, adopt.MaxSize)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w: nothing was changed; try again", standardInput, err)
	}
	if len(text) > adopt.MaxSize {
		return nil, fmt.Errorf("%s: %w: it is longer than the %d bytes allowed: divide it", standardInput, sidecar.ErrInvalid, adopt.MaxSize)
	}
	return adopt.Parse(standardInput, text)
}

// declaration returns what adopt goes by: what the state's manifest declares
// and, if the caller names an owners.yaml, what that adds, legacy keys
// included, which are nothing that a manifest is upgraded for.
func (a *adoption) declaration() (*schema.Declaration, error) {
	m, err := a.place.manifest()
	if err != nil {
		return nil, err
	}
	if !a.declared.flag.Changed {
		return &m.Declaration, nil
	}
	source, err := a.one()
	if err != nil {
		return nil, err
	}
	if _, _, err := m.Merge(source.Declaration); err != nil {
		return nil, failure.Hint(err, "if "+source.File+" is newer than the state, `freehold state upgrade` brings the state up to it")
	}
	return adopt.Extend(&m.Declaration, source.Declaration)
}
