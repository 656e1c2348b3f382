package ownersfile

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/gen"
	"github.com/freehold-dev/freehold/gen/leak"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// A checkReport is the answer of `gen --check`.
type checkReport struct {
	States []Drift  `json:"states"`
	Leaks  []string `json:"leaks"`
}

// A Drift lists the generated files of one owners.yaml that differ from its
// declaration, by slash paths relative to the module root.
type Drift struct {
	Owners   string   `json:"owners"`
	Missing  []string `json:"missing"`
	Changed  []string `json:"changed"`
	Orphaned []string `json:"orphaned"`
	Stranded []string `json:"stranded,omitempty"` // as in a genReport
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
	ownerless := noteStranded(c, jobs)
	var r checkReport
	writers := map[string][]string{} // by module
	for _, j := range jobs {
		r.States = append(r.States, j.drift())
		writers[j.module.Dir] = append(writers[j.module.Dir], gen.WriterPackages(j.source, j.module.Path)...)
	}
	for _, j := range jobs {
		mine, ok := writers[j.module.Dir]
		if !ok {
			continue
		}
		delete(writers, j.module.Dir)
		if err := j.module.Loadable(); err != nil {
			return ofModule(err)
		}
		leaks, err := leak.Load(ctx, j.module.Dir, j.module.Path, func(path string) bool { return slices.Contains(mine, path) })
		if err != nil { // the code does not load, as every build of it will say; drift is an answer all the same
			c.Say("hint", fmt.Sprintf("the exported API was not checked: %v", err))
		}
		r.Leaks = append(r.Leaks, leaks...)
	}
	if err := c.Answer(r, r.text()); err != nil {
		return err
	}
	if err := r.verdict(jobs); err != nil || ownerless == 0 {
		return err
	}
	return failure.As(fmt.Errorf("no owners.yaml declares the owner of %s: remove the program, or declare its owner again", display.Count(ownerless, "program", "programs")), failure.Negative)
}

func (j job) drift() Drift {
	d := Drift{Owners: j.file, Diff: string(j.plan.Diff()), Stranded: j.report().Stranded}
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

func (r checkReport) text() string {
	var b strings.Builder
	for _, d := range r.States {
		b.WriteString(paths("missing", d.Missing) + paths("changed", d.Changed) + paths("orphaned", d.Orphaned))
		b.WriteString(escapeSource(d.Diff))
	}
	for _, text := range r.Leaks {
		b.WriteString(display.Escape(text) + "\n")
	}
	return b.String()
}

// escapeSource escapes source code but for its tabs and line ends.
func escapeSource(text string) string {
	return regexp.MustCompile(`[^\t\n]+`).ReplaceAllStringFunc(text, display.Escape)
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
			failure.As(fmt.Errorf("%s from the declaration", display.Count(differ, "generated file differs", "generated files differ")), failure.Negative),
			store.Remedy{Verb: "gen", Args: files},
		)
	case len(r.Leaks) > 0:
		return failure.As(fmt.Errorf("%s out a writer that belongs to its owner's programs: give other packages verbs of the home instead", display.Count(len(r.Leaks), "exported name hands", "exported names hand")), failure.Negative)
	}
	return nil
}
