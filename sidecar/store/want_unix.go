//go:build unix && !linux

package store

// want does nothing: what the kernel could show to others, it has no interface
// for that is documented.
func want(int, bool) {}

// wanted reports that nobody is known to wait.
func wanted(int) bool { return false }
