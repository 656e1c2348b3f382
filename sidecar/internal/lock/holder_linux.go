package lock

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"golang.org/x/sys/unix"
)

// Holder returns the id of the process that holds the lock, or 0 if this
// process cannot see one: no process does, or one in a PID namespace that is
// not visible from here. The lock is not tried, and the answer may be wrong by the
// time of its use.
func (l *Lock) Holder() int { return l.holder(func(listed) bool { return true }) }

// ExclusiveHolder is Holder for a lock that is held exclusively, and 0 if it is
// shared.
func (l *Lock) ExclusiveHolder() int {
	return l.holder(func(l listed) bool { return l.access == "WRITE" })
}

func (l *Lock) holder(want func(listed) bool) int {
	name, err := kernelName(l.fd)
	if err != nil || !process.OwnProc() {
		return 0
	}
	// The kernel lists locks a page at a time, and counts on from the last
	// page: a lock that goes away in between hides another one.
	for range 3 {
		if pid := lookUp(name, want); pid != 0 {
			return pid
		}
	}
	return 0
}

// HolderOfInode returns the process that holds a lock on the file with the inode
// number ino, which may have no name any more, on the device of the open file
// fd, or 0.
func HolderOfInode(fd int, ino uint64) int {
	name, err := kernelName(fd)
	if err != nil {
		return 0
	}
	device := name[:strings.LastIndexByte(name, ':')+1]
	return lookUp(device+strconv.FormatUint(ino, 10), func(listed) bool { return true })
}

// Taken reports whether a process has the lock. In a PID namespace of its own,
// as in a container, the kernel does not list the locks that are held in others,
// so that there is no other way than to try, as on other systems.
func (l *Lock) Taken() (bool, error) {
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

// HeldBy reports whether the process p took the lock and has it: one of its
// descriptors carries the lock, and the lock is in its name. A child that
// inherited the descriptor carries it too, in its parent's name.
func (l *Lock) HeldBy(p *process.Process) (bool, error) {
	name, err := kernelName(l.fd)
	if err != nil {
		return false, err
	}
	holds, err := carries(p.PID(), name, func(l listed) bool { return l.pid == p.PID() && l.access == "WRITE" })
	if err != nil {
		return false, errors.Join(err, p.There())
	}
	return holds, p.There()
}

// Inheritors returns the processes that have a descriptor which carries the
// lock, as far as this process may look: at every process of the machine. Callers
// have a lock that outlived its holder.
func (l *Lock) Inheritors() []int { return l.carriers(func(listed) bool { return true }) }

// InheritedBy returns a process that inherited the lock from one that has ended,
// where [Lock.Holder] cannot tell, or 0. In a PID namespace of its own, as in a
// container, the kernel leaves a lock out of its list once the process is gone
// that took the lock, as if that were free. A descriptor that carries the lock
// still shows it, in the name of process 0. Every visible process is looked at.
func (l *Lock) InheritedBy() int {
	if process.InFirstNamespace() {
		return 0
	}
	if pids := l.carriers(func(l listed) bool { return l.pid == 0 }); len(pids) > 0 {
		return pids[0]
	}
	return 0
}

func (l *Lock) carriers(want func(listed) bool) []int {
	name, err := kernelName(l.fd)
	if err != nil || !process.OwnProc() {
		return nil
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if ok, _ := carries(pid, name, want); ok {
			pids = append(pids, pid)
		}
	}
	return pids
}

// carries reports whether a descriptor of process pid carries an flock on the
// file that the kernel calls name.
func carries(pid int, name string, want func(listed) bool) (bool, error) {
	dir := fmt.Sprintf("/proc/%d/fdinfo/", pid)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		for l := range locksOf(dir + e.Name()) { // none if it was closed meanwhile
			if l.kind == "FLOCK" && l.file == name && want(l) {
				return true, nil
			}
		}
	}
	return false, nil
}

// kernelName returns the name of an open file in the kernel's lists of locks:
// "fe:00:131", device and inode. Neither need be the one of stat(2), on Btrfs
// and overlayfs for example, so the kernel is asked: it lists a lock of another
// type, which has nothing to do with flock(2) and which is used for nothing else,
// on the same file.
func kernelName(fd int) (string, error) {
	lock := unix.Flock_t{Type: unix.F_RDLCK}
	if err := unix.FcntlFlock(uintptr(fd), unix.F_OFD_SETLK, &lock); err != nil {
		return "", fmt.Errorf("name a lock: %w", err)
	}
	defer func() {
		lock.Type = unix.F_UNLCK
		unix.FcntlFlock(uintptr(fd), unix.F_OFD_SETLK, &lock)
	}()
	path := fmt.Sprintf("/proc/self/fdinfo/%d", fd)
	for l := range locksOf(path) {
		if l.kind == "OFDLCK" {
			return l.file, nil
		}
	}
	return "", fmt.Errorf("name a lock: %s does not list it", path)
}

// A listed lock is a line of /proc/locks, or of a "lock:" in a fdinfo:
// "1: FLOCK  ADVISORY  WRITE 4242 fe:00:131 0 EOF".
type listed struct {
	kind, access string
	pid          int
	file         string
}

// locksOf yields the locks that a fdinfo lists; none if it cannot be read.
func locksOf(fdinfo string) func(yield func(listed) bool) {
	return func(yield func(listed) bool) {
		text, _ := os.ReadFile(fdinfo)
		for line := range bytes.Lines(text) {
			rest, ok := bytes.CutPrefix(line, []byte("lock:"))
			if !ok {
				continue
			}
			if l, ok := parseLock(rest); ok && !yield(l) {
				return
			}
		}
	}
}

func parseLock(line []byte) (l listed, ok bool) {
	fields := bytes.Fields(line)
	if len(fields) < 6 || string(fields[1]) == "->" { // the latter waits for the lock above
		return listed{}, false
	}
	pid, err := strconv.Atoi(string(fields[4]))
	return listed{string(fields[1]), string(fields[3]), pid, string(fields[5])}, err == nil
}

// lookUp looks a file up in /proc/locks, and returns the process that has a
// lock on it such as is wanted.
func lookUp(name string, want func(listed) bool) int {
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
