// Package reader shows a state: the union of all owners' fields as they stand in
// their sidecars, with the provenance and the freshness of each. A view is true
// of one moment, and may be out of date when the caller looks at it. A reader
// takes no lock, delays no writer and writes nothing.
//
// Programs mostly use the typed view that freehold generates from a
// declaration; it is made of the types here.
//
//	r, err := reader.Open(dir)
//	defer r.Close()
//	v, err := r.View(ctx)
//	turns, err := reader.FieldOf(v, "turns", schema.Uint).Get()
//
// A map of several owners is joined by key: a part counts if it is attached to
// the incarnation of the key that the view shows.
//
// A value that depends on other owners' fields is fresh if its writer had seen
// their present versions; clocks decide nothing. Act on fresh values alone:
//
//	if tokens := v.LastPromptTokens(); tokens.Freshness().Fresh() {
//
// An owner whose sidecar is damaged, or was edited by another hand, takes only
// its own fields away. To get one of them is an error with a [store.Status] and
// a [store.Remedy], and never [ErrUnset].
//
// FORMAT.md specifies files, statuses, joining, freshness and snapshots for
// readers in other languages.
package reader
