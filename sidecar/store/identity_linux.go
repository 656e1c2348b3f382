package store

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

func platformIdentity() Identity {
	return Identity{
		Boot:         bootID(),
		PIDNamespace: namespace("/proc/self/ns/pid"),
		PID:          os.Getpid(),
		Start:        startTime("/proc/self/stat"),
		PIDFD:        ownPIDFD(),
	}
}

// ownProc reports whether the numbers in /proc are those of this process's PID
// namespace. In a new namespace they are not before /proc is mounted anew: then
// each names some other process. See proc_pid_status(5) on NSpid: it has one
// number for each namespace from that of /proc down to the process's own.
func ownProc() bool {
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

func bootID() string {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "" // no /proc: other boots cannot be told apart, so none are judged
	}
	return strings.TrimSpace(string(text))
}

func namespace(path string) uint64 {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return 0
	}
	return st.Ino
}

// startTime returns the 22nd field of a /proc/PID/stat.
func startTime(path string) uint64 {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	fields := statFields(text)
	const startInRest = 22 - 3
	if len(fields) <= startInRest {
		return 0
	}
	start, _ := strconv.ParseUint(string(fields[startInRest]), 10, 64)
	return start
}

// statFields returns the fields of a /proc/PID/stat from the third on, the
// state. The second is the program's name, which may hold blanks and
// parentheses, so that fields count from the last ')'. See proc_pid_stat(5).
func statFields(text []byte) [][]byte {
	return bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
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
