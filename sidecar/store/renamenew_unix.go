//go:build unix && !linux

package store

import "golang.org/x/sys/unix"

// renameNew renames a file within a directory, onto nothing: a directory never
// takes the place of one that has something in it.
func renameNew(dir int, from, to string) error { return unix.Renameat(dir, from, dir, to) }
