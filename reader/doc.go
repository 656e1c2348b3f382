// Package reader shows a state: the union of all owners' fields as they stand
// in their sidecars, each with a record of where it comes from. It takes no
// lock, delays no writer and writes nothing; a view is what was true at one
// moment, not what is true now.
//
// Programs mostly use the typed view that freehold generates from a
// declaration; it is made of the types here.
//
//	r, err := reader.Open(dir)
//	defer r.Close()
//	v, err := r.View(ctx)
//	turns, err := reader.FieldOf(v, "turns", schema.Uint{}).Get()
//
// To be told of every change there is [Reader.Watch]:
//
//	for v, err := range r.Watch(ctx) {
//
// A map of several owners is joined by key: what an owner has at a key counts
// if it is attached to the incarnation of the key that the view shows.
//
// An owner whose sidecar is damaged, or was edited by another hand, takes only
// its own fields away. Getting one of them is an error that says what happened
// and what to do; it is never the same error as for a field that nobody has
// set.
package reader
