//go:build unix && !linux

package bench

// fileSystem cannot tell: the call for it differs from system to system.
func fileSystem(string) string { return "a file system that is not looked at here" }
