package store

import "github.com/freehold-dev/freehold/sidecar/internal/process"

// taken reports whether a process has the lock. In a PID namespace of its own,
// as in a container, the kernel does not list what is held in others, so that
// there is no other way than to try, as on other systems.
func (l *Lock) taken() (bool, error) {
	if l.Holder() != 0 {
		return true, nil
	}
	if process.InFirstNamespace() && process.OwnProc() {
		return false, nil
	}
	free, err := l.TryShared()
	if free {
		l.Release()
	}
	return !free, err
}
