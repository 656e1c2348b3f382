package store

import (
	"io"

	"golang.org/x/sys/unix"
)

// want says, until it is called with false, that this process waits for the
// kernel's lock on the open file fd. The kernel shows that to whoever asks, and
// forgets it when the process ends. It is a lock of another type, which has nothing
// to do with flock(2), on a byte that the file does not have. It is a hint: who
// cannot give it waits all the same.
func want(fd int, yes bool) {
	hint := wanting(unix.F_UNLCK)
	if yes {
		hint = wanting(unix.F_RDLCK)
	}
	_ = unix.FcntlFlock(uintptr(fd), unix.F_OFD_SETLK, &hint)
}

// wanted reports whether others wait for the kernel's lock on fd, as far as they
// say so.
func wanted(fd int) bool {
	hint := wanting(unix.F_WRLCK)
	err := unix.FcntlFlock(uintptr(fd), unix.F_OFD_GETLK, &hint)
	return err == nil && hint.Type != unix.F_UNLCK
}

func wanting(how int16) unix.Flock_t {
	return unix.Flock_t{Type: how, Whence: io.SeekStart, Start: 1, Len: 1}
}
