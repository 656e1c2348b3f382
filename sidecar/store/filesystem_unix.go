//go:build unix && !linux

package store

// localFileSystem cannot tell file systems apart here; the README's table of
// platforms says so.
func localFileSystem(*folder) error { return nil }

// FileSystem cannot tell either.
func FileSystem(string) (name string, refused bool) { return "unknown", false }
