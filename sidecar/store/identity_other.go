//go:build !linux

package store

import "os"

// platformIdentity has no boot id and no start time outside Linux: the nonce
// still tells processes apart, but nobody can judge whether one is alive.
func platformIdentity() Identity { return Identity{PID: os.Getpid()} }

// ownProc is true where there is no /proc that could mislead.
func ownProc() bool { return true }
