package prune

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// judge returns the item with its reason: [Old] if the instance may be removed.
func (p *pruning) judge(item Item, d *store.Store) Item {
	item.Action = Kept
	m, err := d.Manifest()
	if err != nil {
		return item.because(err)
	}
	entries, err := d.Scan(m)
	if err != nil {
		return item.because(err)
	}
	var foreign []string
	for _, e := range entries {
		if e.Foreign() {
			foreign = append(foreign, e.Name)
		}
	}
	if len(foreign) > 0 {
		slices.Sort(foreign)
		item.Reason = Foreign
		item.Says = fmt.Sprintf("not Freehold's, so move it away first: %s", strings.Join(foreign, ", "))
		return item
	}
	w, err := lastWriting(d, m)
	if err != nil {
		item = item.because(err)
		if item.Reason = Damaged; errors.Is(err, store.Foreign) {
			item.Reason = Foreign
		}
		return item
	}
	item.Newest = w.newest
	for _, e := range entries {
		if e.Dated() && e.Written.After(item.Newest) {
			item.Newest = e.Written
		}
	}
	return p.age(item, w)
}

// A writing is the newest trace of a writer in an instance's sidecars, claims
// and pending patches.
type writing struct {
	newest time.Time
	// atMost bounds the instance's age by the monotonic clock, if known.
	atMost time.Duration
	known  bool
}

// note takes a commit's time and writer into account.
func (w *writing) note(at time.Time, writer store.Writer) {
	if at.After(w.newest) {
		w.newest = at
	}
	if age, ok := writer.Identity.Since(); ok && (!w.known || age < w.atMost) {
		w.atMost, w.known = age, true
	}
}

// lastWriting reads every sidecar, claim and pending patch. An unusable one is
// an error and keeps the instance, since its content is unknown.
func lastWriting(d *store.Store, m *schema.Manifest) (w writing, err error) {
	for _, owner := range m.Declaration.OwnerNames() {
		if err := w.sidecar(d, m, owner); err != nil {
			return w, err
		}
		o := m.Declaration.Owners[owner]
		if o.Defers() {
			if err := w.pending(d, m, owner); err != nil {
				return w, err
			}
		}
		for _, field := range o.FieldNames() {
			if o.Fields[field].EffectiveKind() != schema.Once {
				continue
			}
			if err := w.claim(d, m, owner, field); err != nil {
				return w, err
			}
		}
	}
	return w, nil
}

func (w *writing) sidecar(d *store.Store, m *schema.Manifest, owner string) error {
	o := d.Owner(m, owner)
	if o.Status == store.OK {
		w.note(o.WrittenAt, o.Writer)
	}
	return o.Err
}

func (w *writing) claim(d *store.Store, m *schema.Manifest, owner, field string) error {
	o := d.Once(m, owner, field)
	if o.Status == store.OK {
		w.note(o.At, o.Writer)
	}
	return o.Err
}

func (w *writing) pending(d *store.Store, m *schema.Manifest, owner string) error {
	files, err := d.Patches(m, owner)
	if err != nil {
		return err
	}
	for _, f := range files {
		if f.Err != nil {
			return f.Err
		}
		w.note(f.Patch.At, f.Patch.Writer)
	}
	return nil
}

// aheadOfUs is the tolerance for dates in the future: file systems and programs
// round differently.
const aheadOfUs = time.Minute

// age decides by the newest date in the instance.
func (p *pruning) age(item Item, w writing) Item {
	now := p.Clock()
	age := max(now.Sub(item.Newest), 0)
	switch {
	case item.Newest.After(now.Add(aheadOfUs)):
		item.Reason = Future
		item.Says = fmt.Sprintf("its newest date is %s and now is %s: one of the clocks was wrong", item.Newest.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339))
		return item
	case p.OlderThan <= 0:
		item.Reason, item.Says = Young, fmt.Sprintf("last written %s, and no age was given", since(age))
		return item
	case w.known && w.atMost < age:
		age = w.atMost
		item.Says = fmt.Sprintf("its last writer was started %s, whatever the clock says", since(age))
	default:
		item.Says = fmt.Sprintf("last written %s", since(age))
	}
	if item.Reason = Old; age < p.OlderThan {
		item.Reason = Young
	}
	return item
}
