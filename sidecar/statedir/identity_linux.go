package statedir

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
		PIDFD:        pidfdInode(os.Getpid()),
	}
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

// startTime returns the 22nd field of a /proc/PID/stat. The second field is
// the program's name, which may hold blanks and parentheses, so that fields
// count from the last ')'. See proc_pid_stat(5).
func startTime(path string) uint64 {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	const startInRest = 22 - 3
	if len(fields) <= startInRest {
		return 0
	}
	start, _ := strconv.ParseUint(string(fields[startInRest]), 10, 64)
	return start
}

// pidfdInode returns the inode of pid's pidfd where it identifies the process:
// before Linux 6.9 all pidfds shared one anonymous inode.
func pidfdInode(pid int) uint64 {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return 0
	}
	defer unix.Close(fd)
	const pidfsMagic = 0x50494446
	var fs unix.Statfs_t
	var st unix.Stat_t
	if unix.Fstatfs(fd, &fs) != nil || fs.Type != pidfsMagic || unix.Fstat(fd, &st) != nil {
		return 0
	}
	return st.Ino
}
