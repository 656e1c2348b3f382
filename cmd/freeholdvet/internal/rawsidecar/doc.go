// Package rawsidecar reports use of the library beneath the generated code
//
// Package sidecar takes an owner's name from anybody. What keeps programs to
// their own fields is that only an owner's home can import its writer package:
//
//	w, err := sidecar.Open(ctx, dir, nil, "cost", nil) // WRONG: says who?
//
//	w, err := costfile.Open(ctx, dir, nil) // RIGHT, below the home of cost
//	err := cost.Record(ctx, dir, log)      // RIGHT, everywhere else
//
// It reports what of package sidecar, and of the packages below it, opens,
// changes or locks a state. Generated code, tests and the command line may do so.
package rawsidecar
