// Package sidecar writes the sidecar of an owner. Each commit replaces the
// whole file at once, takes turns with the owner's other processes, and has
// one of five outcomes.
//
// Programs use the packages that `freehold gen` writes, which only the owner's
// home can import: they make a write of another owner's field a compile error.
// This package does not stop a program from naming an owner that is not its
// own. It is for generated packages, the command line and tests.
//
// [Writer.Update] takes the owner's lock, reads the sidecar, calls a function
// on it and publishes a new version. It returns
//
//   - [Applied]: the new version survives as the owner's durability promises;
//   - [Unchanged]: every field had the value already, as durably;
//   - [Deferred]: the owner defers when busy, its lock was not to be had in
//     time, and the operations are a pending patch, which views count from now
//     on and a later commit folds exactly once;
//   - an error: nothing has changed;
//   - an error that wraps [ErrIndeterminate]: the operating system left it
//     open. [Resolve] answers later.
//
// Updates by several goroutines on one Writer share a commit. Operations of
// pending patches commute (raise, lower, add, insert), so patches need no
// order; all other operations fail with [ErrBusy] and can be repeated.
//
// An exclusive owner has one live process: the holder of the kernel's lock on
// the owner's lease file, from [Open] until [Writer.Close] or the end of the
// process. No age, clock or record takes a lease away; a commit of an earlier
// epoch fails with [ErrFenced]. Package retire ends exactly the process that
// holds a lease.
//
// PROTOCOLS.md has the steps of each protocol, its law, and the test and model
// that hold it.
package sidecar
