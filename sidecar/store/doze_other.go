//go:build !linux

package store

import "time"

// doze sleeps, on these systems as the Go runtime does it.
func doze(d time.Duration) { time.Sleep(d) }
