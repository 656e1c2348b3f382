//go:build unix

package statedir

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// A Lock is a kernel lock on one lock file of a state, open but not
// necessarily held. It is not safe for concurrent use: the kernel sees one
// open file, however many goroutines stand behind it.
//
// The lock is flock(2). Its descriptor is close-on-exec and stays in the Lock
// for its whole life, so that no child and no garbage collection can let it
// go. gofrs/flock opens by path and follows links, which is why this is not
// that library.
type Lock struct {
	dir  *Dir
	name string
	ino  uint64
	file *os.File
}

// OpenLock opens the lock file name, whose inode the manifest gives as ino. It
// returns an error that wraps [ErrLock] if the file is missing, is no plain
// file or is another one.
func (d *Dir) OpenLock(name string, ino uint64) (*Lock, error) {
	fd, err := d.meta.openRegular(name)
	if err != nil {
		return nil, d.lockError(name, err)
	}
	l := &Lock{dir: d, name: name, ino: ino, file: os.NewFile(uintptr(fd), filepath.Join(d.meta.path, name))}
	if err := l.check(); err != nil {
		l.file.Close()
		return nil, err
	}
	return l, nil
}

func (d *Dir) lockError(name string, err error) error {
	return fmt.Errorf("%s: %w (%w): stop the state's programs and run `freehold state repair --dir %s`",
		filepath.Join(d.meta.path, name), ErrLock, err, d.path)
}

// check holds the open file against the manifest and against its name.
func (l *Lock) check() error {
	var open, named unix.Stat_t
	if err := unix.Fstat(int(l.file.Fd()), &open); err != nil {
		return l.dir.lockError(l.name, err)
	}
	if err := unix.Fstatat(l.dir.meta.fd, l.name, &named, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return l.dir.lockError(l.name, err)
	}
	if err := l.dir.meta.plain(l.name, &named); err != nil {
		return l.dir.lockError(l.name, err)
	}
	if open.Ino != l.ino || named.Ino != l.ino || named.Dev != open.Dev {
		return l.dir.lockError(l.name, fmt.Errorf("inode %d was made with the state, inode %d is there", l.ino, named.Ino))
	}
	return nil
}

// Acquire takes the lock, exclusively, and then makes sure that it is still
// the state's lock. It polls, because flock(2) has no deadline, for at most
// wait and no longer than ctx allows; then it returns an error that wraps
// [ErrBusy] or ctx's own. With a wait of zero or less it tries once.
func (l *Lock) Acquire(ctx context.Context, wait time.Duration) error {
	if err := l.poll(ctx, time.Now().Add(wait)); err != nil {
		return err
	}
	if err := l.check(); err != nil {
		l.Release()
		return err
	}
	return nil
}

const (
	firstPause = 50 * time.Microsecond // less than a commit to a fast disk takes
	lastPause  = 2 * time.Millisecond
)

// poll retries with pauses that grow to lastPause; their random half keeps
// many waiters from trying in step.
func (l *Lock) poll(ctx context.Context, deadline time.Time) error {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		err := l.try()
		if err != unix.EWOULDBLOCK {
			return err
		}
		left := time.Until(deadline)
		if left <= 0 {
			return l.busy()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w (%w)", l.busy(), context.Cause(ctx))
		case <-time.After(min(left, pause/2+rand.N(pause))):
		}
	}
}

func (l *Lock) try() error {
	_, err := retry(func() (int, error) { return 0, unix.Flock(int(l.file.Fd()), unix.LOCK_EX|unix.LOCK_NB) })
	if err != nil && err != unix.EWOULDBLOCK {
		return &os.PathError{Op: "flock", Path: l.file.Name(), Err: err}
	}
	return err
}

func (l *Lock) busy() error {
	if pid := l.holder(); pid != 0 {
		return fmt.Errorf("%s: %w: process %d holds the lock; try again, or look at what it does", l.file.Name(), ErrBusy, pid)
	}
	return fmt.Errorf("%s: %w: another process holds the lock; try again", l.file.Name(), ErrBusy)
}

// Release lets the lock go and keeps the file open.
func (l *Lock) Release() error {
	if err := unix.Flock(int(l.file.Fd()), unix.LOCK_UN); err != nil {
		return &os.PathError{Op: "unlock", Path: l.file.Name(), Err: err}
	}
	return nil
}

// Held reports whether this is still the lock that the state's other
// processes use, which it is not after its file was replaced.
func (l *Lock) Held() error { return l.check() }

// Close closes the lock file, which lets the lock go.
func (l *Lock) Close() error { return l.file.Close() }
