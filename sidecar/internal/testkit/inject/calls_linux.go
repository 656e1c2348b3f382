//go:build amd64 || arm64

package inject

import (
	"fmt"
	"slices"

	"golang.org/x/sys/unix"
)

// syscallKind describes a system call that can be counted. Each letter of files is one argument: f a descriptor, p a path, d the directory
// that the next path is relative to, - anything else. A call without files is counted only if a plan names it.
type syscallKind struct {
	name   string
	number uint32
	files  string
}

// kinds must never have the calls between the filter and the command (sendmsg, futex, …): the launcher would wait for a parent that does
// not listen yet. The calls without a directory argument, which Go never makes, are in legacyKinds.
var kinds = []syscallKind{
	{"openat", unix.SYS_OPENAT, "dp"}, {"openat2", unix.SYS_OPENAT2, "dp"}, {"close", unix.SYS_CLOSE, "f"}, {"flock", unix.SYS_FLOCK, "f"},
	{"read", unix.SYS_READ, "f"}, {"readv", unix.SYS_READV, "f"}, {"pread64", unix.SYS_PREAD64, "f"}, {"preadv", unix.SYS_PREADV, "f"},
	{"write", unix.SYS_WRITE, "f"}, {"writev", unix.SYS_WRITEV, "f"}, {"pwrite64", unix.SYS_PWRITE64, "f"}, {"pwritev", unix.SYS_PWRITEV, "f"},
	{"copy_file_range", unix.SYS_COPY_FILE_RANGE, "f-f"}, {"sendfile", unix.SYS_SENDFILE, "ff"}, {"fallocate", unix.SYS_FALLOCATE, "f"},
	{"ftruncate", unix.SYS_FTRUNCATE, "f"}, {"truncate", unix.SYS_TRUNCATE, "p"}, {"fcntl", unix.SYS_FCNTL, "f"},
	{"fsync", unix.SYS_FSYNC, "f"}, {"fdatasync", unix.SYS_FDATASYNC, "f"}, {"syncfs", unix.SYS_SYNCFS, "f"},
	{"renameat", unix.SYS_RENAMEAT, "dpdp"}, {"renameat2", unix.SYS_RENAMEAT2, "dpdp"}, {"linkat", unix.SYS_LINKAT, "dpdp"},
	{"symlinkat", unix.SYS_SYMLINKAT, "pdp"}, {"unlinkat", unix.SYS_UNLINKAT, "dp"}, {"mkdirat", unix.SYS_MKDIRAT, "dp"},
	{"fchmod", unix.SYS_FCHMOD, "f"}, {"fchmodat", unix.SYS_FCHMODAT, "dp"}, {"fchmodat2", unix.SYS_FCHMODAT2, "dp"},
	{"fchown", unix.SYS_FCHOWN, "f"}, {"fchownat", unix.SYS_FCHOWNAT, "dp"}, {"utimensat", unix.SYS_UTIMENSAT, "dp"},
	{"fstat", unix.SYS_FSTAT, "f"}, {"newfstatat", newfstatat, "dp"}, {"statx", unix.SYS_STATX, "dp"}, {"statfs", unix.SYS_STATFS, "p"},
	{"fstatfs", unix.SYS_FSTATFS, "f"}, {"getdents64", unix.SYS_GETDENTS64, "f"}, {"readlinkat", unix.SYS_READLINKAT, "dp"},
	{"faccessat", unix.SYS_FACCESSAT, "dp"}, {"faccessat2", unix.SYS_FACCESSAT2, "dp"},
	{"kill", unix.SYS_KILL, ""}, {"pidfd_open", unix.SYS_PIDFD_OPEN, ""}, {"pidfd_send_signal", unix.SYS_PIDFD_SEND_SIGNAL, ""},
}

// chosen finds the named calls; no names means every call on files.
func chosen(names []string) (map[uint32]syscallKind, error) {
	counted := make(map[uint32]syscallKind)
	known := make(map[string]bool)
	for _, kind := range slices.Concat(kinds, legacyKinds) {
		known[kind.name] = true
		if slices.Contains(names, kind.name) || len(names) == 0 && kind.files != "" {
			counted[kind.number] = kind
		}
	}
	for _, name := range names {
		if !known[name] {
			return nil, fmt.Errorf("inject: system call %q is not in the table; add it to calls_linux.go", name)
		}
	}
	return counted, nil
}
