// Package store reads one state directory, one way: the manifest, the owners
// with their pending patches, the claims, and the files with their roles. An
// error is an [Error]: a status, a place, and a remedy as a value.
//
// It does not protect the state from other programs of the same user: those
// can do anything, and are detected by the sums in the files.
//
// A file is never read through a symbolic link, from a named pipe or a device,
// or from a file system mounted over it, and a directory only if no other user
// could replace it. Everything below .freehold belongs to this package, and so
// do the directories of instances and those in the making or being removed,
// which begin with ".freehold-" and are locked by their process.
package store
