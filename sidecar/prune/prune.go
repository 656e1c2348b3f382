package prune

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/store"
	"golang.org/x/sync/errgroup"
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
	// Progress is called after each of the instances, by one goroutine at a time,
	// with how many have been inspected and how many there are. If nil, no call.
	Progress func(done, total int)
}

// Run prunes the directory dir: all instances of a state with instances, or the
// leftovers in any other state. It takes locks without waiting and holds them
// only while it inspects one instance. A killed Run is completed by the next.
// Any number may run at once. As many instances are inspected at once as there are
// processors.
//
// The report is nil if dir cannot be listed. If the report is not nil, an error is
// the cause of ctx, or that of a state without instances.
func Run(ctx context.Context, dir string, o *Options) (*Report, error) {
	if o == nil {
		o = &Options{}
	}
	path, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	p := &pruning{Options: *o, report: &Report{Dir: path}}
	if p.Clock == nil {
		p.Clock = time.Now
	}
	found, err := statedir.Instances(path)
	if errors.Is(err, store.NoInstances) {
		d, err := statedir.Open(path)
		if err != nil {
			return p.report, err
		}
		defer d.Close()
		return p.report, p.leftovers(d, "")
	}
	if err != nil {
		return nil, err
	}
	if p.Instance != "" {
		found = slices.DeleteFunc(found, func(i statedir.Instance) bool { return i.ID != p.Instance })
	} else if err := p.beside(found); err != nil {
		return nil, err
	}
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, i := range found {
		g.Go(func() error {
			if ctx.Err() == nil {
				p.instance(i)
				p.inspected(len(found))
			}
			return context.Cause(ctx)
		})
	}
	err = g.Wait()
	slices.SortStableFunc(p.report.Items, func(a, b Item) int { return strings.Compare(a.Path, b.Path) })
	return p.report, err
}

// A pruning is one Run.
type pruning struct {
	Options
	mu     sync.Mutex
	done   int // instances
	report *Report
}

// inspected counts one more instance.
func (p *pruning) inspected(total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done++; p.Progress != nil {
		p.Progress(p.done, total)
	}
}

func (p *pruning) note(i Item) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.report.Items = append(p.report.Items, i)
}

func (p *pruning) removed() string {
	if p.DryRun {
		return WouldRemove
	}
	return Removed
}

// leftovers removes the leftovers of killed writers from a state in use.
func (p *pruning) leftovers(d *statedir.Dir, id string) error {
	m, err := d.Manifest()
	if err != nil {
		return err
	}
	entries, err := store.On(d).Scan(m)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Role == statedir.StagedFile {
			p.remove(e, d.Path(), id, func() (bool, error) { return d.RemoveOrphan(m, e) })
		}
	}
	return nil
}

// remove removes and reports a staged file or directory of a killed process.
func (p *pruning) remove(e statedir.Entry, dir, id string, remove func() (bool, error)) {
	item := Item{Kind: "litter", Path: filepath.Join(dir, e.Name), Instance: id, Action: p.removed(), Reason: "left", Says: "a killed process left it"}
	if !e.Intact.IsZero() {
		item.Action, item.Reason, item.Says = Kept, "intact", fmt.Sprintf("it is a whole sidecar of owner %s at version %v, and the present one cannot be used", e.Owner, e.Intact)
		p.note(item)
		return
	}
	removed, err := e.Orphaned, e.Err
	if removed && !p.DryRun {
		removed, err = remove()
	}
	switch {
	case err != nil:
		item = item.because(Failed, err)
	case !removed:
		if _, err := os.Lstat(item.Path); errors.Is(err, fs.ErrNotExist) {
			return // finished, or removed by another process
		}
		item.Action, item.Reason, item.Says = Kept, busy, "a live process may be writing it"
	}
	p.note(item)
}

// beside handles everything in the directory except the instances.
func (p *pruning) beside(found []statedir.Instance) error {
	dir := p.report.Dir
	left, err := statedir.Leftovers(dir)
	if err != nil {
		return err
	}
	for _, e := range left {
		p.remove(e, dir, "", func() (bool, error) { return statedir.RemoveLeftover(dir, e.Name) })
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	instance := make(map[string]bool, len(found))
	for _, i := range found {
		instance[i.Name] = true
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !instance[e.Name()] && !strings.HasPrefix(e.Name(), ".freehold") && !came(path) {
			p.note(Item{Kind: "other", Path: path, Action: Kept, Reason: "not an instance", Says: "it is no instance"})
		}
	}
	return nil
}

// came reports whether path came or went since the instances were listed.
func came(path string) bool {
	_, gone := os.Lstat(path)
	_, err := os.Lstat(filepath.Join(path, ".freehold"))
	return errors.Is(gone, fs.ErrNotExist) || err == nil && schema.ValidInstanceDir(filepath.Base(path))
}

// instance inspects one instance: first without locks, to leave instances in
// use alone, then with all of them.
func (p *pruning) instance(i statedir.Instance) {
	item := Item{Kind: Instance, Path: filepath.Join(p.report.Dir, i.Name), Instance: i.ID, Action: Kept}
	if i.Err != nil {
		p.note(item.because(Kept, i.Err))
		return
	}
	d, err := statedir.OpenInstance(p.report.Dir, i.ID)
	if err != nil {
		if !errors.Is(err, store.NoState) { // else another prune removed it
			p.note(item.because(Kept, err))
		}
		return
	}
	defer d.Close()
	if item = p.judge(item, d); item.Reason == old {
		item = p.seize(item, d)
	}
	if moved := d.Unmoved(); item.WantsALook() && errors.Is(moved, store.Moved) {
		item = item.because(Kept, moved) // another prune was removing it
	}
	p.note(item)
	if item.Action != Kept || item.WantsALook() {
		return
	}
	if err := p.leftovers(d, i.ID); err != nil {
		p.note(Item{Kind: "litter", Path: item.Path, Instance: i.ID}.because(Failed, err))
	}
}

// seize takes all locks of an old instance, inspects it again, and removes it.
func (p *pruning) seize(item Item, d *statedir.Dir) Item {
	s, err := d.LockExclusive()
	if err != nil {
		return item.because(Kept, err)
	}
	defer s.Close()
	if p.DryRun { // nothing is lost if a process has written meanwhile
		item.Action = p.removed()
		return item
	}
	item = p.judge(item, d)
	switch {
	case item.Reason == young:
		item.Reason, item.Says = active, "it was written while this looked at it"
		return item
	case item.Reason != old:
		return item
	}
	item.Action = p.removed()
	if err := s.Discard(); err != nil {
		return item.because(Failed, err)
	}
	return item
}
