package store

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ExitStatus returns how the process ended, if it has and the kernel tells: to
// others than the parent it does while the parent has not looked, and from
// Linux 6.15 on also afterwards.
func (p *Process) ExitStatus() (unix.WaitStatus, bool) {
	for range 3 { // between the two looks the parent may have looked
		if status, ok := p.reapedStatus(); ok {
			return status, true
		}
		if status, ok := p.zombieStatus(); ok {
			return status, true
		}
		time.Sleep(time.Millisecond)
	}
	return 0, false
}

// pidfdInfo is struct pidfd_info of <linux/pidfd.h>, in its first size.
type pidfdInfo struct {
	mask     uint64
	cgroup   uint64
	ids      [11]uint32 // pid, tgid, ppid, and the users and groups
	exitCode int32
}

func (p *Process) reapedStatus() (unix.WaitStatus, bool) {
	const (
		infoExit = 1 << 3                                                // PIDFD_INFO_EXIT
		getInfo  = 3<<30 | unsafe.Sizeof(pidfdInfo{})<<16 | 0xff<<8 | 11 // PIDFD_GET_INFO
	)
	info := pidfdInfo{mask: infoExit}
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(p.fd), getInfo, uintptr(unsafe.Pointer(&info)))
	return unix.WaitStatus(info.exitCode), errno == 0 && info.mask&infoExit != 0
}

// zombieStatus reads the last field of /proc/PID/stat, the number of which is
// not used again before the parent has looked.
func (p *Process) zombieStatus() (unix.WaitStatus, bool) {
	text, err := os.ReadFile(p.proc("stat"))
	if err != nil {
		return 0, false
	}
	fields := statFields(text)
	if len(fields) == 0 || !bytes.Equal(fields[0], []byte("Z")) {
		return 0, false
	}
	code, err := strconv.Atoi(string(fields[len(fields)-1]))
	if err != nil || errors.Is(p.Signal(0), ErrGone) {
		return 0, false
	}
	return unix.WaitStatus(code), true
}
