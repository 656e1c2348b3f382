// Package store opens a state directory so that what is read and locked
// there is what it seems to be: never through a symbolic link, never a named
// pipe or a device, never what is mounted over a file, never a directory that
// was put in the place of another, nor one that others could replace.
// It does not protect the state from other programs of the same user: those
// can do anything, and are detected by package document.
//
// Everything below .freehold belongs to this package: the manifest, the lock
// files and their identities, and the records. So do the directories of
// instances, and those in the making or being removed, which begin with
// ".freehold-" and are locked by whoever is at it. So do the identities of
// processes, which tell the holder of a lock from its successor.
package store
