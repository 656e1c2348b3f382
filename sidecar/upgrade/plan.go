package upgrade

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// A plan holds the files that an upgrade will write.
type plan struct {
	*run
	old *schema.Declaration
	// sidecars are the owners as read.
	sidecars map[string]*store.Owner
	stored   map[string]*document.Document // by owner; empty without a file
	raw      map[string][]byte             // by owner; the text of the file, if there is one
	stay     map[string]int                // by owner; pending patches that a dry run could not fold
	next     map[string]*document.Document // by owner; the sidecars that change
	gained   map[string]bool               // owners that gain a field of another
	misfits  Misfits
	gone     []Gone
	pending  *schema.Pending
	at       time.Time
	epoch    uint64
}

// nothing reports whether no sidecar changes.
func (p *plan) nothing() bool { return len(p.pending.Sidecars)+len(p.pending.Dropped) == 0 }

// plan reads every sidecar and computes the new ones.
func (r *run) plan() (*plan, error) {
	p := &plan{
		run: r, old: &r.manifest.Declaration, sidecars: map[string]*store.Owner{}, stored: map[string]*document.Document{}, raw: map[string][]byte{},
		stay: map[string]int{}, next: map[string]*document.Document{}, gained: map[string]bool{}, at: r.options.Clock(),
		pending: &schema.Pending{ID: process.NewNonce()},
	}
	r.report.State = p.old.State
	if p.old.State != r.next.State {
		err := fmt.Errorf("%s: %w: state %s, not %s", r.dir.Path(), schema.ErrDeclaration, p.old.State, r.next.State)
		return nil, store.WithRemedy(err, store.Remedy{Note: "name the owners.yaml of this state"})
	}
	if p.old.Instances != r.next.Instances {
		err := fmt.Errorf("%s: %w: the state has %s, not %s", r.dir.Path(), schema.ErrDeclaration, p.old.Instances, r.next.Instances)
		return nil, store.WithRemedy(err, store.Remedy{Note: "create a new state and adopt the values"})
	}
	if err := p.checkClaims(); err != nil {
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
		err := fmt.Errorf("%s: %w: a sidecar has the largest epoch, which Freehold never writes", p.dir.Path(), sidecar.ErrInvalid)
		return nil, store.WithRemedy(err, store.Remedy{Note: "move that sidecar away"})
	}
	p.pending.Epoch = p.epoch
	if err := p.build(); err != nil {
		return nil, err
	}
	r.report.Rewritten = slices.Sorted(slices.Values(p.pending.Sidecars))
	r.report.Gone = p.gone
	r.keep(p.pending)
	return p, nil
}

// checkClaims reports a once field with a new name, owner or kind. A claim is a
// file that names its field and owner, and a shared owner claims without a
// lock: during a move the field could be won twice. The claims of a removed
// once field stay, and hold again if it comes back.
func (p *plan) checkClaims() error {
	for _, owner := range p.run.next.OwnerNames() {
		for _, field := range p.run.next.Owners[owner].FieldNames() {
			o, ok := p.old.Origin(p.run.next, owner, field)
			if !ok {
				continue
			}
			before := p.old.Owners[o.Owner].Fields[o.Field].EffectiveKind() == schema.Once
			now := p.run.next.Owners[owner].Fields[field].EffectiveKind() == schema.Once
			if before != now || now && o != (schema.Origin{Owner: owner, Field: field}) {
				err := fmt.Errorf("%s: %w: field %s of owner %s was field %s of owner %s: a once field keeps its name, owner and kind",
					p.dir.Path(), schema.ErrDeclaration, field, owner, o.Field, o.Owner)
				return store.WithRemedy(err, store.Remedy{Note: "declare a new field beside it, without \"was\""})
			}
		}
	}
	return nil
}

// owners returns the names of the owners before and after, sorted.
func (p *plan) owners() []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(p.old.OwnerNames(), p.run.next.OwnerNames()))))
}

// read reads the sidecars. Each must be as Freehold left it. In a dry run it
// includes the pending patches.
func (p *plan) read() error {
	var errs []error
	for _, owner := range p.inCausalOrder() {
		errs = append(errs, p.readSidecar(owner))
	}
	errs = append(errs, p.checkRegressions())
	if p.options.DryRun {
		for _, owner := range p.owners() {
			p.previewFold(owner)
		}
	}
	return errors.Join(errs...)
}

// readSidecar reads the sidecar of owner; in a dry run, as it would be after
// the unfinished upgrade.
func (p *plan) readSidecar(owner string) error {
	m := *p.manifest
	if m.Pending = p.run.pending; m.Pending != nil && slices.Contains(m.Pending.Dropped, owner) {
		p.stored[owner], p.raw[owner] = document.New(owner, m.StateID), nil
		return nil
	}
	read := p.dir.Owner
	if p.options.DryRun { // in a real run no patch is pending
		read = p.dir.Folded
	}
	o := read(&m, owner)
	p.sidecars[owner], p.stored[owner], p.raw[owner] = o, o.Document(), nil
	if o.Status != store.Missing {
		p.raw[owner] = o.Text()
	}
	return o.Err
}

// sidecarPath returns the path of the sidecar of owner.
func (r *run) sidecarPath(owner string) string {
	return filepath.Join(r.dir.Path(), store.Sidecar(owner))
}

// newEpoch returns the epoch of the new sidecars. It is above every visible
// epoch of any owner, since moved fields keep their versions.
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

// build makes the new sidecars.
func (p *plan) build() error {
	var errs []error
	for _, owner := range p.run.next.OwnerNames() {
		doc := p.document(owner)
		if doc == nil {
			continue
		}
		p.next[owner] = doc
		p.pending.Sidecars = append(p.pending.Sidecars, owner)
		if p.raw[owner] != nil {
			p.pending.Kept = append(p.pending.Kept, owner)
		}
		if _, err := doc.Encode(); err != nil {
			err = fmt.Errorf("%s: %w: the new sidecar: %w", p.sidecarPath(owner), sidecar.ErrValue, err)
			errs = append(errs, store.WithRemedy(err, store.By(store.VerbUpgrade).Or("store less in the sidecar")))
		}
	}
	for _, owner := range p.old.OwnerNames() {
		if _, ok := p.run.next.Owners[owner]; !ok && p.raw[owner] != nil {
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
		return p.misfits.withRemedy()
	}
	return errors.Join(errs...)
}

// upgraded returns known with the versions of the new sidecars.
func (p *plan) upgraded(known map[string]string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, known)
	for owner, doc := range p.next {
		all[owner] = doc.Version.String()
	}
	return all
}

// files returns the files to stage: new sidecars, and copies of the old.
func (p *plan) files() (map[string][]byte, error) {
	files := map[string][]byte{}
	for owner, doc := range p.next {
		raw, err := doc.Encode()
		if err != nil {
			return nil, err
		}
		files[store.Sidecar(owner)] = raw
		if p.raw[owner] != nil {
			files[store.Kept(owner, p.pending.ID)] = p.raw[owner]
		}
	}
	return files, nil
}

// differs reports whether two documents encode differently.
func differs(a, b *document.Document) bool {
	x, err1 := a.Encode()
	y, err2 := b.Encode()
	return err1 != nil || err2 != nil || !bytes.Equal(x, y)
}
