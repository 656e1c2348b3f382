package lock

import (
	"io"
	"time"

	"golang.org/x/sys/unix"
)

// SetWaiting says, until it is called with false, that this process waits for
// the kernel's lock on the open file fd. The kernel shows that to other
// processes, and forgets it when this one ends. The sign is a lock of another
// type, which has nothing to do with flock(2), on a byte that the file does not
// have. A process that cannot give this hint waits all the same.
func SetWaiting(fd int, yes bool) {
	hint := waiting(unix.F_UNLCK)
	if yes {
		hint = waiting(unix.F_RDLCK)
	}
	_ = unix.FcntlFlock(uintptr(fd), unix.F_OFD_SETLK, &hint)
}

// HasWaiters reports whether other processes say that they wait for the kernel's
// lock on fd.
func HasWaiters(fd int) bool {
	hint := waiting(unix.F_WRLCK)
	err := unix.FcntlFlock(uintptr(fd), unix.F_OFD_GETLK, &hint)
	return err == nil && hint.Type != unix.F_UNLCK
}

func waiting(how int16) unix.Flock_t {
	return unix.Flock_t{Type: how, Whence: io.SeekStart, Start: 1, Len: 1}
}

// yield lets a thread run that waits for the processor of this one.
func yield() { unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }

// nanosleep sleeps for less than a millisecond. A timer of the Go runtime does
// not: an idle process waits for its timers in whole milliseconds, which is as
// long as two commits take. A signal may end it early.
func nanosleep(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	unix.Nanosleep(&t, nil)
}
