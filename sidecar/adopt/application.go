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
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/go-json-experiment/json/jsontext"
)

// Options for [Plan.Apply]. The zero value, and a nil pointer, are ready to use.
type Options struct {
	// Wait is how long an owner's commit waits for other processes: for its
	// lock and, if it is exclusive, for its lease. If zero, the longest wait
	// that an owner of the plan declares; if negative, not at all.
	Wait time.Duration
	// DryRun reports the imports and writes nothing. An owner whose locks stay
	// held for Wait, or whose directory is not writable, gets the Err that a
	// real run would return, beside its imports.
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
	Kept []Kept
	// Same counts the values that the state had already.
	Same int
	// Err is the reason why nothing of the part was, or would be, imported.
	Err error
}

// An Item is one value of the legacy file and its destination.
type Item struct {
	Pointer jsontext.Pointer `json:"pointer"`
	Field   string           `json:"field"`
	// Key of a map, and Member of the record at that key.
	Key    string         `json:"key,omitzero"`
	Member string         `json:"member,omitzero"`
	Value  jsontext.Value `json:"value"`
}

// A Kept is an Item that gave way to the state's own value.
type Kept struct {
	Item
	// State is the state's value; nil if the field was cleared.
	State jsontext.Value `json:"state,omitzero"`
	// Program wrote or cleared the field, in Version.
	Program string          `json:"program"`
	Version sidecar.Version `json:"version"`
}

// Apply commits the plan to the state directory dir, one commit per owner.
// Afterwards it compares the legacy file with the planned text.
//
// A field that was ever written or cleared in the state stays as it is; a max
// or min still moves on to the file's value. A set or a map receives its
// missing elements once. A once field is claimed with the file's time, right
// after its owner's commit. One owner's failure does not keep the others from
// their commits.
//
// The report is never nil. The error wraps the errors of all owners, as
// [sidecar.Open] and [sidecar.Writer.Update] document them, and [ErrActive] if
// the legacy file changed during Apply.
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
	a := &application{plan: p, directory: d, o: *o, failed: map[string]error{}}
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

// An application is one call of Apply.
type application struct {
	*directory
	plan   *Plan
	o      Options
	failed map[string]error // by owner
}

// mostTries bounds the attempts at a part whose keys change during its commit.
const mostTries = 8

// part commits one owner's part. A part that is there already needs neither the
// owner's lock nor its lease.
func (a *application) part(ctx context.Context, part Part) OwnerReport {
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

func (a *application) tryPart(ctx context.Context, part Part) (*decision, error) {
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

// obstructed returns the error that a commit of owner would meet now, or nil.
// An owner that is new to the state has no locks.
func (a *application) obstructed(ctx context.Context, owner string) error {
	if _, ok := a.manifest.Declaration.Owners[owner]; !ok {
		return nil
	}
	if err := cmp.Or(a.dir.OwnerObstructed(ctx, a.manifest, owner, a.o.Wait), a.dir.Writable()); err != nil {
		return fmt.Errorf("would be refused: %w", err)
	}
	return nil
}

// claims reads the claims of the part's once fields. A field that is new to the
// state has none.
func (a *application) claims(part Part) (claims, error) {
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

// glance decides by the sidecar on disk, without a lock.
func (a *application) glance(part Part, keys *keyring, claims claims) (*decision, error) {
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

// commit decides again under the owner's lock, commits, and then claims.
func (a *application) commit(ctx context.Context, part Part, keys *keyring, claims claims) (d *decision, err error) {
	opening, cancel := context.WithTimeout(ctx, max(a.o.Wait, time.Millisecond)) // a fence may never open
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

// claim claims the once fields with the times of the legacy file.
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

// keyring reads the keys of the part's maps that other owners decide. A dry run
// includes the keys that those owners' parts would add.
func (a *application) keyring(part Part) (*keyring, error) {
	k := &keyring{map[string]*keysOfMap{}}
	for _, v := range part.Values {
		keeper, _ := a.plan.declared.OwnerOf(v.Field)
		if keeper == part.Owner {
			continue
		}
		if err := a.failed[keeper]; err != nil {
			return nil, fmt.Errorf("field %s: owner %s, which decides the keys, has not stored them: %w", v.Field, keeper, err)
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

// longestWait returns the longest wait among the plan's owners. All parts use
// it, so that none gives up while one owner holds up the rest.
func (p *Plan) longestWait() time.Duration {
	owners := make([]string, len(p.Parts))
	for i, part := range p.Parts {
		owners[i] = part.Owner
	}
	return p.declared.LongestWait(owners)
}

// adopting is the prefix of the program name in the provenance.
const adopting = "adopt "

// program returns the program name for the provenance.
func (p *Plan) program() string { return adopting + p.legacy.Name() }

// Source returns the legacy file's name from a provenance's program name. It
// returns false if [Plan.Apply] did not write the value.
func Source(program string) (file string, ok bool) { return strings.CutPrefix(program, adopting) }
