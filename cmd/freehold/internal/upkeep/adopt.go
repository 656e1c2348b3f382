package upkeep

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/cmd/freehold/internal/ownersfile"
	"github.com/freehold-dev/freehold/cmd/internal/console"
	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/cmd/internal/verbs"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/adopt"
	"github.com/freehold-dev/freehold/sidecar/store"
)

func newAdopt(c *cli.Call) *cobra.Command {
	a := &adoption{Call: c}
	a.cmd = c.Command(&cobra.Command{
		Use:   "adopt LEGACY.json",
		Short: "take over the file that programs shared before",
		Long: `Split the file that programs shared before Freehold over the owners of its keys,
one commit per owner. A key goes to the field with that "legacy:" key, or else of
that name; a map with "legacy: ." is the whole file. The file is never changed, and
keys without an owner are listed.

If a value does not fit its field, every such value is named and nothing is written
(64). Null, and an instant of the year 1, mean unset. A field that has a value in
the state, or was cleared there, is kept and listed; a max or min moves to the value
in the file; a set or map gets the elements that it lacks. So adopt can be run again,
also after an interruption. A missing file is nothing to do (0), one that gives nothing
to any owner is an answer of its own (1), one that is no JSON object an error (3), and
one that a program still writes is refused (5).

--dry-run prints the plan and its obstacles, and exits accordingly. --infer prints a
first owners.yaml for the file. With either, - stands for standard input.`,
		Example: `  freehold adopt runtime.json --dry-run
  freehold adopt runtime.json --dir ./state --json
  freehold adopt --infer old.json --state agent > owners.yaml`,
		Args: cli.Operands(1, 1, "a LEGACY.json"),
	}, func(ctx context.Context, args []string) error {
		if a.infer {
			return a.propose(ctx, args[0])
		}
		return a.run(ctx, args[0])
	})
	a.Place.Flags(a.cmd)
	flags := a.cmd.Flags()
	flags.BoolVar(&a.dryRun, "dry-run", false, "print the plan of the import, and write nothing")
	a.owners.Add(a.cmd, "go by this owners.yaml `FILE`, which may declare more than the state does yet")
	cli.AddWait(a.cmd, &a.wait, "wait at most `DURATION` for each owner's other processes (default the longest that one of them declares)")
	flags.BoolVar(&a.infer, "infer", false, "print a first owners.yaml for the file, and change nothing")
	flags.StringVar(&a.state, "state", "", "the `NAME` of the state that --infer declares (default legacy)")
	for _, other := range []string{"dir", "instance", "dry-run", "owners", "wait"} {
		a.cmd.MarkFlagsMutuallyExclusive("infer", other)
	}
	return a.cmd
}

// An adoption is one call of adopt.
type adoption struct {
	*cli.Call
	cli.Place
	cmd    *cobra.Command
	owners ownersfile.Flag
	wait   console.Wait
	dryRun bool
	infer  bool
	state  string // the name for the proposal
}

func (a *adoption) run(ctx context.Context, file string) error {
	if a.state != "" {
		return failure.Usage("--state names the state that --infer declares: leave it out")
	}
	wait, err := a.wait.Patience()
	if err != nil {
		return err
	}
	dir, err := a.Find()
	if err != nil {
		return err
	}
	d, err := a.declaration()
	if err != nil {
		return err
	}
	report := adoptReport{File: file, Dir: dir, DryRun: a.dryRun}
	legacy, err := a.read(ctx, file)
	if errors.Is(err, store.Missing) {
		report.Absent = true
		a.Report(report, fmt.Sprintf("nothing to do: %s does not exist\n", display.Escape(file)))
		return nil
	}
	if err != nil {
		return err
	}
	plan, err := legacy.Plan(d)
	if err != nil {
		return err
	}
	progress := a.Progress("adopting " + display.Escape(file))
	done, err := plan.Apply(ctx, dir, &adopt.Options{Wait: wait, DryRun: a.dryRun})
	progress.End()
	report.Unset, report.Unowned, report.Changed = plan.Unset, plan.Unowned, done.Changed
	for _, o := range done.Owners {
		owner := adoptOwner{Owner: o.Owner, Outcome: o.Outcome.String(), Version: o.Version, Imported: o.Imported, Kept: o.Kept, Same: o.Same}
		if o.Err != nil {
			owner.Error = a.WithRemedies(o.Err, dir)
		}
		report.Owners = append(report.Owners, owner)
	}
	a.Report(report, report.text(d))
	if err == nil && report.unrecognised() {
		return store.WithRemedy(
			failure.As(fmt.Errorf("%s: no owner declares any of its keys: nothing was imported", file), failure.Negative),
			store.Remedy{Note: "declare its keys, or name them with legacy: in owners.yaml", Verb: "adopt", Args: []string{"--infer", file}})
	}
	return err
}

// unrecognised reports whether the file has keys and gives nothing to any owner.
func (r adoptReport) unrecognised() bool {
	return len(r.Unowned) > 0 && len(r.Unset) == 0 && !slices.ContainsFunc(r.Owners, func(o adoptOwner) bool {
		return len(o.Imported)+len(o.Kept)+o.Same > 0
	})
}

// standardInput stands for "-" in messages.
const standardInput = "standard input"

// read reads the legacy file. An adoption compares the file with this reading at
// the end, and reads it again when it was interrupted, which standard input
// cannot serve.
func (a *adoption) read(ctx context.Context, file string) (*adopt.Legacy, error) {
	switch {
	case file != "-":
		return adopt.Read(ctx, file)
	case !a.infer && !a.dryRun:
		return nil, store.WithRemedy(
			failure.Usage("adopt reads its file more than once, and again if it was interrupted: save %s to a file and name that", standardInput),
			store.Remedy{Note: "give - with --dry-run or --infer alone, which read it once"})
	}
	text, err := verbs.ReadAll(ctx, a.Stdin, adopt.MaxSize)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w: nothing was changed; try again", standardInput, err)
	}
	if len(text) > adopt.MaxSize {
		return nil, fmt.Errorf("%s: %w: it is longer than the %d bytes allowed: divide it", standardInput, store.Invalid, adopt.MaxSize)
	}
	return adopt.Parse(standardInput, text)
}

// declaration returns the declaration of the state's manifest and, if the caller
// names an owners.yaml, the additions of that. Legacy keys are such additions: no
// manifest is upgraded for them.
func (a *adoption) declaration() (*schema.Declaration, error) {
	m, err := a.Manifest()
	if err != nil {
		return nil, err
	}
	if !a.owners.Given() {
		return &m.Declaration, nil
	}
	source, err := a.owners.Read()
	if err != nil {
		return nil, err
	}
	if _, _, err := m.Merge(source.Declaration); err != nil {
		return nil, store.WithRemedy(err, store.Remedy{Verb: "state upgrade", Note: "name an owners.yaml that only adds to the state"})
	}
	return adopt.Extend(&m.Declaration, source.Declaration)
}

// An adoptReport is the report of adopt.
type adoptReport struct {
	File    string             `json:"file"`
	Dir     string             `json:"dir"`
	Absent  bool               `json:"absent"` // the file is not there
	DryRun  bool               `json:"dry_run"`
	Owners  []adoptOwner       `json:"owners"`
	Unset   []adopt.Place      `json:"unset"`
	Unowned []adopt.Place      `json:"unowned"`
	Changed []jsontext.Pointer `json:"changed"` // by another program, meanwhile
}

// An adoptOwner is the result for one owner's part.
type adoptOwner struct {
	Owner    string          `json:"owner"`
	Outcome  string          `json:"outcome"`
	Version  sidecar.Version `json:"version,omitzero"`
	Imported []adopt.Item    `json:"imported"`
	Kept     []adopt.Item    `json:"kept"`
	Same     int             `json:"same"` // values that the state has already
	Error    string          `json:"error,omitzero"`
}

// text returns the report for people: a paragraph for each owner, then the keys
// without an owner.
func (r adoptReport) text(d *schema.Declaration) string {
	var t console.Text
	for _, o := range r.Owners {
		t.Line("%s", o.head(r.DryRun))
		fields := d.Owners[o.Owner].Fields
		for field, items := range byField(o.Imported) {
			t.Line("  %s: %s", field, itemText(fields[field], items))
		}
		for field, kept := range byField(o.Kept) {
			t.List("  kept: ", keptLines(fields[field], kept))
		}
	}
	var lines []string
	for _, unset := range r.Unset {
		lines = append(lines, fmt.Sprintf("%s is %s", unset.Pointer, unset.Marker))
	}
	t.List("unset in the file: ", lines)
	lines = nil
	for _, unowned := range r.Unowned {
		line := string(unowned.Pointer)
		switch {
		case unowned.Field != "":
			line += fmt.Sprintf(" (add to field %s: legacy: %s)", unowned.Field, unowned.Pointer.LastToken())
		case unowned.Like != "":
			line += " (" + unowned.Like + " differs in case)"
		}
		lines = append(lines, line)
	}
	t.List("owned by nobody, and left in the file: ", lines)
	return t.String()
}

// head returns the first line about an owner's part.
func (o adoptOwner) head(dryRun bool) string {
	switch {
	case o.Error != "" && dryRun && len(o.Imported) > 0:
		return o.Owner + " would be refused now; once it is not, it would import"
	case o.Error != "" && dryRun:
		return o.Owner + " would not be imported"
	case o.Error != "":
		return o.Owner + " not imported"
	case dryRun && len(o.Imported) > 0:
		return o.Owner + " would import"
	case o.Outcome == sidecar.Applied.String() && o.Version.IsZero(): // nothing but claims
		return o.Owner + " applied"
	case o.Outcome == sidecar.Applied.String():
		return fmt.Sprintf("%s applied version %v", o.Owner, o.Version)
	}
	return fmt.Sprintf("%s has %s already", o.Owner, display.Count(o.Same, "value", "values"))
}

// byField yields runs of items of one field.
func byField(items []adopt.Item) iter.Seq2[string, []adopt.Item] {
	return func(yield func(string, []adopt.Item) bool) {
		for len(items) > 0 {
			name, n := items[0].Field, 1
			for n < len(items) && items[n].Field == name {
				n++
			}
			if !yield(name, items[:n]) {
				return
			}
			items = items[n:]
		}
	}
}

// itemText returns the value imported into a field, or the size of a map.
func itemText(f schema.Field, items []adopt.Item) string {
	if f.EffectiveKind() != schema.Map {
		return display.Value(f, items[0].Value)
	}
	keys := map[string]bool{}
	for _, i := range items {
		keys[i.Key] = true
	}
	return fmt.Sprintf("%s at %s", display.Count(len(items), "value", "values"), display.Count(len(keys), "key", "keys"))
}

// keptLines returns a line for each value of the file that gave way to one of the
// state.
func keptLines(f schema.Field, kept []adopt.Item) (lines []string) {
	for _, k := range kept {
		name, spec := k.Field, f
		if k.Key != "" {
			name += " " + strings.TrimSpace(display.Text(k.Key)+" "+k.Member)
			if spec, _ = f.Member(k.Member); f.Value == nil && k.Member == "" { // the whole entry
				spec = schema.Field{Type: schema.TypeJSON}
			}
		}
		lines = append(lines, fmt.Sprintf("%s is %s, by %s; the file has %s", name, display.Value(spec, k.State), k.Program, display.Value(spec, k.Value)))
	}
	return lines
}
