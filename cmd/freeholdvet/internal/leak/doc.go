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
// Programs and packages below internal may mention a writer, since not
// everybody can import them. A writer inside of an any is not found.
package leak
