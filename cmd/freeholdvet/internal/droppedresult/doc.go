// Package droppedresult reports commits whose outcome is ignored
//
// An Update that could not take the owner's lock, or met a foreign sidecar,
// has changed nothing and says so in its error alone:
//
//	w.Update(ctx, stamp)        // WRONG
//	_, _ = w.Update(ctx, stamp) // WRONG
//	go w.Update(ctx, stamp)     // WRONG
//
//	if _, err := w.Update(ctx, stamp); err != nil { // RIGHT
//		return fmt.Errorf("stamp the reset: %w", err)
//	}
//
// The same goes for every other function of a writer package or of package
// sidecar that returns an error, except Close, and for every function that
// takes sidecar.Options, a Writer or a Tx, or returns a sidecar.Commit, or a
// struct that embeds one, as a home's verbs and their parts do.
package droppedresult
