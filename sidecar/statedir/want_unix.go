//go:build unix && !linux

package statedir

// want does nothing: what the kernel could show to others, it has no interface
// for that is documented.
func (l *Lock) want(bool) {}

// wanted reports that nobody is known to wait for the lock.
func (l *Lock) wanted() bool { return false }
