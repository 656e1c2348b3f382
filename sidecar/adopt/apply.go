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
	"github.com/freehold-dev/freehold/sidecar/document"
	"github.com/go-json-experiment/json/jsontext"
)

// Options for [Plan.Apply]. The zero value, and a nil pointer, are ready to use.
type Options struct {
	// Wait is how long an owner's commit waits for other processes: for its
	// lock and, if it is exclusive, for its lease. If zero, the longest wait
	// that an owner of the plan declares; if negative, not at all.
	Wait time.Duration
	// DryRun reports what would be imported, and writes nothing. An owner whose
	// locks somebody holds for as long as Wait, as far as the kernel tells who
	// does, or whose directory may not be written in, has the error that it would
	// have, and what it would import without that.
	DryRun bool
	// Clock tells the time for provenance. If nil, [time.Now].
	Clock func() time.Time
}

// A Report says what Apply did, or in a dry run would do.
type Report struct {
	// Owners that the plan has something for, in the order of their commits.
	Owners []OwnerReport
	// Changed are the places in the legacy file at which somebody changed it
	// meanwhile.
	Changed []jsontext.Pointer
}

// An OwnerReport says what became of one owner's part.
type OwnerReport struct {
	Owner string
	// Outcome of the commit; [sidecar.NotApplied] in a dry run or if Err is
	// not nil.
	Outcome sidecar.Outcome
	// Version of the sidecar with the values in it, or zero.
	Version sidecar.Version
	// Imported values, in the plan's order.
	Imported []Item
	// Kept are the fields that the state has written or cleared by itself.
	Kept []Kept
	// Same counts the values that the state has already.
	Same int
	// Err is why the part was not imported, or in a dry run would not be. Nothing
	// of it was.
	Err error
}

// An Item is one value of the legacy file and where it goes.
type Item struct {
	Pointer jsontext.Pointer `json:"pointer"`
	Field   string           `json:"field"`
	// Key of a map, and Member of what it has there.
	Key    string         `json:"key,omitzero"`
	Member string         `json:"member,omitzero"`
	Value  jsontext.Value `json:"value"`
}

// A Kept is an Item that gave way to what the state says.
type Kept struct {
	Item
	// State is the value there; nil if it was cleared.
	State jsontext.Value `json:"state,omitzero"`
	// Program that wrote or cleared it, in Version.
	Program string          `json:"program"`
	Version sidecar.Version `json:"version"`
}

// Apply commits the plan to the state directory dir, one commit for each owner,
// and then looks whether the legacy file still is what was planned from.
//
// A field that the state has a value for, or that was cleared in it, is kept as
// it is; only what is of kind max or min still moves on to what the file has.
// A set and a map are filled up with what they lack, once. A once field is
// claimed at the time that the file has, right after its owner's commit. Where one owner
// cannot be written, the others are all the same.
//
// The report is never nil. The error wraps those of the owners, which
// [sidecar.Open] and [sidecar.Writer.Update] explain, and [ErrActive] if the
// legacy file changed meanwhile.
func (p *Plan) Apply(ctx context.Context, dir string, o *Options) (*Report, error) {
	if o == nil {
		o = &Options{}
	}
	report := &Report{}
	d, err := openDirectory(dir)
	if err != nil {
		return report, err
	}
	defer d.dir.Close()
	a := &applying{plan: p, directory: d, o: *o, failed: map[string]error{}}
	if a.o.Wait == 0 {
		a.o.Wait = cmp.Or(p.longestWait(), -1)
	}
	var errs []error
	for _, part := range p.Parts {
		r := a.part(ctx, part)
		if r.Err != nil {
			a.failed[part.Owner] = r.Err
			errs = append(errs, fmt.Errorf("owner %s: %w", part.Owner, r.Err))
		}
		report.Owners = append(report.Owners, r)
	}
	if o.DryRun {
		return report, errors.Join(errs...)
	}
	report.Changed, err = p.legacy.changed()
	return report, errors.Join(append(errs, err)...)
}

// An applying is one Apply.
type applying struct {
	*directory
	plan   *Plan
	o      Options
	failed map[string]error // by owner
}

// mostTries bounds how often a part is tried anew because a key was deleted or
// created again just then.
const mostTries = 8

// part commits one owner's part, unless it is there already: then neither the
// owner's lock nor its lease is needed.
func (a *applying) part(ctx context.Context, part Part) OwnerReport {
	for try := 1; ; try++ {
		d, err := a.tryPart(ctx, part)
		switch {
		case err == nil:
			return d.report
		case try == mostTries || !errors.Is(err, sidecar.ErrConflict):
			return OwnerReport{Owner: part.Owner, Err: err}
		}
	}
}

func (a *applying) tryPart(ctx context.Context, part Part) (*decision, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	keys, err := a.keyring(part)
	if err != nil {
		return nil, err
	}
	claims, err := a.claims(part)
	if err != nil {
		return nil, err
	}
	d, err := a.glance(part, keys, claims)
	switch {
	case err == nil && d.idle():
		return d, nil
	case a.o.DryRun && err == nil:
		d.report.Err = a.obstructed(ctx, part.Owner)
		return d, nil
	case a.o.DryRun:
		return nil, err
	}
	return a.commit(ctx, part, keys, claims)
}

// obstructed returns why the owner could not commit now, if somebody is in the way.
// An owner that the state does not know yet has no locks.
func (a *applying) obstructed(ctx context.Context, owner string) error {
	if _, ok := a.manifest.Declaration.Owners[owner]; !ok {
		return nil
	}
	if err := cmp.Or(a.dir.OwnerObstructed(ctx, a.manifest, owner, a.o.Wait), a.dir.Writable()); err != nil {
		return fmt.Errorf("would be refused: %w", err)
	}
	return nil
}

// claims reads who has claimed the once fields of a part. A field that the
// state does not know yet is claimed by nobody.
func (a *applying) claims(part Part) (claims, error) {
	c := claims{}
	for _, v := range part.Values {
		if a.plan.declared.Owners[part.Owner].Fields[v.Field].EffectiveKind() != schema.Once {
			continue
		}
		_, by, err := sidecar.ResolveClaim(a.dir.Path(), part.Owner, v.Field, "")
		if err != nil && !errors.Is(err, sidecar.ErrNotOwner) {
			return nil, err
		}
		c[v.Field] = by
	}
	return c, nil
}

// glance decides by the sidecar as it stands, without a lock.
func (a *applying) glance(part Part, keys *keyring, claims claims) (*decision, error) {
	doc, err := a.sidecar(part.Owner)
	if err != nil {
		return nil, err
	}
	d := a.plan.decide(part, newDocSource(doc, keys, claims), keys)
	d.report.Version = doc.Version
	if d.idle() {
		d.report.Outcome = sidecar.Unchanged
	}
	return d, nil
}

// commit decides again, under the owner's lock, and commits. The claims follow.
func (a *applying) commit(ctx context.Context, part Part, keys *keyring, claims claims) (d *decision, err error) {
	opening, cancel := context.WithTimeout(ctx, max(a.o.Wait, time.Millisecond)) // a fence may stay shut for good
	defer cancel()
	w, err := sidecar.Open(opening, a.dir.Path(), a.plan.declared, part.Owner, &sidecar.Options{
		Program: a.plan.program(), Wait: a.o.Wait, LeaseWait: a.o.Wait, Clock: a.o.Clock,
	})
	if err != nil {
		return nil, err
	}
	defer w.Close()
	commit, err := w.Update(ctx, func(tx *sidecar.Tx) error {
		d = a.plan.decide(part, txSource{tx, claims}, keys)
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

// claim claims the once fields, as of the times that the legacy file has.
func (d *decision) claim(ctx context.Context, w *sidecar.Writer) error {
	for _, i := range d.claims {
		at, err := schema.Time{}.Decode(i.Value)
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

// keyring reads the keys of the part's maps that other owners decide. In a dry
// run they are those that there will be.
func (a *applying) keyring(part Part) (*keyring, error) {
	k := &keyring{map[string]*keysOfMap{}}
	for _, v := range part.Values {
		keeper, _ := a.plan.declared.OwnerOf(v.Field)
		if keeper == part.Owner {
			continue
		}
		if err := a.failed[keeper]; err != nil {
			return nil, fmt.Errorf("field %s: owner %s, which decides the keys, has not got them: %w", v.Field, keeper, err)
		}
		doc, err := a.sidecar(keeper)
		if err != nil {
			return nil, err
		}
		keys := &keysOfMap{rowsOf(doc, v.Field), doc.Adopted(v.Field)}
		if a.o.DryRun && keys.adopted.IsZero() {
			for _, e := range v.Entries {
				keys.rows[e.Key] = document.Row{Key: e.Key, Born: keys.rows[e.Key].Born}
			}
		}
		k.maps[v.Field] = keys
	}
	return k, nil
}

// longestWait is how long the most patient of the plan's owners waits: where one
// holds everybody up, the others are not to give up before it.
func (p *Plan) longestWait() time.Duration {
	owners := make([]string, len(p.Parts))
	for i, part := range p.Parts {
		owners[i] = part.Owner
	}
	return p.declared.LongestWait(owners)
}

// adopting begins the name for the provenance.
const adopting = "adopt "

// program is the name for the provenance.
func (p *Plan) program() string { return adopting + p.legacy.Name() }

// Source returns the name of the legacy file from which the program of a
// provenance took a value over; false if it is none that [Plan.Apply] wrote.
func Source(program string) (file string, ok bool) { return strings.CutPrefix(program, adopting) }
