// Package leak finds exported API through which code outside of an owner's
// home could come by the owner's writer. The toolchain keeps others from
// importing a writer package, but not from calling a function that returns
// one of its types:
//
//	package reset // WRONG: every importer of reset can write reset's fields
//
//	func Open(ctx context.Context, dir string) (*resetfile.Writer, error) {
//		return resetfile.Open(ctx, dir, nil)
//	}
//
// A home exports verbs instead:
//
//	package reset // RIGHT
//
//	func Stamp(ctx context.Context, dir string) error
//
// What a writer package is made of, such as a sidecar.Tx or a field's
// sidecar.Max, is a leak too: an interface whose methods return it has room
// for a writer's Tx without naming it.
//
// It looks at types. A writer that travels inside of an interface value, such
// as an any, is not found, nor one that is called through a function value.
package leak
