// Package dir opens, reads, replaces and creates files below one directory so
// that they are the files that they seem to be: never through a symbolic link,
// never a named pipe or a device, never a file that is mounted over another,
// never in a directory that was put in the place of another, nor in one that
// other users could replace. The files are not protected from other programs of
// the same user.
package dir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"golang.org/x/sys/unix"
)

// A Dir is an open directory. Its methods are safe for concurrent use. Those
// that take a name return a [*fs.PathError] with the whole path.
type Dir struct {
	path     string
	fd       int
	file     *os.File // keeps fd open
	root     *os.Root // nil if opened by OpenDir
	cpath    []byte   // path with its final NUL, so that Unmoved allocates nothing
	dev, ino uint64   // set by Remember
}

// Open opens the directory path, which may not be a symbolic link.
func Open(path string) (*Dir, error) {
	fd, err := retry(func() (int, error) {
		return unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		if info, lerr := os.Lstat(path); lerr == nil && info.Mode()&fs.ModeSymlink != 0 {
			return nil, unsafeError(path, status.Remedy{Note: "name the directory that it points to"}, "it is a symbolic link")
		}
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return rooted(fd, path, os.OpenRoot)
}

// OpenChild opens the directory name in d. Neither a link nor a mount may stand
// in its place.
func (d *Dir) OpenChild(name string) (*Dir, error) {
	fd, err := d.openBelow(name, openFlags|unix.O_DIRECTORY)
	if err != nil {
		return nil, d.NoDir(name, err)
	}
	return rooted(fd, d.Join(name), func(string) (*os.Root, error) {
		root, err := d.root.OpenRoot(name)
		return root, d.Located(err)
	})
}

// OpenDir opens the directory path below d for a single purpose, without a
// [Dir.Root]. The error is the bare one of the system, which [Dir.NoDir] explains
// and [NotThere] classifies.
func (d *Dir) OpenDir(path string) (*Dir, error) {
	fd, err := d.openBelow(path, openFlags|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	return of(fd, d.Join(path)), nil
}

// MakeDir makes the directory name, for this user alone, if it is missing, and
// opens it as [Dir.OpenDir] does.
func (d *Dir) MakeDir(name string) (*Dir, error) {
	if err := d.Mkdir(name); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	made, err := d.OpenDir(name)
	if err != nil {
		return nil, d.NoDir(name, err)
	}
	if err := unix.Fchmod(made.fd, 0o700); err != nil { // one that was left may lack bits
		made.Close()
		return nil, d.Fail("chmod", name, err)
	}
	if err := made.Private(); err != nil {
		made.Close()
		return nil, err
	}
	return made, nil
}

// NoDir explains why the directory name of Freehold's could not be opened.
func (d *Dir) NoDir(name string, err error) error {
	said := openError(d, unix.S_IFDIR, name, err)
	if err == unix.EXDEV || !errors.Is(said, ErrIrregular) {
		return said
	}
	return status.With(said, status.Remedy{Note: "look at it and move it away"})
}

// NotThere reports whether the error of [Dir.OpenDir] means that there is no
// directory of Freehold's, even if another thing stands in its place.
func NotThere(err error) bool {
	return slices.ContainsFunc([]error{unix.ENOENT, unix.ENOTDIR, unix.ELOOP, unix.EXDEV}, func(gone error) bool { return errors.Is(err, gone) })
}

func of(fd int, path string) *Dir {
	return &Dir{path: path, fd: fd, file: os.NewFile(uintptr(fd), path)}
}

// rooted returns an open directory with a root of it. The two are compared,
// since [os.OpenRoot] has no O_NOFOLLOW and takes no descriptor.
func rooted(fd int, path string, openRoot func(path string) (*os.Root, error)) (d *Dir, err error) {
	d = of(fd, path)
	if d.root, err = openRoot(path); err == nil {
		err = sameAsRoot(d)
	}
	if err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

func sameAsRoot(d *Dir) error {
	ours, err := d.file.Stat()
	if err != nil {
		return err
	}
	theirs, err := d.root.Stat(".")
	if err != nil {
		return d.Located(err)
	}
	if !os.SameFile(ours, theirs) {
		return d.moved("it happened while it was opened", "try again")
	}
	return nil
}

// moved returns an error that wraps [status.Moved].
func (d *Dir) moved(why, note string) error {
	e := &status.Error{Status: status.Moved, Path: d.path, Remedy: status.Remedy{Note: note}}
	if why != "" {
		e.Err = errors.New(why)
	}
	return e
}

// Close closes the directory. A lock on it is let go by [Dir.Unlock] first: a
// child that is between fork and exec may have the descriptor.
func (d *Dir) Close() {
	d.file.Close()
	if d.root != nil {
		d.root.Close()
	}
}

// Path returns the path by which the directory was opened.
func (d *Dir) Path() string { return d.path }

// Join returns the path of the file name in the directory.
func (d *Dir) Join(name string) string { return filepath.Join(d.path, name) }

// FD returns the directory's descriptor, which stays open until Close.
func (d *Dir) FD() int { return d.fd }

// Root returns the directory for packages that want an [os.Root], which follows
// links within the directory: callers check names first.
func (d *Dir) Root() *os.Root { return d.root }

// Device returns the number of the directory's device at the time of
// [Dir.Remember].
func (d *Dir) Device() uint64 { return d.dev }

// Inode returns the directory's inode number at the time of [Dir.Remember].
func (d *Dir) Inode() uint64 { return d.ino }

// Sync makes the names in the directory durable, and does not retry: after an
// error the kernel may have dropped the data, and a second call would report
// success. See https://wiki.postgresql.org/wiki/Fsync_Errors.
func (d *Dir) Sync() error {
	if err := unix.Fsync(d.fd); err != nil {
		return &fs.PathError{Op: "fsync", Path: d.path, Err: err}
	}
	return nil
}

// Lock takes the kernel's lock on the directory itself, unix.LOCK_EX or
// unix.LOCK_SH, without waiting, and reports whether it did.
func (d *Dir) Lock(how int) (bool, error) {
	free, err := Flock(d.fd, how)
	if err != nil {
		return false, &fs.PathError{Op: "flock", Path: d.path, Err: err}
	}
	return free, nil
}

// Unlock lets the lock of [Dir.Lock] go.
func (d *Dir) Unlock() error { return unix.Flock(d.fd, unix.LOCK_UN) }

// Flock takes the kernel's lock on an open file, unix.LOCK_EX or unix.LOCK_SH,
// without waiting, and reports whether it did.
func Flock(fd, how int) (bool, error) {
	_, err := retry(func() (int, error) { return 0, unix.Flock(fd, how|unix.LOCK_NB) })
	if err == unix.EWOULDBLOCK {
		return false, nil
	}
	return err == nil, err
}

// FlockWait takes the kernel's lock on an open file, exclusively. Nothing ends the
// wait but the lock.
func FlockWait(fd int) error {
	_, err := retry(func() (int, error) { return 0, unix.Flock(fd, unix.LOCK_EX) })
	return err
}

// Named reports whether the directory still has its path.
func (d *Dir) Named() bool {
	is, err := bears(d.fd, unix.AT_FDCWD, d.path)
	return is && err == nil
}

// Bears reports whether the open file fd has the name in the directory.
func (d *Dir) Bears(fd int, name string) (bool, error) { return bears(fd, d.fd, name) }

func bears(fd, at int, name string) (bool, error) {
	var held, there unix.Stat_t
	if err := unix.Fstat(fd, &held); err != nil {
		return false, err
	}
	if err := unix.Fstatat(at, name, &there, unix.AT_SYMLINK_NOFOLLOW); err == unix.ENOENT {
		return false, nil
	} else if err != nil {
		return false, err
	}
	return held.Ino == there.Ino && held.Dev == there.Dev, nil
}

// A Stamp says when names were last added to a directory or taken from it, by
// the clock of its file system. Equal stamps mean that nothing happened in
// between, or that all of it happened within one tick: a few milliseconds on
// Linux before 6.13. The zero Stamp is no directory's.
type Stamp struct{ seconds, nanoseconds int64 }

// Stamp returns the directory's stamp. It allocates nothing.
func (d *Dir) Stamp() (Stamp, error) {
	var st unix.Stat_t
	if err := unix.Fstat(d.fd, &st); err != nil {
		return Stamp{}, &fs.PathError{Op: "stat", Path: d.path, Err: err}
	}
	return Stamp{int64(st.Ctim.Sec), int64(st.Ctim.Nsec)}, nil
}

// openStepwise opens path, relative to the directory dir, one part after the
// other, none of which may be a symbolic link.
func openStepwise(dir int, path string, flags int) (int, error) {
	at, rest := dir, path
	for {
		part, more, deeper := strings.Cut(rest, "/")
		how := flags
		if deeper {
			how = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC
		}
		fd, err := retry(func() (int, error) { return unix.Openat(at, part, how|unix.O_NOFOLLOW, 0) })
		if at != dir {
			unix.Close(at)
		}
		if err != nil || !deeper {
			return fd, err
		}
		at, rest = fd, more
	}
}

// Located returns err, an error of d's root, which names files relative to d, with
// their whole paths.
func (d *Dir) Located(err error) error {
	place := func(path *string) {
		if !filepath.IsAbs(*path) {
			*path = d.Join(*path)
		}
	}
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		place(&at.Path)
	}
	if at, ok := errors.AsType[*os.LinkError](err); ok {
		place(&at.Old)
		place(&at.New)
	}
	return err
}

// Fail returns the error of an operation on the file name.
func (d *Dir) Fail(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: d.Join(name), Err: err}
}

// unsafeError returns an error that wraps [status.Unsafe].
func unsafeError(path string, r status.Remedy, format string, args ...any) error {
	return &status.Error{Status: status.Unsafe, Path: path, Remedy: r, Err: fmt.Errorf(format, args...)}
}

// retry repeats a system call that a signal interrupted.
func retry[T any](call func() (T, error)) (T, error) {
	for {
		v, err := call()
		if err != unix.EINTR {
			return v, err
		}
	}
}
