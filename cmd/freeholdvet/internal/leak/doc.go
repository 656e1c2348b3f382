// Package leak reports exported names that mention an owner's writer package
//
// The toolchain keeps others from importing a writer package, but not from
// calling a function that returns one of its types:
//
//	package reset // WRONG: every importer of reset can write reset's fields
//
//	func Open(ctx context.Context, dir string) (*resetfile.Writer, error) {
//		return resetfile.Open(ctx, dir, nil)
//	}
//
//	package reset // RIGHT: a verb, which writes what it is for
//
//	func Stamp(ctx context.Context, dir string) error
//
// What a writer package is made of is no better: an interface whose methods
// return it has room for the writer's Tx without naming it:
//
//	type Tx interface{ LastResetAt() sidecar.Max[time.Time] } // WRONG
//
// Programs, and packages that can be imported from within the home alone, may
// mention its writer. One inside of an any is not found.
package leak
