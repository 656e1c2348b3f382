package inject

import "golang.org/x/sys/unix"

const (
	auditArch  = unix.AUDIT_ARCH_X86_64
	newfstatat = unix.SYS_NEWFSTATAT
)

var legacyKinds = []syscallKind{
	{"open", unix.SYS_OPEN, "p"}, {"creat", unix.SYS_CREAT, "p"}, {"rename", unix.SYS_RENAME, "pp"}, {"link", unix.SYS_LINK, "pp"},
	{"symlink", unix.SYS_SYMLINK, "pp"}, {"unlink", unix.SYS_UNLINK, "p"}, {"mkdir", unix.SYS_MKDIR, "p"}, {"rmdir", unix.SYS_RMDIR, "p"},
	{"chmod", unix.SYS_CHMOD, "p"}, {"chown", unix.SYS_CHOWN, "p"}, {"stat", unix.SYS_STAT, "p"}, {"lstat", unix.SYS_LSTAT, "p"},
	{"access", unix.SYS_ACCESS, "p"}, {"readlink", unix.SYS_READLINK, "p"},
}
