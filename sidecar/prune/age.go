package prune

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// judge returns the item with its reason: old if the instance may be removed.
func (p *pruning) judge(item Item, d *statedir.Dir) Item {
	item.Action = Kept
	m, err := d.Manifest()
	if err != nil {
		return item.because(Kept, err)
	}
	entries, err := d.Scan(m)
	if err != nil {
		return item.because(Kept, err)
	}
	var strangers []string
	for _, e := range entries {
		if e.Foreign() {
			strangers = append(strangers, e.Name)
		}
	}
	if len(strangers) > 0 {
		slices.Sort(strangers)
		item.Reason = foreign
		item.Says = fmt.Sprintf("not Freehold's, so move it away first: %s", strings.Join(strangers, ", "))
		return item
	}
	var w writing
	if err := w.read(d, m); err != nil {
		return item.because(Kept, err)
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

func (w *writing) note(at time.Time, writer store.Writer) {
	if at.After(w.newest) {
		w.newest = at
	}
	if age, ok := writer.Identity.Since(); ok && (!w.known || age < w.atMost) {
		w.atMost, w.known = age, true
	}
}

// read notes every sidecar, claim and pending patch. An unusable one is an error
// and keeps the instance, since its content is unknown.
func (w *writing) read(d *statedir.Dir, m *schema.Manifest) error {
	for _, name := range m.Declaration.OwnerNames() {
		o := store.On(d).Folded(m, name)
		if o.Err != nil {
			return o.Err
		}
		if o.Status == store.OK {
			w.note(o.WrittenAt, o.Writer)
		}
		for _, bad := range o.BadPatches {
			return bad.Err
		}
		for _, patch := range o.Patches {
			w.note(patch.At, patch.Writer)
		}
		declared := m.Declaration.Owners[name]
		for _, field := range declared.FieldNames() {
			if declared.Fields[field].EffectiveKind() != schema.Once {
				continue
			}
			once := store.On(d).Once(m, name, field)
			if once.Err != nil {
				return once.Err
			}
			if once.Status == store.OK {
				w.note(once.At, once.Writer)
			}
		}
	}
	return nil
}

// aheadOfUs is the tolerance for dates in the future: file systems and programs
// round differently.
const aheadOfUs = time.Minute

func (p *pruning) age(item Item, w writing) Item {
	now := p.Clock()
	age := max(now.Sub(item.Newest), 0)
	switch {
	case item.Newest.After(now.Add(aheadOfUs)):
		item.Reason = future
		item.Says = fmt.Sprintf("its newest date is %s and now is %s: one of the clocks was wrong", item.Newest.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339))
		return item
	case p.OlderThan <= 0:
		item.Reason, item.Says = young, fmt.Sprintf("last written %s, and no age was given", since(age))
		return item
	case w.known && w.atMost < age:
		age = w.atMost
		item.Says = fmt.Sprintf("its last writer was started %s, whatever the clock says", since(age))
	default:
		item.Says = fmt.Sprintf("last written %s", since(age))
	}
	if item.Reason = old; age < p.OlderThan {
		item.Reason = young
	}
	return item
}

func since(age time.Duration) string {
	const day = 24 * time.Hour
	if age >= 2*day {
		return fmt.Sprintf("%d days ago", age/day)
	}
	return fmt.Sprintf("%v ago", age.Round(time.Second))
}
