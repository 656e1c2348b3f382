package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/gen/tree"
	"github.com/freehold-dev/freehold/schema/declare"
	"github.com/spf13/cobra"
)

func newGen(c *cli) *cobra.Command {
	check := false
	cmd := c.command(&cobra.Command{
		Use:   "gen [OWNERS.YAML...]",
		Short: "generate the Go accessors of owners.yaml",
		Long: `Generate, for each owners.yaml, the owners' writer packages, the view package,
the test package, the JSON schemas and OWNERS.md, and remove generated files
that no declaration makes any more. Only files that Freehold generated are ever
replaced or removed. Without operands it takes the owners.yaml in the working
directory, or else every one of the module.

With --check it writes nothing. It prints the differences as a unified diff and
exits 1 if anything does, or if an exported API hands out a writer.`,
		Example: `  freehold gen
  freehold gen --check owners/runtime/owners.yaml`,
		Args: operands(0, -1, "the paths of owners.yaml files"),
	}, func(ctx context.Context, files []string) error {
		jobs, err := plan(files)
		if err != nil {
			return err
		}
		if check {
			return c.check(ctx, jobs)
		}
		return c.generate(ctx, jobs)
	})
	cmd.Flags().BoolVar(&check, "check", false, "compare and write nothing")
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return []string{"yaml"}, cobra.ShellCompDirectiveFilterFileExt
	}
	return cmd
}

// A job is what is to be done about one owners.yaml.
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
	for _, m := range modules(jobs) {
		if err := planIn(m, jobs); err != nil {
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

// generate carries out the plans, once all of them type-check.
func (c *cli) generate(ctx context.Context, jobs []job) error {
	for _, j := range jobs {
		if err := c.typeCheck(ctx, j); err != nil {
			return err
		}
	}
	return c.write(jobs)
}

// write carries out plans that type-check.
func (c *cli) write(jobs []job) error {
	c.hintSkipped(jobs)
	var reports []genReport
	for _, j := range jobs {
		if err := j.module.Apply(j.plan); err != nil {
			return failure.Hint(err, "some files may be new and some old: run `freehold gen` again")
		}
		reports = append(reports, j.report())
	}
	if c.json {
		return c.printJSON(reports)
	}
	var b strings.Builder
	for _, r := range reports {
		b.WriteString(r.text())
	}
	return c.print(b.String())
}

// hintSkipped names the folders in which there may be generated files that
// were not seen.
func (c *cli) hintSkipped(jobs []job) {
	for _, j := range jobs {
		for _, folder := range j.plan.Skipped {
			c.hint(fmt.Sprintf("the folder %s cannot be read: nothing in it was looked at, and files that no declaration makes any more may stay", folder))
		}
	}
}

// typeCheck makes sure that what is written compiles. A module that does not
// reach Freehold yet cannot be checked, and that is no reason not to generate.
func (c *cli) typeCheck(ctx context.Context, j job) error {
	err := j.module.Check(ctx, j.plan)
	if errors.Is(err, tree.ErrUnchecked) {
		c.hint(err.Error())
		return nil
	}
	return ofModule(err)
}

// A genReport is what generating did for one owners.yaml, by slash paths
// relative to the module root.
type genReport struct {
	Owners  string   `json:"owners"`
	Written []string `json:"written"`
	Removed []string `json:"removed"`
	Kept    []string `json:"kept"`
}

func (j job) report() genReport {
	r := genReport{Owners: j.file, Written: []string{}, Removed: []string{}, Kept: append([]string{}, j.plan.Keep...)}
	for _, change := range j.plan.Write {
		r.Written = append(r.Written, change.Path)
	}
	for _, file := range j.plan.Remove {
		r.Removed = append(r.Removed, file.Path)
	}
	return r
}

func (r genReport) text() string {
	var b strings.Builder
	for _, path := range r.Written {
		fmt.Fprintf(&b, "wrote %s\n", display.Escape(path))
	}
	for _, path := range r.Removed {
		fmt.Fprintf(&b, "removed %s\n", display.Escape(path))
	}
	if len(r.Written)+len(r.Removed) == 0 {
		fmt.Fprintf(&b, "unchanged: the %d files of %s\n", len(r.Kept), display.Escape(r.Owners))
	}
	return b.String()
}

// modules returns the modules of jobs, each once.
func modules(jobs []job) []*tree.Module {
	var all []*tree.Module
	for _, j := range jobs {
		if !slices.ContainsFunc(all, func(m *tree.Module) bool { return m.Dir == j.module.Dir }) {
			all = append(all, j.module)
		}
	}
	return all
}
