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
//	package reset // RIGHT: a verb, which writes its own fields
//
//	func Stamp(ctx context.Context, dir string) error
//
// An interface with methods that return the parts of a writer package is no
// better: a Tx fits in without being named:
//
//	type Tx interface{ LastResetAt() sidecar.Max[time.Time] } // WRONG
//
// The types of programs, and packages that can be imported from within the home
// alone, may mention the home's writer. A writer inside of an any is found by the
// check boxedhandle.
package leak
