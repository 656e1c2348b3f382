//go:build unix && !linux

package store

// openBelow opens path, relative to f, if none of its parts is a symbolic link.
func (f *folder) openBelow(path string, flags int) (int, error) { return f.openStepwise(path, flags) }
