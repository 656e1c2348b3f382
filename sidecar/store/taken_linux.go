package store

// taken reports whether a process has the lock. In a PID namespace of its own,
// as in a container, the kernel does not list what is held in others, so that
// there is no other way than to try, as on other systems.
func (l *Lock) taken() (bool, error) {
	if l.Holder() != 0 {
		return true, nil
	}
	if namespace("/proc/self/ns/pid") == firstPIDNamespace && ownProc() {
		return false, nil
	}
	free, err := l.TryShared()
	if free {
		l.Release()
	}
	return !free, err
}
