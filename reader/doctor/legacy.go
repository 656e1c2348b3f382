package doctor

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/freehold-dev/freehold/sidecar/adopt"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// legacy compares the files that the state was adopted from with it, for as long
// as they are there.
func (p *patient) legacy(ctx context.Context) error {
	files := []string{p.Legacy}
	if p.Legacy == "" {
		if files = nil; p.Around {
			files = p.adopted()
		}
	}
	for _, file := range files {
		if err := p.compare(ctx, file); err != nil {
			return err
		}
	}
	return nil
}

// adopted returns the paths where the files may be that the state says it was
// adopted from.
func (p *patient) adopted() (files []string) {
	for _, o := range p.view.Declaration().OwnerNames() {
		for _, field := range p.view.Declaration().Owners[o].FieldNames() {
			from, _ := p.view.Field(field).Provenance()
			name, ok := adopt.Source(from.Program)
			if !ok || name != filepath.Base(name) {
				continue
			}
			for _, dir := range []string{p.path, filepath.Dir(p.path)} {
				if file := filepath.Join(dir, name); !slices.Contains(files, file) {
					files = append(files, file)
				}
			}
		}
	}
	return files
}

func (p *patient) compare(ctx context.Context, file string) error {
	path, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	plan, err := p.plan(ctx, path)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, store.Missing):
		return nil
	case errors.Is(err, store.Busy):
		p.find(LegacyMoved, path, err.Error(), words("stop the program that still writes it"))
		return nil
	case err != nil:
		p.find(LegacyBad, path, err.Error(), words("mend the file, or remove it if nobody needs it"))
		return nil
	}
	report, _ := plan.Apply(ctx, p.path, &adopt.Options{DryRun: true}) // the errors are those of owners, which other findings tell
	for _, o := range report.Owners {
		for _, i := range o.Imported {
			f := p.find(LegacyOpen, path, fmt.Sprintf("the value at %s is not in the state yet", i.Pointer), p.run("adopt", path))
			f.Owner, f.Field = o.Owner, i.Field
		}
		for _, k := range o.Kept {
			if from, _ := adopt.Source(k.Program); from != filepath.Base(path) {
				continue // the state went on by itself
			}
			f := p.find(LegacyMoved, path, fmt.Sprintf("the value at %s was adopted and is another one now: somebody still writes the file", k.Pointer), words("stop the program that still writes it"))
			f.Owner, f.Field = o.Owner, k.Field
		}
	}
	return nil
}

// plan returns the plan of an adoption of the file.
func (p *patient) plan(ctx context.Context, path string) (*adopt.Plan, error) {
	legacy, err := adopt.Read(ctx, path)
	if err != nil {
		return nil, err
	}
	d := p.view.Declaration()
	if p.Declaration != nil {
		if more, err := adopt.Extend(d, p.Declaration); err == nil {
			d = more
		}
	}
	return legacy.Plan(d)
}
