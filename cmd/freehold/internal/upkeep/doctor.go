package upkeep

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/cmd/freehold/internal/ownersfile"
	"github.com/freehold-dev/freehold/cmd/internal/console"
	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/gen/tree"
	"github.com/freehold-dev/freehold/reader/doctor"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
)

func newDoctor(c *cli.Call) *cobra.Command {
	d := &checkup{Call: c, Place: *cli.Looking()}
	d.cmd = c.Command(&cobra.Command{
		Use:   "doctor",
		Short: "find the faults of a state, with their remedies",
		Long: `Examine a state directory, or all instances in one, and print each fault with its
remedy: damaged sidecars, claims and fields; lost locks and directories; leases,
fences and locks of processes that do not run; patches that cannot be folded, or that
no program folds; leftovers of killed processes; access by other users, links, copies
of the state, and states above and below it. It writes nothing and disturbs no
program.

Each finding has a code that stays the same from release to release and a remedy: a
command that can be run as it stands ("command" in --json), or words. With a finding
the exit status is 1. Notes are no faults: --verbose prints them first, --json
always. Of many findings with one code the first twenty are printed.

--owners also compares an owners.yaml, and the code generated from it, with the
state; --legacy the file that the state was adopted from, which is otherwise looked
for beside the state.`,
		Example: `  freehold doctor
  freehold doctor --dir ./state --owners owners/runtime/owners.yaml
  freehold doctor --dir ./sessions --older-than 7d --json`,
		Args: cli.Operands(0, 0, "no operands"),
	}, func(ctx context.Context, _ []string) error { return d.run(ctx) })
	d.Flags(d.cmd)
	d.owners.Add(d.cmd, "compare this owners.yaml `FILE` with the state")
	d.cmd.Flags().StringVar(&d.legacy, "legacy", "", "compare the legacy `FILE` that the state was adopted from")
	d.cmd.Flags().BoolVar(&d.verbose, "verbose", false, "print notes too, which are no faults")
	d.cmd.Flags().StringVar(&d.older, "older-than", "30d", "find instances that have not been written for `AGE`: 7d, 36h; 0d for never")
	return d.cmd
}

// A checkup is one call of doctor.
type checkup struct {
	*cli.Call
	cli.Place
	cmd     *cobra.Command
	owners  ownersfile.Flag
	legacy  string
	older   string
	verbose bool
}

func (d *checkup) run(ctx context.Context) error {
	stale, err := parseAge(d.older)
	if err != nil {
		return err
	}
	if d.legacy == "" && d.cmd.Flags().Changed("legacy") {
		return failure.Usage("--legacy is empty: name a file")
	}
	o := &doctor.Options{Around: true, Legacy: d.legacy, Stale: stale}
	if d.owners.Given() {
		source, err := d.owners.Read()
		if err != nil {
			return err
		}
		o.Declaration, o.Declared = source.Declaration, source.File
	}
	find := d.Whole // the state, or all its instances
	if _, ok := d.Instance(); ok {
		find = d.Find
	}
	dir, err := find()
	if err != nil {
		return err
	}
	progress := d.Progress("examining")
	o.Progress = progress.At
	report, err := doctor.Examine(ctx, dir, o)
	progress.End()
	if err != nil {
		return err
	}
	noteNearest(report)
	if o.Declared != "" {
		if err := findDrift(report, o.Declared); err != nil {
			return err
		}
	}
	report.Sort()
	lines := make([]findingLine, len(report.Findings))
	for i, f := range report.Findings {
		lines[i] = d.line(report, f)
	}
	asJSON := struct {
		Dir      string        `json:"dir"`
		State    string        `json:"state,omitempty"`
		Findings []findingLine `json:"findings"`
		Notes    []doctor.Note `json:"notes"`
	}{report.Dir, report.State, lines, report.Notes}
	if d.JSON {
		err = d.PrintJSON(asJSON)
	} else {
		err = d.Styled(d.text(report, lines))
	}
	if err != nil {
		return err
	}
	if len(report.Findings) > 0 {
		return failure.Verdict{Status: failure.ExitNegative}
	}
	return nil
}

// noteNearest notes if another state than that of the report is the nearest from
// here.
func noteNearest(r *doctor.Report) {
	near, err := console.Nearest()
	if err != nil || near == r.Dir || filepath.Dir(near) == r.Dir {
		return
	}
	if real, err := filepath.EvalSymlinks(r.Dir); err == nil && real == near {
		return
	}
	r.Notes = append(r.Notes, doctor.Note{About: "here", Says: "from the working directory upward the nearest state is another one: " + near})
}

// generatedDrift is the code of a generated file that differs from the one
// that this release makes of the owners.yaml.
const generatedDrift = "generated-drift"

// findDrift compares the code generated from an owners.yaml, if the file is in a
// module.
func findDrift(r *doctor.Report, file string) error {
	module, err := tree.Find(filepath.Dir(file))
	if err != nil {
		r.Notes = append(r.Notes, doctor.Note{About: "generated", Says: file + " is in no Go module: there is no generated code to compare"})
		return nil
	}
	drift, err := ownersfile.FindDrift(file)
	if err != nil {
		return err
	}
	if file, err = filepath.Abs(file); err != nil { // so that the remedy can be run from anywhere
		return err
	}
	for says, paths := range map[string][]string{
		"it is missing": drift.Missing, "it differs from the generated one, or is of another release's interface": drift.Changed, "nothing generates it any more": drift.Orphaned,
	} {
		for _, path := range paths {
			r.Findings = append(r.Findings, doctor.Finding{
				Code: generatedDrift, Path: filepath.Join(module.Dir, filepath.FromSlash(path)), Says: says,
				Remedy: store.Remedy{Verb: "gen", Args: []string{file}},
			})
		}
	}
	return nil
}

// A findingLine is a finding with its remedy in words.
type findingLine struct {
	doctor.Finding
	// Remedy is a command for a shell if Command says so.
	Remedy  string `json:"remedy"`
	Command bool   `json:"command"`
	// Advice is a step before the command; or empty.
	Advice string `json:"advice,omitempty"`
}

func (d *checkup) line(r *doctor.Report, f doctor.Finding) findingLine {
	dir := r.Dir
	if name, err := schema.InstanceDir(f.Instance); f.Instance != "" && err == nil {
		dir = filepath.Join(dir, name)
	}
	if line := d.Line(f.Remedy, dir); line != "" {
		return findingLine{f, line, true, f.Remedy.Note}
	}
	return findingLine{Finding: f, Remedy: f.Remedy.Note}
}

// mostShown bounds the findings with one code in a report for people.
const mostShown = 20

// text is the report for people: the count; the notes, if they are wanted; each finding
// with its remedy; and the count again, which a reader of the end sees.
func (d *checkup) text(r *doctor.Report, lines []findingLine) string {
	count, look := "no findings", cli.Good
	if len(lines) > 0 {
		count, look = display.Count(len(lines), "finding", "findings"), cli.Bad
	}
	count = look.Render(count) + "\n"
	text := count
	if d.verbose {
		text += d.notes(r)
	}
	shown := map[string]int{}
	for _, f := range lines {
		if shown[f.Code]++; shown[f.Code] <= mostShown {
			text += d.finding(r, f)
		}
	}
	for _, code := range slices.Sorted(maps.Keys(shown)) {
		if more := shown[code] - mostShown; more > 0 {
			text += fmt.Sprintf("%s: %d more, which --json lists\n", cli.Bad.Render(code), more)
		}
	}
	if text == count { // nothing stands between
		return text
	}
	return text + count
}

func (d *checkup) notes(r *doctor.Report) (text string) {
	for _, n := range r.Notes {
		about := n.About
		if n.Instance != "" {
			about += " " + display.Quote(n.Instance)
		}
		text += d.Prose(cli.Faint.Render("note:") + fmt.Sprintf(" %s: %s\n", about, display.Escape(n.Says)))
	}
	return text
}

// finding returns a finding with its remedy. Prose breaks its lines, but not that of a
// command.
func (d *checkup) finding(r *doctor.Report, f findingLine) string {
	text := d.Prose(cli.Bad.Render(f.Code) + " " + cli.Strong.Render(display.Escape(shortened(r.Dir, f.Path))) + concerned(f.Finding) + "\n" + indented(f.Says))
	remedy := display.Escape(f.Remedy)
	if f.Command {
		remedy = cli.Good.Render(remedy)
	}
	text += "  " + cli.Faint.Render("remedy:") + " " + remedy + "\n"
	if f.Advice != "" {
		text += d.Prose(indented(f.Advice))
	}
	return text
}

// indented returns the text of a finding for below its first line. Several lines
// have a mark each, so that no text from a file can pass for the remedy.
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

// shortened returns the path as seen from the state, if the state holds it.
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
