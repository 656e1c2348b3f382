package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/gen/tree"
	"github.com/freehold-dev/freehold/reader/doctor"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/declare"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newDoctor(c *cli) *cobra.Command {
	d := &checkup{cli: c, declared: declared{cli: c}}
	cmd := c.command(&cobra.Command{
		Use:   "doctor",
		Short: "find the faults of a state, with their remedies",
		Long: `Look a state directory over, or all instances in one, and print each fault with
its remedy: sidecars, claims and fields that cannot be used, lost lock files and
directories, leases, fences and locks of processes that do not run, patches that
cannot be folded or that nobody folds, leftovers of killed processes, other users
that may write, links, copies of the state, and other states above and below it. It
writes nothing and disturbs no program.

Each finding has a code that stays the same from release to release, and a
remedy: a command that can be run as it stands, or words where only people can
tell; "command" says which in --json, where all of it is one object. If there is
a finding, the exit status is 1. Notes are no faults.

With --owners it also compares an owners.yaml with the state, and the code that is
generated from it. With --legacy it compares the file that the state was adopted
from; one that the state names is found beside it.`,
		Example: `  freehold doctor
  freehold doctor --dir ./state --owners owners/runtime/owners.yaml
  freehold doctor --dir ./sessions --older-than 7d --json`,
		Args: operands(0, 0, "no operands"),
	}, func(ctx context.Context, _ []string) error { return d.run(ctx) })
	d.place.flags(cmd)
	cmd.Flags().StringVar(&d.file, "owners", "", "compare this owners.yaml `FILE` with the state")
	d.mark(cmd)
	cmd.Flags().StringVar(&d.legacy, "legacy", "", "compare the legacy `FILE` that the state was adopted from")
	d.old = cmd.Flags().Lookup("legacy")
	cmd.Flags().StringVar(&d.older, "older-than", "30d", "find instances that nobody has written for `AGE`: 7d, 36h; 0d for never")
	return cmd
}

// A checkup is one call of doctor.
type checkup struct {
	*cli
	place
	declared
	legacy string
	old    *pflag.Flag // of legacy
	older  string
}

func (d *checkup) run(ctx context.Context) error {
	stale, err := parseAge(d.older)
	if err != nil {
		return err
	}
	if d.legacy == "" && d.old.Changed {
		return failure.Usage("--legacy is empty: name a file")
	}
	o := &doctor.Options{Around: true, Legacy: d.legacy, Stale: stale}
	var source *declare.Source
	if d.declared.flag.Changed {
		if source, err = d.one(); err != nil {
			return err
		}
		o.Declaration, o.Declared = source.Declaration, source.File
	}
	dir, err := d.subject()
	if err != nil {
		return err
	}
	report, err := doctor.Examine(ctx, dir, o)
	if err != nil {
		return err
	}
	d.elsewhere(report)
	if source != nil {
		if err := drifted(report, source.File); err != nil {
			return err
		}
	}
	report.Sort()
	if err := d.tell(report); err != nil {
		return err
	}
	if len(report.Findings) > 0 {
		return failure.Verdict{Status: failure.ExitNegative}
	}
	return nil
}

// subject returns what is to be looked at: the instance that is named, or else
// the state, or all its instances.
func (d *checkup) subject() (string, error) {
	if d.chosen.Changed {
		return d.find()
	}
	return d.whole()
}

// elsewhere notes if another state than the one that was named is the nearest
// from here.
func (d *checkup) elsewhere(r *doctor.Report) {
	near, err := nearest()
	if err != nil || near == r.Dir || filepath.Dir(near) == r.Dir {
		return
	}
	if real, err := filepath.EvalSymlinks(r.Dir); err == nil && real == near {
		return
	}
	r.Notes = append(r.Notes, doctor.Note{About: "here", Says: "from the working directory upward the nearest state is another one: " + near})
}

// generatedDrift is found if generated code is not what the owners.yaml
// generates by this release.
const generatedDrift doctor.Code = "generated-drift"

// drifted compares the code that is generated from the owners.yaml called file,
// if that is in a module.
func drifted(r *doctor.Report, file string) error {
	module, err := tree.Find(filepath.Dir(file))
	if err != nil {
		r.Notes = append(r.Notes, doctor.Note{About: "generated", Says: file + " is in no Go module: there is no generated code to compare"})
		return nil
	}
	jobs, err := plan([]string{file})
	if err != nil {
		return err
	}
	if file, err = filepath.Abs(file); err != nil { // so that the remedy can be run from anywhere
		return err
	}
	for _, j := range jobs {
		drift := j.drift()
		for what, paths := range map[string][]string{
			"it is missing": drift.Missing, "it differs from what is generated, or is of another release's interface": drift.Changed, "nothing generates it any more": drift.Orphaned,
		} {
			for _, path := range paths {
				r.Findings = append(r.Findings, doctor.Finding{
					Code: generatedDrift, Path: filepath.Join(module.Dir, filepath.FromSlash(path)), Says: what,
					Remedy: failure.Line("freehold", "gen", file), Command: true,
				})
			}
		}
	}
	return nil
}

// tell prints the report.
func (d *checkup) tell(r *doctor.Report) error {
	for i, f := range r.Findings {
		says := func(text string) string { return d.runnableIn(text, f.Instance) }
		if d.json {
			says = func(text string) string { return d.standalone(text, placeOf(r, f)) }
		}
		r.Findings[i].Says, r.Findings[i].Advice = says(f.Says), says(f.Advice)
	}
	if d.json {
		return d.printJSON(r)
	}
	return d.print(doctorText(r, d.prose))
}

// placeOf returns the directory of the state, or instance, that a finding is about.
func placeOf(r *doctor.Report, f doctor.Finding) string {
	if name, err := schema.InstanceDir(f.Instance); f.Instance != "" && err == nil {
		return filepath.Join(r.Dir, name)
	}
	return r.Dir
}

// doctorText is the report for people: each finding with its remedy, then the
// notes. What is no command, and names none, may be broken into lines.
func doctorText(r *doctor.Report, broken func(string) string) string {
	var b strings.Builder
	for _, f := range r.Findings {
		b.WriteString(broken(fmt.Sprintf("%s %s%s\n%s", f.Code, display.Escape(shortened(r.Dir, f.Path)), concerned(f), indented(f.Says))))
		fmt.Fprintf(&b, "  remedy: %s\n", display.Escape(f.Remedy))
		if f.Advice != "" {
			b.WriteString(indented(f.Advice))
		}
	}
	for _, n := range r.Notes {
		about := n.About
		if n.Instance != "" {
			about += " " + display.Quote(n.Instance)
		}
		b.WriteString(broken(fmt.Sprintf("note: %s: %s\n", about, display.Escape(n.Says))))
	}
	if len(r.Findings) == 0 {
		return b.String() + "no findings\n"
	}
	return b.String() + display.Count(len(r.Findings), "finding", "findings") + "\n"
}

// indented returns what is said of a finding, below its first line. What is several
// things has a mark before each, so that no text from a file can pass for the
// remedy.
func indented(says string) string {
	lines := strings.Split(says, "\n")
	if len(lines) == 1 {
		return "  " + display.Escape(says) + "\n"
	}
	var b strings.Builder
	for _, line := range lines {
		b.WriteString("  - " + display.Escape(line) + "\n")
	}
	return b.String()
}

// shortened returns the path as seen from the state, if it is in it.
func shortened(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) && rel != "." {
		return rel
	}
	return path
}

func concerned(f doctor.Finding) string {
	var parts []string
	if f.Instance != "" {
		parts = append(parts, "instance "+display.Quote(f.Instance))
	}
	if f.Owner != "" {
		parts = append(parts, "owner "+display.Escape(f.Owner))
	}
	if f.Field != "" {
		parts = append(parts, "field "+display.Escape(f.Field))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}
