package store

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// mostMoved is how often a file may be moved away under who opens it, before
// something must be mounted there.
const mostMoved = 4

// openBelow opens path, relative to f, if none of its parts is a symbolic link
// or something that was mounted there. It calls the kernel itself because
// unix.Openat2 allocates.
func (f *folder) openBelow(path string, flags int) (int, error) {
	var name [128]byte
	if len(path) >= len(name) {
		return -1, unix.ENAMETOOLONG
	}
	copy(name[:], path)
	how := unix.OpenHow{Flags: uint64(flags), Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_XDEV | unix.RESOLVE_NO_MAGICLINKS}
	for moved := 0; ; {
		fd, _, errno := unix.Syscall6(unix.SYS_OPENAT2, uintptr(f.fd), uintptr(unsafe.Pointer(&name[0])), uintptr(unsafe.Pointer(&how)), unix.SizeofOpenHow, 0, 0)
		switch errno {
		case 0:
			return int(fd), nil
		case unix.ENOENT: // so that a missing file costs no allocation
			return -1, unix.ENOENT
		case unix.ENOSYS, unix.EPERM: // an old kernel, or a filter that does not know the call
			return f.openStepwise(path, flags)
		case unix.EINTR, unix.EAGAIN: // something above was renamed meanwhile
		case unix.EXDEV: // also if what was found was moved out of f meanwhile, as an upgrade does
			if moved++; moved > mostMoved {
				return -1, errno
			}
		default:
			return -1, errno
		}
	}
}
