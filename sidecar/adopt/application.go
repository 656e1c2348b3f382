package adopt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/go-json-experiment/json/jsontext"
)

// Options for [Plan.Apply]. The zero value, and a nil pointer, are ready to use.
type Options struct {
	// Wait bounds the wait for each owner's lock and lease. If zero, the longest
	// wait that an owner of the plan declares; if negative, no wait.
	Wait time.Duration
	// DryRun decides under the owners' locks and writes nothing. An owner gets the
	// Err of a real run, if that is a held lock with its imports.
	DryRun bool
	// Clock tells the time for provenance. If nil, [time.Now].
	Clock func() time.Time
}

// A Report lists the results of Apply, or in a dry run the expected ones.
type Report struct {
	// Owners with a part in the plan, in the order of their commits.
	Owners []OwnerReport
	// Changed are the places of the legacy file that changed during Apply.
	Changed []jsontext.Pointer
}

// An OwnerReport is the result for one owner's part.
type OwnerReport struct {
	Owner string
	// Outcome of the commit; [sidecar.NotApplied] in a dry run or with an Err.
	Outcome sidecar.Outcome
	// Version of the sidecar that holds the values, or zero.
	Version sidecar.Version
	// Imported values, in the plan's order.
	Imported []Item
	// Kept are the values that gave way to the state's own.
	Kept []Item
	// Same counts the values that the state had already.
	Same int
	// Err is the reason why nothing of the part was, or would be, imported.
	Err error
}

// Apply commits the plan to the state directory dir, one commit per owner.
// Afterwards it compares the legacy file with the planned text.
//
// A field that was ever written or cleared in the state stays as it is; a max
// or min still moves on to the file's value. A set or a map receives its
// missing elements once. A once field is claimed with the file's time. One
// owner's failure does not keep the others from their commits.
//
// The report is never nil. The error wraps the errors of all owners, as
// [sidecar.Open] and [sidecar.Writer.Update] document them, and
// [store.Busy] if the legacy file changed during Apply.
func (p *Plan) Apply(ctx context.Context, dir string, o *Options) (*Report, error) {
	if o == nil {
		o = &Options{}
	}
	report := &Report{}
	d, err := statedir.Open(dir)
	if err != nil {
		return report, err
	}
	defer d.Close()
	a := &application{plan: p, dir: d, store: store.On(d), o: *o, failed: map[string]error{}}
	if a.manifest, err = d.Manifest(); err != nil {
		return report, err
	}
	if a.o.Wait == 0 {
		a.o.Wait = cmp.Or(p.longestWait(), -1)
	}
	var errs []error
	for _, part := range p.parts {
		r := a.part(ctx, part)
		if r.Err != nil {
			a.failed[part.owner] = r.Err
			errs = append(errs, fmt.Errorf("owner %s: %w", part.owner, r.Err))
		}
		report.Owners = append(report.Owners, r)
	}
	if !o.DryRun {
		report.Changed, err = p.legacy.changed()
		errs = append(errs, err)
	}
	return report, errors.Join(errs...)
}

// longestWait returns the longest wait among the plan's owners. All parts use it,
// so that none gives up while one holds up the rest.
func (p *Plan) longestWait() time.Duration {
	owners := make([]string, len(p.parts))
	for i, part := range p.parts {
		owners[i] = part.owner
	}
	return p.declared.LongestWait(owners)
}

// adopting is the prefix of the program name in the provenance.
const adopting = "adopt "

// Source returns the legacy file's name from a provenance's program name. It
// returns false if [Plan.Apply] did not write the value.
func Source(program string) (file string, ok bool) { return strings.CutPrefix(program, adopting) }

// An application is one call of Apply.
type application struct {
	dir      *statedir.Dir
	store    *store.Store
	manifest *schema.Manifest
	plan     *Plan
	o        Options
	failed   map[string]error // by owner
}

// mostTries bounds the attempts at a part whose keys change during its commit.
const mostTries = 8

func (a *application) part(ctx context.Context, part part) OwnerReport {
	for try := 1; ; try++ {
		d, err := a.tryPart(ctx, part)
		switch {
		case err == nil:
			return d.report
		case try == mostTries || !errors.Is(err, store.Conflict):
			return OwnerReport{Owner: part.owner, Err: err}
		}
	}
}

// tryPart decides first without a lock: a part that is there already needs
// neither the owner's lock nor its lease.
func (a *application) tryPart(ctx context.Context, part part) (*decision, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	keys, err := a.keys(part)
	if err != nil {
		return nil, err
	}
	d, err := a.decide(part, keys)
	switch {
	case err != nil || d.idle():
		return d, err
	case !a.o.DryRun:
		return a.commit(ctx, part, keys)
	}
	release, err := a.lock(ctx, part.owner)
	defer release()
	if err == nil {
		d, err = a.decide(part, keys)
		return d, err
	}
	d.report.Err = fmt.Errorf("would be refused: %w", err)
	return d, nil
}

// lock takes the locks of owner for a dry run, the fence first: a process that
// opens the owner meanwhile waits there. An owner that is new to the state has no
// locks.
func (a *application) lock(ctx context.Context, owner string) (release func(), err error) {
	var held []*statedir.Lock
	release = func() {
		for _, l := range held {
			l.Close()
		}
	}
	names := []string{statedir.OwnerLock(owner)}
	switch declared, ok := a.manifest.Declaration.Owners[owner]; {
	case !ok:
		return release, nil
	case declared.EffectiveMode() == schema.Exclusive:
		names = []string{statedir.OwnerFence(owner), statedir.OwnerLease(owner), statedir.OwnerLock(owner)}
	}
	for _, name := range names {
		l, err := a.dir.OpenLock(a.manifest, name)
		if err != nil {
			return release, err
		}
		held = append(held, l)
		if err := l.Acquire(ctx, a.o.Wait); err != nil {
			return release, err
		}
	}
	return release, a.dir.Writable()
}

// commit decides again under the owner's lock, commits, and then claims.
func (a *application) commit(ctx context.Context, part part, keys map[string]*keeper) (d *decision, err error) {
	w, err := sidecar.Open(ctx, a.dir.Path(), a.plan.declared, part.owner, &sidecar.Options{
		Program: adopting + a.plan.legacy.name(), Wait: a.o.Wait, Bounded: true, Clock: a.o.Clock,
	})
	if err != nil {
		return nil, err
	}
	defer w.Close()
	commit, err := w.Update(ctx, func(tx *sidecar.Tx) (err error) {
		_ = tx.Version() // fails an Update that would be deferred, without the lock
		if d, err = a.decide(part, keys); err != nil {
			return err
		}
		for _, op := range d.ops {
			tx.Apply(op)
		}
		for _, field := range d.marks {
			tx.Adopt(field)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	d.report.Outcome, d.report.Version = commit.Outcome, commit.Version
	return d, d.claim(ctx, w)
}

func (d *decision) claim(ctx context.Context, w *sidecar.Writer) error {
	for _, i := range d.claims {
		at, err := schema.Time.Decode(i.Value)
		if err != nil {
			return err
		}
		won, by, err := w.ClaimAt(ctx, i.Field, at)
		if err != nil {
			return err
		}
		if won {
			d.report.Outcome = sidecar.Applied
			continue
		}
		d.report.Imported = slices.DeleteFunc(d.report.Imported, func(other Item) bool { return other.Field == i.Field })
		d.loses(i, by)
	}
	return nil
}

// A keeper is the owner that decides the keys of a map, for the other owners.
type keeper struct {
	*store.Owner
	field   string
	adopted sidecar.Version // when the legacy file's keys were imported; or zero
	dryRun  bool
}

// keys reads the other owners that decide the keys of the part's maps, by field.
func (a *application) keys(part part) (map[string]*keeper, error) {
	keys := map[string]*keeper{}
	for _, v := range part.values {
		name, _ := a.plan.declared.OwnerOf(v.Field)
		if name == part.owner {
			continue
		}
		if err := a.failed[name]; err != nil {
			return nil, fmt.Errorf("field %s: owner %s, which decides the keys, has not stored them: %w", v.Field, name, err)
		}
		o := a.store.Owner(a.manifest, name)
		if o.Err != nil {
			return nil, o.Err
		}
		keys[v.Field] = &keeper{o, v.Field, o.Document().Adopted(v.Field), a.o.DryRun}
	}
	return keys, nil
}

// at returns the present incarnation of a key of the legacy file; or false if the
// key was created after the import of the file's keys, so that the file means
// another one. In a dry run, the keys that would be imported count.
func (k *keeper) at(key string) (v sidecar.Version, ok bool) {
	row, ok := k.Row(k.field, key)
	if k.adopted.IsZero() {
		return row.Born, ok || k.dryRun
	}
	return row.Born, ok && !row.Born.After(k.adopted)
}
