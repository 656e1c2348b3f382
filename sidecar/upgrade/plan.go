package upgrade

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// A plan holds the files that an upgrade will write.
type plan struct {
	*run
	old      *schema.Declaration
	sidecars map[string]*store.Owner       // as read; nil for an owner that a killed upgrade drops
	stored   map[string]*document.Document // by owner; empty without a file
	had      map[string]bool               // owners with a file
	stay     map[string]int                // by owner; pending patches that a dry run could not fold
	made     map[string]*document.Document // by owner; the sidecars that change
	gained   map[string]bool               // owners that gain a field of another
	taken    map[place]bool                // fields and members that are taken over
	late     map[place]string              // successors that were written already
	tables   map[string]string             // new names of the maps of which parts are
	misfits  misfits
	pending  *schema.Pending
	at       time.Time
	epoch    uint64
}

// A place is a field of the old declaration, or a member of a map there.
type place struct{ owner, field, member string }

// plan reads every sidecar and computes the new ones.
func (r *run) plan() (*plan, error) {
	p := &plan{
		run: r, old: &r.manifest.Declaration, sidecars: map[string]*store.Owner{}, stored: map[string]*document.Document{}, had: map[string]bool{},
		stay: map[string]int{}, made: map[string]*document.Document{}, gained: map[string]bool{}, taken: map[place]bool{}, late: map[place]string{}, tables: map[string]string{}, at: r.options.Clock(),
		pending: &schema.Pending{ID: process.NewNonce()},
	}
	r.report.State = p.old.State
	if err := p.checkDeclaration(); err != nil {
		return nil, err
	}
	unusable := p.read()
	if err := p.checkNonePending(); err != nil { // first: an unusable sidecar had none folded
		return nil, err
	}
	if unusable != nil {
		return nil, unusable
	}
	r.report.Changes = p.old.Changes(r.next)
	if p.epoch = p.newEpoch(); p.epoch > document.MaxEpoch {
		err := fmt.Errorf("%s: %w: a sidecar has the largest epoch, which Freehold never writes", p.dir.Path(), store.Invalid)
		return nil, store.WithRemedy(err, store.Remedy{Note: "move that sidecar away"})
	}
	p.pending.Epoch = p.epoch
	if err := p.build(); err != nil {
		return nil, err
	}
	r.report.Rewritten = slices.Sorted(slices.Values(p.pending.Sidecars))
	r.keep(p.pending)
	return p, nil
}

// checkDeclaration reports a declaration to which no state can be upgraded.
//
// A once field keeps its name, owner and kind: a claim is a file that names its
// field and owner, and a shared owner claims without a lock, so that during a
// move the field could be won twice.
func (p *plan) checkDeclaration() error {
	refuse := func(note, format string, args ...any) error {
		return store.WithRemedy(fmt.Errorf("%s: %w: %w", p.dir.Path(), schema.ErrDeclaration, fmt.Errorf(format, args...)), store.Remedy{Note: note})
	}
	switch {
	case p.old.State != p.next.State:
		return refuse("name the owners.yaml of this state", "state %s, not %s", p.old.State, p.next.State)
	case p.old.Instances != p.next.Instances:
		return refuse("create a new state and adopt the values", "the state has %s, not %s", p.old.Instances, p.next.Instances)
	}
	for _, owner := range p.next.OwnerNames() {
		for _, field := range p.next.Owners[owner].FieldNames() {
			o, ok := p.old.Origin(p.next, owner, field)
			if !ok {
				continue
			}
			before := p.old.Owners[o.Owner].Fields[o.Field].EffectiveKind() == schema.Once
			now := p.next.Owners[owner].Fields[field].EffectiveKind() == schema.Once
			if before != now || now && o != (schema.Origin{Owner: owner, Field: field}) {
				return refuse("declare a new field beside it, without \"was\"", "field %s of owner %s was field %s of owner %s: a once field keeps its name, owner and kind",
					field, owner, o.Field, o.Owner)
			}
		}
	}
	return nil
}

// owners returns the owners before and after, sorted.
func (p *plan) owners() []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(p.old.OwnerNames(), p.next.OwnerNames()))))
}

// read reads the sidecars. Each must be as Freehold left it.
func (p *plan) read() error {
	var errs []error
	for _, owner := range p.owners() {
		errs = append(errs, p.readSidecar(owner))
	}
	if p.refused == nil { // without locks, an observation may be newer than the sidecar as read
		errs = append(errs, p.checkRegressions())
	}
	return errors.Join(errs...)
}

// readSidecar reads the sidecar of owner; in a dry run, as it would be after
// the unfinished upgrade and with the pending patches.
func (p *plan) readSidecar(owner string) error {
	m := *p.manifest
	if !p.options.DryRun {
		o := store.On(p.dir).Owner(&m, owner)
		p.sidecars[owner], p.stored[owner], p.had[owner] = o, o.Document(), o.Status != store.Missing
		return o.Err
	}
	if m.Pending = p.resumed; m.Pending != nil && slices.Contains(m.Pending.Dropped, owner) {
		p.stored[owner] = document.New(owner, m.StateID)
		return nil
	}
	o := store.On(p.dir).Folded(&m, owner)
	p.sidecars[owner] = o
	p.stored[owner], p.stay[owner] = p.preview(o)
	p.had[owner] = o.Status != store.Missing || p.stored[owner] != o.Document()
	return o.Err
}

// checkRegressions reports sidecars older than an earlier upgrade or an
// observation. Rewritten, with a new epoch, they would pass for accepted ones.
func (p *plan) checkRegressions() error {
	read := func(yield func(*store.Owner) bool) {
		for _, owner := range p.owners() {
			if o := p.sidecars[owner]; o != nil && !yield(o) {
				return
			}
		}
	}
	var errs []error
	for _, owner := range p.owners() {
		o := p.sidecars[owner]
		if o == nil {
			continue
		}
		for s := range store.SightingsOf(p.old, owner, store.Upgraded(p.manifest, owner), read) {
			o = o.Against(s)
		}
		if o != p.sidecars[owner] { // else it is reported already
			errs = append(errs, o.Err)
		}
	}
	return errors.Join(errs...)
}

// origin returns the former place of a field's value. A field that was written
// before its declaration said "was" keeps its own value, and the value under the
// former name goes.
func (p *plan) origin(owner, field string) (o schema.Origin, ok bool) {
	o, ok = p.old.Origin(p.next, owner, field)
	own := schema.Origin{Owner: owner, Field: field}
	if _, declared := p.old.Owners[owner].Fields[field]; o == own || !declared {
		return o, ok
	}
	if !slices.ContainsFunc(p.old.OwnersOf(field), func(owner string) bool { return p.written(owner, field) }) {
		return o, ok
	}
	p.late[place{o.Owner, o.Field, ""}] = field
	return own, true
}

// written reports whether an owner has set, cleared or begun a field.
func (p *plan) written(owner, field string) bool {
	_, _, written := p.stored[owner].Field(field)
	return written || len(p.stored[owner].Open(field)) > 0
}

// newEpoch returns an epoch above every visible epoch of any owner, since moved
// fields keep their versions.
func (p *plan) newEpoch() uint64 {
	var top uint64
	for owner, doc := range p.stored {
		top = max(top, doc.Newest())
		if p.old.Owners[owner].EffectiveMode() != schema.Exclusive {
			continue
		}
		// A record that cannot be read shows no epoch.
		if lease, err := sidecar.LeaseStatus(p.dir.Path(), owner); err == nil && lease.Lease != nil {
			top = max(top, lease.Lease.Epoch)
		}
	}
	clock := min(uint64(max(p.at.UnixMicro(), 0)), document.MaxEpoch-1<<32)
	return max(top+1, clock)
}

func (p *plan) build() error {
	var errs []error
	for _, owner := range p.next.OwnerNames() {
		doc := p.document(owner)
		if doc == nil {
			continue
		}
		p.made[owner] = doc
		p.pending.Sidecars = append(p.pending.Sidecars, owner)
		if p.had[owner] {
			p.pending.Kept = append(p.pending.Kept, owner)
		}
		if _, err := doc.Encode(); err != nil {
			err = fmt.Errorf("%s: %w: the new sidecar: %w", p.sidecarPath(owner), sidecar.ErrValue, err)
			errs = append(errs, store.WithRemedy(err, store.By(status.Upgrade).Or("store less in the sidecar")))
		}
	}
	for _, owner := range p.old.OwnerNames() {
		if _, ok := p.next.Owners[owner]; !ok && p.had[owner] {
			p.pending.Dropped = append(p.pending.Dropped, owner)
		}
	}
	// A program that reads the files without the manifest may see a moved value
	// twice for a moment, but never misses it.
	slices.SortStableFunc(p.pending.Sidecars, func(a, b string) int {
		switch {
		case p.gained[a] == p.gained[b]:
			return strings.Compare(a, b)
		case p.gained[a]:
			return -1
		}
		return 1
	})
	p.findGone()
	if len(p.misfits) > 0 {
		return store.WithRemedy(p.misfits, store.Remedy{Note: "correct these values, or declare fields that hold them"})
	}
	return errors.Join(errs...)
}

// files returns the files to stage: new sidecars, and copies of the old.
func (p *plan) files() (map[string][]byte, error) {
	files := map[string][]byte{}
	for owner, doc := range p.made {
		raw, err := doc.Encode()
		if err != nil {
			return nil, err
		}
		files[statedir.Sidecar(owner)] = raw
		if p.had[owner] {
			files[statedir.Kept(owner, p.pending.ID)] = p.sidecars[owner].Text()
		}
	}
	return files, nil
}

func differs(a, b *document.Document) bool {
	x, err1 := a.Encode()
	y, err2 := b.Encode()
	return err1 != nil || err2 != nil || !bytes.Equal(x, y)
}
