package lock

import "time"

// SetWaiting does nothing: for the locks that the kernel could show to others
// there is no documented interface.
func SetWaiting(int, bool) {}

// HasWaiters returns false likewise.
func HasWaiters(int) bool { return false }

// yield does nothing likewise.
func yield() {}

func nanosleep(d time.Duration) { time.Sleep(d) }

// Holder returns 0: the kernel does not tell.
func (l *Lock) Holder() int { return 0 }

// ExclusiveHolder returns 0 likewise.
func (l *Lock) ExclusiveHolder() int { return 0 }

// InheritedBy returns 0 likewise.
func (l *Lock) InheritedBy() int { return 0 }

// Inheritors returns nil likewise.
func (l *Lock) Inheritors() []int { return nil }

// HolderOfInode returns 0 likewise.
func HolderOfInode(int, uint64) int { return 0 }

// Taken reports whether a process has the lock. The kernel does not tell, so
// that there is no other way than to try.
func (l *Lock) Taken() (bool, error) {
	free, err := l.Try()
	if free {
		l.Release()
	}
	return !free, err
}
