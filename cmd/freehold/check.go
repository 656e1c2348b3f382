package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/gen"
	"github.com/freehold-dev/freehold/gen/leak"
	"github.com/freehold-dev/freehold/gen/tree"
)

// A checkReport is what `gen --check` found.
type checkReport struct {
	States []driftReport `json:"states"`
	Leaks  []string      `json:"leaks"`
}

// A driftReport is how the generated files of one owners.yaml differ from what
// it generates, by slash paths relative to the module root.
type driftReport struct {
	Owners   string   `json:"owners"`
	Missing  []string `json:"missing"`
	Changed  []string `json:"changed"`
	Orphaned []string `json:"orphaned"`
	Diff     string   `json:"diff"`
}

// check reports drift and leaks, and writes nothing.
func (c *cli) check(ctx context.Context, jobs []job) error {
	c.hintSkipped(jobs)
	r := checkReport{States: []driftReport{}, Leaks: []string{}}
	for _, j := range jobs {
		r.States = append(r.States, j.drift())
	}
	for _, m := range modules(jobs) {
		leaks, err := leaks(ctx, m, jobs)
		if err != nil {
			// Code that does not load cannot be looked into; whoever builds
			// it will hear why. Drift is an answer all the same.
			c.hint(fmt.Sprintf("the exported API was not checked: %v", err))
		}
		r.Leaks = append(r.Leaks, leaks...)
	}
	if err := c.printCheck(r); err != nil {
		return err
	}
	return r.verdict()
}

func (j job) drift() driftReport {
	r := driftReport{Owners: j.file, Missing: []string{}, Changed: []string{}, Orphaned: []string{}, Diff: string(j.plan.Diff())}
	for _, change := range j.plan.Write {
		if change.Old == nil {
			r.Missing = append(r.Missing, change.Path)
		} else {
			r.Changed = append(r.Changed, change.Path)
		}
	}
	for _, file := range j.plan.Remove {
		r.Orphaned = append(r.Orphaned, file.Path)
	}
	return r
}

// leaks looks for exported API in m that hands out a writer.
func leaks(ctx context.Context, m *tree.Module, jobs []job) ([]string, error) {
	var writers []string
	for _, j := range jobs {
		if j.module.Dir == m.Dir {
			writers = append(writers, gen.WriterPackages(j.source, m.Path)...)
		}
	}
	return leak.Load(ctx, m.Dir, m.Path, func(path string) bool { return slices.Contains(writers, path) })
}

func (c *cli) printCheck(r checkReport) error {
	if c.json {
		return c.printJSON(r)
	}
	var b strings.Builder
	for _, s := range r.States {
		for _, list := range []struct {
			what  string
			paths []string
		}{{"missing", s.Missing}, {"changed", s.Changed}, {"orphaned", s.Orphaned}} {
			for _, path := range list.paths {
				fmt.Fprintf(&b, "%s %s\n", list.what, display.Escape(path))
			}
		}
		for line := range strings.Lines(s.Diff) {
			text, end := strings.CutSuffix(line, "\n")
			b.WriteString(visibleLine(text))
			if end {
				b.WriteByte('\n')
			}
		}
	}
	for _, text := range r.Leaks {
		fmt.Fprintln(&b, display.Escape(text))
	}
	return c.print(b.String())
}

// visibleLine is visible for source code, which may have tabs.
func visibleLine(line string) string {
	parts := strings.Split(line, "\t")
	for i, part := range parts {
		parts[i] = display.Escape(part)
	}
	return strings.Join(parts, "\t")
}

// verdict returns the answer as an error, or nil if there is nothing to say.
func (r checkReport) verdict() error {
	differ := 0
	for _, s := range r.States {
		differ += len(s.Missing) + len(s.Changed) + len(s.Orphaned)
	}
	switch {
	case differ > 0:
		return failure.Hint(
			failure.As(fmt.Errorf("%s from what is declared", display.Count(differ, "generated file differs", "generated files differ")), failure.Negative),
			"run `freehold gen`",
		)
	case len(r.Leaks) > 0:
		return failure.As(fmt.Errorf("%s out what only an owner's programs may have: give other packages verbs of the home instead", display.Count(len(r.Leaks), "exported name hands", "exported names hand")), failure.Negative)
	}
	return nil
}
