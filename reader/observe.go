package reader

import (
	"fmt"

	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/document"
)

// Observe returns what v holds of the fields, as a token for whoever will write
// a value that is computed from data gathered from now on. It is for the command
// line; programs observe for one field, with a token of its own type. It returns
// an error that wraps [ErrUnknownField] if no owner declares a field, and the
// error of the owner's sidecar if that cannot be used. That nobody has written a
// field can be observed too.
func (v *View) Observe(fields ...string) (sidecar.Seen, error) {
	versions := map[string]sidecar.Version{}
	for _, name := range fields {
		e := v.Field(name)
		_, o, err := e.find()
		if err != nil {
			return sidecar.Seen{}, err
		}
		if why := v.declared.declaration.NotObservable(name); why != "" {
			return sidecar.Seen{}, fmt.Errorf("%s: %w: it is %s, and cannot be observed: name another field", e.where(), sidecar.ErrNotObserved, why)
		}
		if o.Err != nil {
			return sidecar.Seen{}, fmt.Errorf("%s: %w", e.where(), o.Err)
		}
		versions[name] = o.version(name)
	}
	return sidecar.SeenOf(v.StateID(), versions), nil
}

// ObserveFor is [View.Observe] for the fields that field depends on. It is for
// generated code.
func (v *View) ObserveFor(field string) (sidecar.Seen, error) {
	spec, _, err := v.Field(field).find()
	if err != nil {
		return sidecar.Seen{}, err
	}
	return v.Observe(spec.DependsOn...)
}

// version returns the version of a field in o's sidecar; zero if nobody wrote
// it, or the sidecar cannot be used.
func (o *owner) version(field string) sidecar.Version {
	if o.doc == nil {
		return sidecar.Version{}
	}
	_, by, _ := o.doc.Field(field)
	return by.Version
}

// regress marks the owners whose sidecars are older than what an upgrade wrote or
// others in the view have observed of them, or gone. Dependents were read first, so
// no owner can have committed in between: somebody put an older copy back, or
// removed the file.
func (v *View) regress() {
	for i, made := range v.declared.upgraded {
		if old := v.owners[i]; old.behind(made) {
			v.owners[i] = old.regressed(document.Sighting{Version: made})
		}
	}
	for _, o := range v.owners {
		for _, s := range o.saw {
			p, ok := v.declared.fields[s.Of]
			if !ok {
				continue
			}
			if old := v.owners[p.owner]; old.behind(s.Version) {
				v.owners[p.owner] = old.regressed(s)
			}
		}
	}
}

// behind reports whether an owner whose version seen was observed cannot have
// got from there to what it is.
func (o *owner) behind(seen sidecar.Version) bool {
	switch o.Status {
	case OK:
		return o.doc.Behind(seen)
	case Missing: // no commit and no repair leaves nothing
		return !seen.IsZero() && !seen.IsPending()
	}
	return false
}

// regressed returns what is left of an owner of which something newer was seen. It
// keeps what was observed by its own programs: that was true once.
func (o *owner) regressed(seen document.Sighting) *owner {
	now := &owner{OwnerStatus: o.OwnerStatus, saw: o.saw}
	if o.Status == Missing {
		now.bad(Regressed, fmt.Errorf("%s: %w: it is gone, and %v: bring it back, or run `freehold accept %s` to go on without it", o.File, sidecar.ErrRegressed, seen, o.Name))
	} else {
		now.bad(Regressed, fmt.Errorf("%s: %w: it is at version %v, and %v: an older copy was put back; bring the newer one back, or run `freehold accept %s` to go on from the old one", o.File, sidecar.ErrRegressed, o.Version, seen, o.Name))
	}
	now.mark = now.appendMark(nil, nil)
	return now
}
