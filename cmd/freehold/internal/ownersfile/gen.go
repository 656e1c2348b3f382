package ownersfile

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/gen/tree"
	"github.com/freehold-dev/freehold/schema/declare"
	"github.com/freehold-dev/freehold/sidecar/store"
)

func newGen(c *cli.Call) *cobra.Command {
	check := false
	cmd := c.Command(&cobra.Command{
		Use:   "gen [OWNERS.YAML...]",
		Short: "generate the Go accessors of owners.yaml",
		Long: `Generate, for each owners.yaml, the owners' writer packages, the view package, the
test package, the JSON schemas and OWNERS.md, and remove generated files that no
declaration makes any more. Other files are never replaced or removed; a program of an
owner that is gone is named. Without operands it takes the owners.yaml in the working
directory, or else every one of the module.

With --check it writes nothing, prints the differences as a unified diff, and exits 1
if there are any, if an exported API hands out a writer, or if the owner of a program is
gone.`,
		Example: `  freehold gen
  freehold gen --check owners/runtime/owners.yaml`,
		Args: cli.Operands(0, -1, "the paths of owners.yaml files"),
	}, func(ctx context.Context, files []string) error {
		jobs, err := plan(files)
		switch {
		case err != nil:
			return err
		case check:
			return compare(ctx, c, jobs)
		}
		return write(ctx, c, jobs)
	})
	cmd.Flags().BoolVar(&check, "check", false, "compare and write nothing")
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return []string{"yaml"}, cobra.ShellCompDirectiveFilterFileExt
	}
	return cmd
}

// A job is the generation of one owners.yaml.
type job struct {
	file   string
	module *tree.Module
	source *declare.Source
	plan   *tree.Plan
}

// plan reads all the files before it plans anything, so that one run names
// every mistake, and plans the states of a module together.
func plan(files []string) ([]job, error) {
	if len(files) == 0 {
		found, err := declarations()
		if err != nil {
			return nil, err
		}
		files = found
	}
	jobs, err := load(files)
	if err != nil {
		return nil, err
	}
	for i := range jobs {
		if jobs[i].plan != nil {
			continue
		}
		if err := planIn(jobs[i].module, jobs); err != nil {
			return nil, ofModule(err)
		}
	}
	return jobs, nil
}

// load reads the files, each once.
func load(files []string) ([]job, error) {
	var jobs []job
	var mistakes declare.Problems
	for _, file := range files {
		file = inFolder(file)
		module, err := tree.Find(filepath.Dir(file))
		if err != nil {
			return nil, ofModule(err)
		}
		source, err := module.Load(file)
		if problems, ok := errors.AsType[declare.Problems](err); ok {
			mistakes = append(mistakes, problems...)
			continue
		}
		if err != nil {
			return nil, ofModule(err)
		}
		if !slices.ContainsFunc(jobs, func(j job) bool { return j.module.Dir == module.Dir && j.source.Folder == source.Folder }) {
			jobs = append(jobs, job{file: file, module: module, source: source})
		}
	}
	if len(mistakes) > 0 {
		return nil, mistakes
	}
	return jobs, nil
}

// planIn plans those of jobs that are in m.
func planIn(m *tree.Module, jobs []job) error {
	var mine []*job
	var sources []*declare.Source
	for i := range jobs {
		if j := &jobs[i]; j.module.Dir == m.Dir {
			mine, sources = append(mine, j), append(sources, j.source)
		}
	}
	plans, err := m.Plans(sources)
	if err != nil {
		return err
	}
	for i, j := range mine {
		j.plan = plans[i]
	}
	return nil
}

// write carries out the plans, once all of them type-check.
func write(ctx context.Context, c *cli.Call, jobs []job) error {
	for _, j := range jobs {
		if err := typeCheck(ctx, c, j); err != nil {
			return err
		}
	}
	return apply(c, jobs)
}

// typeCheck makes sure that the planned files compile. A module that does not
// reach Freehold yet cannot be checked, and that is no reason not to generate.
func typeCheck(ctx context.Context, c *cli.Call, j job) error {
	err := j.module.Check(ctx, j.plan)
	if errors.Is(err, tree.ErrUnchecked) {
		c.Notice(err)
		return nil
	}
	return ofModule(err)
}

// apply carries out plans that type-check.
func apply(c *cli.Call, jobs []job) error {
	noteSkipped(c, jobs)
	noteStranded(c, jobs)
	var reports []genReport
	var text strings.Builder
	for _, j := range jobs {
		if err := j.module.Apply(j.plan); err != nil {
			return store.WithRemedy(fmt.Errorf("%w: some files may be new and some old", err), store.Remedy{Verb: "gen", Args: []string{j.file}})
		}
		r := j.report()
		reports = append(reports, r)
		text.WriteString(r.text())
	}
	return c.Answer(reports, text.String())
}

// noteSkipped names the folders that cannot be searched for generated files.
func noteSkipped(c *cli.Call, jobs []job) {
	for _, j := range jobs {
		for _, folder := range j.plan.Skipped {
			c.Say("hint", fmt.Sprintf("the folder %s cannot be read: generated files in it that no declaration makes any more may stay", folder))
		}
	}
}

// noteStranded names the programs of owners that are gone.
func noteStranded(c *cli.Call, jobs []job) (count int) {
	for _, j := range jobs {
		for _, s := range j.plan.Stranded {
			c.Say("hint", fmt.Sprintf("%s imports %s, and no owners.yaml makes that package: remove the program, or declare owner %s with this home again", s.File, s.Package, s.Owner))
			count++
		}
	}
	return count
}

// A genReport lists the files of one owners.yaml, by slash paths relative to the
// module root.
type genReport struct {
	Owners  string   `json:"owners"`
	Written []string `json:"written"`
	Removed []string `json:"removed"`
	Kept    []string `json:"kept"`
	// Stranded lists the programs that import the writer of an owner that is gone.
	Stranded []string `json:"stranded,omitempty"`
}

func (j job) report() genReport {
	r := genReport{Owners: j.file, Kept: j.plan.Keep}
	for _, change := range j.plan.Write {
		r.Written = append(r.Written, change.Path)
	}
	for _, file := range j.plan.Remove {
		r.Removed = append(r.Removed, file.Path)
	}
	for _, s := range j.plan.Stranded {
		r.Stranded = append(r.Stranded, s.File)
	}
	return r
}

func (r genReport) text() string {
	if len(r.Written)+len(r.Removed) == 0 {
		return fmt.Sprintf("unchanged: the %d files of %s\n", len(r.Kept), display.Escape(r.Owners))
	}
	return paths("wrote", r.Written) + paths("removed", r.Removed)
}

// paths returns a line for each path.
func paths(verb string, all []string) string {
	var b strings.Builder
	for _, path := range all {
		fmt.Fprintf(&b, "%s %s\n", verb, display.Escape(path))
	}
	return b.String()
}
