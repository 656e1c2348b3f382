package inject

import (
	"slices"
	"syscall"
)

// changing leaves out those of the [changes] that only look.
func changing(c Call) bool {
	switch c.Name {
	case "openat":
		return c.Args[2]&(syscall.O_CREAT|syscall.O_TRUNC) != 0
	case "fcntl":
		return !slices.Contains([]uint64{syscall.F_GETFD, syscall.F_SETFD, syscall.F_GETFL, syscall.F_DUPFD_CLOEXEC}, c.Args[1])
	}
	return true
}
