package main

import (
	"os"
	"path/filepath"
	"syscall"
)

// Tests make files that another user is to read or run, and modules as a user
// has them, under the usual umask. The program has the one
// that its caller gives it: tests that need another set it.
func init() {
	if filepath.Base(os.Args[0]) != "freehold" {
		syscall.Umask(0o022)
	}
}
