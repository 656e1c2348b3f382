package inject

import "golang.org/x/sys/unix"

const (
	auditArch  = unix.AUDIT_ARCH_AARCH64
	newfstatat = unix.SYS_FSTATAT
)

var legacyKinds []syscallKind // this architecture was born without them
