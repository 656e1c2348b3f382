package store

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"golang.org/x/sys/unix"
)

// Holder returns the id of the process that holds the lock, or 0 if this
// process cannot see one: nobody does, or somebody in a PID namespace that is
// not visible from here. It does not try the lock. By the time anybody looks
// at the answer, it may be wrong.
func (l *Lock) Holder() int { return l.holder(func(listed) bool { return true }) }

// Keeper is Holder for a lock that is held exclusively, and 0 if it is shared.
func (l *Lock) Keeper() int { return l.holder(func(l listed) bool { return l.access == "WRITE" }) }

// Holder returns who has the lock of the state that is called name, such as
// [OwnerLock]. It does not try the lock. By the time anybody looks at the answer,
// it may be wrong. It returns an error that wraps [ErrLock] if the lock is lost.
func (d *Store) Holder(m *schema.Manifest, name string) (Holder, error) {
	l, err := d.OpenLock(name, m.Locks[name])
	if err != nil {
		return Holder{}, err
	}
	defer l.file.Close()
	h := Holder{PID: l.Keeper()}
	if h.PID == 0 {
		return l.inherited(), nil
	}
	if h.Halt, h.Condition = process.HaltOf(h.PID); h.Halt == Ended {
		h.Carriers = l.Carriers()
	}
	return h, nil
}

// inherited returns who has the lock from a process that has ended, where the
// kernel does not list it.
func (l *Lock) inherited() Holder {
	heir := l.Heir()
	if heir == 0 {
		return Holder{}
	}
	return Holder{PID: heir, Halt: Ended, Condition: "inherited it from one that has ended", Carriers: l.Carriers()}
}

func (l *Lock) holder(want func(listed) bool) int {
	name, err := kernelName(int(l.file.Fd()))
	if err != nil || !process.OwnProc() {
		return 0
	}
	// The kernel lists locks a page at a time, and counts on from the last
	// page: a lock that goes away in between hides another one.
	for range 3 {
		if pid := lockHolder(name, want); pid != 0 {
			return pid
		}
	}
	return 0
}

// kernelName returns how the kernel's lists of locks name an open file:
// "fe:00:131", device and inode. Neither need be what stat(2) says, on Btrfs
// and overlayfs for example, so the kernel is asked: it lists a lock of
// another type, which has nothing to do with flock(2) and which nobody else
// uses, on the same file.
func kernelName(fd int) (string, error) {
	lock := unix.Flock_t{Type: unix.F_RDLCK}
	if err := unix.FcntlFlock(uintptr(fd), unix.F_OFD_SETLK, &lock); err != nil {
		return "", fmt.Errorf("name a lock: %w", err)
	}
	defer func() {
		lock.Type = unix.F_UNLCK
		unix.FcntlFlock(uintptr(fd), unix.F_OFD_SETLK, &lock)
	}()
	info, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", fd))
	if err != nil {
		return "", err
	}
	for line := range bytes.Lines(info) {
		text, ok := bytes.CutPrefix(line, []byte("lock:"))
		if l, good := parseLock(text); ok && good && l.kind == "OFDLCK" {
			return l.file, nil
		}
	}
	return "", fmt.Errorf("name a lock: /proc/self/fdinfo/%d does not list it", fd)
}

// A listed lock is a line of /proc/locks, or of a "lock:" in a fdinfo:
// "1: FLOCK  ADVISORY  WRITE 4242 fe:00:131 0 EOF".
type listed struct {
	kind, access string
	pid          int
	file         string
}

func parseLock(line []byte) (l listed, ok bool) {
	fields := bytes.Fields(line)
	if len(fields) < 6 {
		return listed{}, false
	}
	if string(fields[1]) == "->" { // somebody who waits for the lock above
		return listed{}, false
	}
	pid, err := strconv.Atoi(string(fields[4]))
	return listed{string(fields[1]), string(fields[3]), pid, string(fields[5])}, err == nil
}

// lockHolder looks a file up in /proc/locks, and returns the process that has a
// lock on it such as is wanted.
func lockHolder(name string, want func(listed) bool) int {
	locks, err := os.Open("/proc/locks")
	if err != nil {
		return 0
	}
	defer locks.Close()
	for lines := bufio.NewScanner(locks); lines.Scan(); {
		if l, ok := parseLock(lines.Bytes()); ok && l.kind == "FLOCK" && l.file == name && want(l) {
			return max(l.pid, 0)
		}
	}
	return 0
}
