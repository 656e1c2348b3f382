package prune

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// Options for [Run]. The zero value, and a nil pointer, remove no instance.
type Options struct {
	// OlderThan is the least time since the last write of a removed instance. If
	// zero, only leftovers of killed processes are removed.
	OlderThan time.Duration
	// Instance is the id of the only instance to prune. If empty, all.
	Instance string
	// DryRun takes the same decisions and removes nothing.
	DryRun bool
	// Clock tells the current time. If nil, [time.Now].
	Clock func() time.Time
}

// Run prunes the directory dir: all instances of a state with instances, or the
// leftovers in any other state. It takes locks without waiting and holds them
// only while it inspects one instance. A killed Run is completed by the next.
// Any number may run at once.
//
// The report is nil if dir cannot be listed; the error is then that of
// [store.Instances]. Otherwise an error is the cause of ctx.
func Run(ctx context.Context, dir string, o *Options) (*Report, error) {
	if o == nil {
		o = &Options{}
	}
	path, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	p := &pruning{Options: *o, report: &Report{Dir: path, DryRun: o.DryRun}}
	if p.Clock == nil {
		p.Clock = time.Now
	}
	found, err := store.Instances(path)
	if errors.Is(err, store.NoInstances) {
		return p.report, p.state(path)
	}
	if err != nil {
		return nil, err
	}
	if p.Instance != "" {
		found = slices.DeleteFunc(found, func(i store.Instance) bool { return i.ID != p.Instance })
	} else if err := p.beside(found); err != nil {
		return nil, err
	}
	for _, i := range found {
		if ctx.Err() != nil {
			return p.report, context.Cause(ctx)
		}
		p.instance(i)
	}
	slices.SortStableFunc(p.report.Items, func(a, b Item) int { return strings.Compare(a.Path, b.Path) })
	return p.report, nil
}

// A pruning is one Run.
type pruning struct {
	Options
	report *Report
}

func (p *pruning) note(i Item) { p.report.Items = append(p.report.Items, i) }

// removed returns the action for a removal.
func (p *pruning) removed() Action {
	if p.DryRun {
		return WouldRemove
	}
	return Removed
}

// state removes the leftovers in one state.
func (p *pruning) state(path string) error {
	d, err := store.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	return p.litter(d, "")
}

// litter removes the leftovers of killed writers from a state in use.
func (p *pruning) litter(d *store.Store, id string) error {
	m, err := d.Manifest()
	if err != nil {
		return err
	}
	entries, err := d.Scan(m)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Role == store.StagedFile {
			p.remove(e, d.Path(), id, func() (bool, error) { return d.RemoveOrphan(m, e) })
		}
	}
	return nil
}

// remove removes and reports a staged file or directory of a killed process.
func (p *pruning) remove(e store.Entry, dir, id string, remove func() (bool, error)) {
	item := Item{Kind: Litter, Path: filepath.Join(dir, e.Name), Instance: id, Action: p.removed(), Reason: Left, Says: "a killed process left it"}
	removed, err := e.Orphaned, e.Err
	if removed && !p.DryRun {
		removed, err = remove()
	}
	switch {
	case err != nil:
		item = item.because(err)
		item.Action = Failed
	case !removed:
		if _, err := os.Lstat(item.Path); errors.Is(err, fs.ErrNotExist) {
			return // finished, or removed by another process
		}
		item.Action, item.Reason, item.Says = Kept, Busy, "a live process may be writing it"
	}
	p.note(item)
}

// beside handles everything in the directory except the instances.
func (p *pruning) beside(found []store.Instance) error {
	dir := p.report.Dir
	left, err := store.Leftovers(dir)
	if err != nil {
		return err
	}
	for _, e := range left {
		p.remove(e, dir, "", func() (bool, error) { return store.RemoveLeftover(dir, e.Name) })
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	instances := make(map[string]bool, len(found))
	for _, i := range found {
		instances[i.Name] = true
	}
	for _, e := range entries {
		if instances[e.Name()] || strings.HasPrefix(e.Name(), ".freehold") || p.came(e.Name()) {
			continue
		}
		p.note(Item{Kind: Other, Path: filepath.Join(dir, e.Name()), Action: Kept, Reason: NotOurs, Says: "it is no instance"})
	}
	return nil
}

// came reports whether name was created or removed since the instances were
// listed.
func (p *pruning) came(name string) bool {
	path := filepath.Join(p.report.Dir, name)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return true
	}
	_, err := os.Lstat(filepath.Join(path, ".freehold"))
	return err == nil && schema.ValidInstanceDir(name)
}

// instance inspects one instance: first without locks, to leave instances in
// use alone, then with all of them.
func (p *pruning) instance(i store.Instance) {
	item := Item{Kind: Instance, Path: filepath.Join(p.report.Dir, i.Name), Instance: i.ID, Action: Kept}
	if i.Err != nil {
		p.note(item.because(i.Err))
		return
	}
	d, err := store.OpenInstance(p.report.Dir, i.ID)
	if errors.Is(err, store.NoState) {
		return // another prune removed it
	}
	if err != nil {
		p.note(item.because(err))
		return
	}
	defer d.Close()
	if item = p.judge(item, d); item.Reason == Old {
		item = p.seize(item, d)
	}
	if moved := d.Unmoved(); item.WantsALook() && errors.Is(moved, store.Moved) {
		item = item.because(moved) // another prune was removing it
	}
	p.note(item)
	if item.Action != Kept || item.WantsALook() {
		return
	}
	if err := p.litter(d, i.ID); err != nil {
		failed := Item{Kind: Litter, Path: item.Path, Instance: i.ID}.because(err)
		failed.Action = Failed
		p.note(failed)
	}
}

// seize takes all locks of an old instance, inspects it again, and removes it.
func (p *pruning) seize(item Item, d *store.Store) Item {
	s, err := d.LockExclusive()
	if err != nil {
		return item.because(err)
	}
	defer s.Close()
	again := p.judge(item, d)
	switch {
	case again.Reason != Old && again.Reason != Young:
		return again
	case again.Reason == Young:
		again.Reason, again.Says = Active, "it was written while this looked at it"
		return again
	}
	again.Action = p.removed()
	if p.DryRun {
		return again
	}
	if err := s.Discard(); err != nil {
		again = again.because(err)
		again.Action = Failed
	}
	return again
}

// because returns the item, kept because of err.
func (i Item) because(err error) Item {
	i.Action, i.Reason, i.Says, i.Remedy = Kept, why(err), err.Error(), store.RemedyOf(err)
	return i
}

// why returns the reason for an error.
func why(err error) Reason {
	switch {
	case errors.Is(err, store.Busy):
		return Busy
	case errors.Is(err, store.Unsafe), errors.Is(err, fs.ErrPermission):
		return Unsafe
	case errors.Is(err, store.Moved), errors.Is(err, fs.ErrNotExist) && !errors.Is(err, store.ErrInvalidManifest):
		return Active
	case errors.As(err, new(*fs.PathError)) && !errors.Is(err, store.ErrInvalidManifest) && !errors.Is(err, store.Lost) && !errors.Is(err, store.ErrIrregular):
		return IOFailed
	}
	return Damaged
}

// since returns an age in words.
func since(age time.Duration) string {
	const day = 24 * time.Hour
	if age >= 2*day {
		return fmt.Sprintf("%d days ago", age/day)
	}
	return fmt.Sprintf("%v ago", age.Round(time.Second))
}
