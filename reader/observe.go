package reader

import (
	"fmt"

	"github.com/freehold-dev/freehold/sidecar/store"
)

// Observe returns what v holds of the fields, as a token for whoever will write
// a value that is computed from data gathered from now on. It is for the command
// line; programs observe for one field, with a token of its own type. It returns
// an error that wraps [ErrUnknownField] if no owner declares a field, and the
// error of the owner's sidecar if that cannot be used. That nobody has written a
// field can be observed too.
func (v *View) Observe(fields ...string) (store.Seen, error) {
	versions := map[string]store.Version{}
	for _, name := range fields {
		e := v.Field(name)
		_, o, err := e.find()
		if err != nil {
			return store.Seen{}, err
		}
		if why := v.declared.declaration.NotObservable(name); why != "" {
			return store.Seen{}, fmt.Errorf("%s: %w: it is %s, and cannot be observed: name another field", e.where(), store.NotObserved, why)
		}
		if o.Err != nil {
			return store.Seen{}, fmt.Errorf("%s: %w", e.where(), o.Err)
		}
		versions[name] = o.version(name)
	}
	return store.SeenOf(v.StateID(), versions), nil
}

// ObserveFor is [View.Observe] for the fields that field depends on. It is for
// generated code.
func (v *View) ObserveFor(field string) (store.Seen, error) {
	spec, _, err := v.Field(field).find()
	if err != nil {
		return store.Seen{}, err
	}
	return v.Observe(spec.DependsOn...)
}

// version returns the version of a field in o's sidecar; zero if nobody wrote
// it, or the sidecar cannot be used.
func (o *owner) version(field string) store.Version {
	_, by, _ := o.stored.Field(field)
	return by.Version
}
