package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"golang.org/x/sys/unix"
)

func platformIdentity() Identity {
	return Identity{
		Boot:         bootID(),
		PIDNamespace: inode("/proc/self/ns/pid"),
		PID:          os.Getpid(),
		Start:        startTime("/proc/self/stat"),
		PIDFD:        ownPIDFD(),
	}
}

// OwnProc reports whether the numbers in /proc are those of this process's PID
// namespace. In a new namespace they are not before /proc is mounted anew: then
// each names some other process. See proc_pid_status(5) on NSpid: it has one
// number for each namespace from that of /proc down to the process's own.
func OwnProc() bool {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return false
	}
	for line := range bytes.Lines(status) {
		if fields := bytes.Fields(line); len(fields) > 0 && string(fields[0]) == "NSpid:" {
			return len(fields) == 2
		}
	}
	return true // Linux before 4.1 does not tell
}

// InFirstNamespace reports whether this process is in the PID namespace that
// the machine starts with, from which every process can be seen.
func InFirstNamespace() bool {
	const first = 0xeffffffc // on every machine
	return inode("/proc/self/ns/pid") == first
}

func bootID() string {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "" // no /proc: other boots cannot be told apart, so none are judged
	}
	return strings.TrimSpace(string(text))
}

func inode(path string) uint64 {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return 0
	}
	return st.Ino
}

// ownPIDFD returns the inode of this process's pidfd.
func ownPIDFD() uint64 {
	fd, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		return 0
	}
	defer unix.Close(fd)
	return pidfdInode(fd)
}

// pidfdInode returns the inode of a pidfd where it identifies the process:
// before Linux 6.9 all pidfds shared one anonymous inode.
func pidfdInode(fd int) uint64 {
	const pidfsMagic = 0x50494446
	var fs unix.Statfs_t
	var st unix.Stat_t
	if unix.Fstatfs(fd, &fs) != nil || fs.Type != pidfsMagic || unix.Fstat(fd, &st) != nil {
		return 0
	}
	return st.Ino
}

// statFields returns the fields of a /proc/PID/stat from the third on, the
// state. The second is the program's name, which may hold blanks and
// parentheses, so that fields count from the last ')'. See proc_pid_stat(5).
func statFields(path string) ([][]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:]), nil
}

// startTime returns the 22nd field of a /proc/PID/stat, or 0.
func startTime(path string) uint64 {
	const startInRest = 22 - 3
	fields, err := statFields(path)
	if err != nil || len(fields) <= startInRest {
		return 0
	}
	start, _ := strconv.ParseUint(string(fields[startInRest]), 10, 64)
	return start
}

// Since returns how long ago the process was started, by a clock that cannot be
// set, or false if that was in another boot.
func (id Identity) Since() (time.Duration, bool) {
	if id.Boot == "" || id.Start == 0 || id.Boot != Self().Boot {
		return 0, false
	}
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return 0, false
	}
	const ticks = 100 // of the kernel's clock a second, on every architecture
	started := time.Duration(id.Start) * (time.Second / ticks)
	return max(0, time.Duration(now.Nano())-started), true
}

// Ancestor reports whether pid is an ancestor of this process. If the line of
// parents cannot be followed, every process counts as one.
func Ancestor(pid int) bool {
	p, err := Open(pid)
	if err != nil {
		return !errors.Is(err, status.Gone)
	}
	defer p.Close()
	is, known := p.ancestor()
	return is || !known
}

// ancestor reports whether p is an ancestor of this process, and whether that is
// known: /proc may not show p, or some of the parents of this process. The line of
// parents is followed by the numbers that /proc shows, of whichever PID namespace.
func (p *Process) ancestor() (is, known bool) {
	if p.pid == os.Getppid() {
		return true, true
	}
	for at := "self"; p.shown > 0; {
		fields, err := statFields("/proc/" + at + "/stat")
		if err != nil || len(fields) < 2 {
			break
		}
		switch at = string(fields[1]); at {
		case strconv.Itoa(p.shown):
			return true, true
		case "0":
			return false, true
		}
	}
	return false, false
}

// HaltOf returns why process pid does not run, and the same in words for
// messages. The words also tell of a process that waits for a device.
func HaltOf(pid int) (Halt, string) {
	fields, err := statFields(fmt.Sprintf("/proc/%d/stat", pid))
	if os.IsNotExist(err) {
		return Ended, "has ended; a process that inherited the descriptor keeps the lock"
	}
	if len(fields) == 0 {
		return Running, ""
	}
	switch string(fields[0]) { // the letter of the state
	case "T":
		return Stopped, "is stopped (SIGSTOP; `kill -CONT` lets it go on)"
	case "t":
		return Traced, "is stopped by a debugger"
	case "D":
		return Running, "waits for a device"
	case "Z", "X":
		return Ended, "has ended"
	}
	return Running, ""
}
