//go:build unix && !linux

package store

// taken reports whether a process has the lock. The kernel does not tell, so
// that there is no other way than to try.
func (l *Lock) taken() (bool, error) {
	free, err := l.Try()
	if free {
		l.Release()
	}
	return !free, err
}
