//go:build !linux

package store

import "time"

// Since cannot tell outside Linux.
func (id Identity) Since() (time.Duration, bool) { return 0, false }
