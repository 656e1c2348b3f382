//go:build unix && !linux

package statedir

import "golang.org/x/sys/unix"

const openFlags = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC | unix.O_NOCTTY

// openBelow opens path, relative to f, if none of its parts is a symbolic link.
func (f *folder) openBelow(path string, flags int) (int, error) { return f.openStepwise(path, flags) }

func (f *folder) openRegular(name string) (int, error) {
	fd, err := f.openQuietly(name)
	if err != nil {
		return -1, f.explain(name, err)
	}
	return fd, nil
}

// openQuietly is openRegular with the bare error of the system.
func (f *folder) openQuietly(name string) (int, error) {
	return retry(func() (int, error) { return unix.Openat(f.fd, name, openFlags, 0) })
}
