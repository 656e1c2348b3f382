//go:build !linux

package inject

// changing leaves out nothing: no call is looked at here.
func changing(Call) bool { return true }
