// Package rawsidecar reports use of the library beneath the generated code
//
// Package sidecar writes for any owner by name. Programs keep to their own fields
// because only an owner's home can import the owner's writer package:
//
//	w, err := sidecar.Open(ctx, dir, nil, "cost", nil) // WRONG: may this program?
//
//	w, err := costfile.Open(ctx, dir, nil) // RIGHT, below the home of cost
//	err := cost.Record(ctx, dir, log)      // RIGHT, everywhere else
//
// Reported are the functions of package sidecar, and of the packages below, that
// open, change or lock a state. Generated code, tests and the command line may.
package rawsidecar
