package ownersfile

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/gen"
	"github.com/freehold-dev/freehold/gen/leak"
	"github.com/freehold-dev/freehold/gen/tree"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// A checkReport is the answer of `gen --check`.
type checkReport struct {
	States []Drift  `json:"states"`
	Leaks  []string `json:"leaks"`
}

// A Drift lists the generated files of one owners.yaml that differ from what it
// generates, by slash paths relative to the module root.
type Drift struct {
	Owners   string   `json:"owners"`
	Missing  []string `json:"missing"`
	Changed  []string `json:"changed"`
	Orphaned []string `json:"orphaned"`
	Diff     string   `json:"diff"`
}

// FindDrift returns the drift of one owners.yaml.
func FindDrift(file string) (Drift, error) {
	jobs, err := plan([]string{file})
	if err != nil {
		return Drift{}, err
	}
	return jobs[0].drift(), nil
}

// compare reports drift and leaks, and writes nothing.
func compare(ctx context.Context, c *cli.Call, jobs []job) error {
	noteSkipped(c, jobs)
	r := checkReport{States: []Drift{}, Leaks: []string{}}
	for _, j := range jobs {
		r.States = append(r.States, j.drift())
	}
	for _, m := range modules(jobs) {
		leaks, err := leaks(ctx, m, jobs)
		if err != nil { // the code does not load, as every build of it will say; drift is an answer all the same
			c.Say("hint", fmt.Sprintf("the exported API was not checked: %v", err))
		}
		r.Leaks = append(r.Leaks, leaks...)
	}
	if err := c.Answer(r, r.text()); err != nil {
		return err
	}
	return r.verdict(jobs)
}

func (j job) drift() Drift {
	d := Drift{Owners: j.file, Missing: []string{}, Changed: []string{}, Orphaned: []string{}, Diff: string(j.plan.Diff())}
	for _, change := range j.plan.Write {
		if change.Old == nil {
			d.Missing = append(d.Missing, change.Path)
		} else {
			d.Changed = append(d.Changed, change.Path)
		}
	}
	for _, file := range j.plan.Remove {
		d.Orphaned = append(d.Orphaned, file.Path)
	}
	return d
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

func (r checkReport) text() string {
	var b strings.Builder
	for _, d := range r.States {
		b.WriteString(paths("missing", d.Missing) + paths("changed", d.Changed) + paths("orphaned", d.Orphaned))
		for line := range strings.Lines(d.Diff) {
			b.WriteString(escapeSource(line))
		}
	}
	for _, text := range r.Leaks {
		b.WriteString(display.Escape(text) + "\n")
	}
	return b.String()
}

// escapeSource escapes a line of source code but for its tabs and its end.
func escapeSource(line string) string {
	text, end := strings.CutSuffix(line, "\n")
	parts := strings.Split(text, "\t")
	for i, part := range parts {
		parts[i] = display.Escape(part)
	}
	text = strings.Join(parts, "\t")
	if end {
		text += "\n"
	}
	return text
}

// verdict returns the negative answer, or nil if nothing differs and nothing leaks.
func (r checkReport) verdict(jobs []job) error {
	differ := 0
	for _, d := range r.States {
		differ += len(d.Missing) + len(d.Changed) + len(d.Orphaned)
	}
	switch {
	case differ > 0:
		var files []string
		for _, j := range jobs {
			files = append(files, j.file)
		}
		return store.WithRemedy(
			failure.As(fmt.Errorf("%s from what is declared", display.Count(differ, "generated file differs", "generated files differ")), failure.Negative),
			store.Remedy{Verb: "gen", Args: files},
		)
	case len(r.Leaks) > 0:
		return failure.As(fmt.Errorf("%s out a writer that belongs to its owner's programs: give other packages verbs of the home instead", display.Count(len(r.Leaks), "exported name hands", "exported names hand")), failure.Negative)
	}
	return nil
}
