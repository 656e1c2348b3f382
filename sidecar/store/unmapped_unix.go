//go:build unix && !linux

package store

// unmapped is about user namespaces, which there are none of here.
func unmapped(uint32) bool { return false }
