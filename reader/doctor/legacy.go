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

// legacy compares the state with the files that it was adopted from, if they are
// there still.
func (c *check) legacy(ctx context.Context) error {
	files := []string{c.Legacy}
	if c.Legacy == "" {
		if files = nil; c.Around {
			files = c.adopted()
		}
	}
	for _, file := range files {
		if err := c.compare(ctx, file); err != nil {
			return err
		}
	}
	return nil
}

// adopted returns the possible paths of the files that the state was adopted
// from.
func (c *check) adopted() (files []string) {
	for _, o := range c.view.Declaration().OwnerNames() {
		for _, field := range c.view.Declaration().Owners[o].FieldNames() {
			from, _ := c.view.Field(field).Provenance()
			name, ok := adopt.Source(from.Program)
			if !ok || name != filepath.Base(name) {
				continue
			}
			for _, dir := range []string{c.path, filepath.Dir(c.path)} {
				if file := filepath.Join(dir, name); !slices.Contains(files, file) {
					files = append(files, file)
				}
			}
		}
	}
	return files
}

// compare adds findings of the values in a legacy file that the state lacks, or
// that another program has changed since the adoption.
func (c *check) compare(ctx context.Context, file string) error {
	path, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	stop := byHand("stop the program that still writes it")
	plan, err := c.plan(ctx, path)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, store.Missing):
		return nil
	case errors.Is(err, store.Busy):
		c.find("legacy-moved", path, err.Error(), stop)
		return nil
	case err != nil:
		c.find("legacy-bad", path, err.Error(), byHand("mend the file, or remove it if no program needs it"))
		return nil
	}
	report, _ := plan.Apply(ctx, c.path, &adopt.Options{DryRun: true}) // the errors are those of owners, of which other findings tell
	for _, o := range report.Owners {
		for _, i := range o.Imported {
			f := c.find("legacy-open", path, fmt.Sprintf("the value at %s is not in the state yet", i.Pointer), store.By("adopt", path))
			f.Owner, f.Field = o.Owner, i.Field
		}
		for _, k := range o.Kept {
			if from, _ := adopt.Source(k.Program); from != filepath.Base(path) {
				continue // a program of the state has written it since
			}
			f := c.find("legacy-moved", path, fmt.Sprintf("the value at %s was adopted and is another one now: somebody still writes the file", k.Pointer), stop)
			f.Owner, f.Field = o.Owner, k.Field
		}
	}
	return nil
}

// plan returns the plan of an adoption of the file.
func (c *check) plan(ctx context.Context, path string) (*adopt.Plan, error) {
	legacy, err := adopt.Read(ctx, path)
	if err != nil {
		return nil, err
	}
	d := c.view.Declaration()
	if c.Declaration != nil {
		if more, err := adopt.Extend(d, c.Declaration); err == nil {
			d = more
		}
	}
	return legacy.Plan(d)
}
