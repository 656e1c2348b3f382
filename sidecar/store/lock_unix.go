//go:build unix

package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/dir"
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
	dir  *Store
	name string
	ino  uint64
	file *os.File
	turn turn
}

// OpenLock opens the lock file name, whose inode the manifest gives as ino. It
// returns an error that wraps [ErrLock] if the file is missing, is no plain
// file or is another one.
func (d *Store) OpenLock(name string, ino uint64) (*Lock, error) {
	fd, err := d.meta.OpenRegular(name)
	if err != nil {
		return nil, d.lockError(name, err)
	}
	l := &Lock{dir: d, name: name, ino: ino, file: os.NewFile(uintptr(fd), filepath.Join(d.meta.Path(), name))}
	if err := l.Held(); err != nil {
		l.file.Close()
		return nil, err
	}
	return l, nil
}

// lockError says that the lock file is lost, unless the system call failed for
// a reason that says nothing about the file: no lease is lost because a
// process has too many files open. What is lost with the whole state, no repair
// brings back.
func (d *Store) lockError(name string, err error) error {
	for _, passing := range []error{unix.EMFILE, unix.ENFILE, unix.ENOMEM, unix.EIO} {
		if errors.Is(err, passing) {
			return d.meta.Fail("look at the lock", name, err)
		}
	}
	if moved := d.Unmoved(); errors.Is(moved, ErrReplaced) {
		return fmt.Errorf("%s: %w with its state: %w", filepath.Join(d.meta.Path(), name), ErrLock, moved)
	}
	return fmt.Errorf("%s: %w (%w): stop the state's programs and run `freehold state repair --dir %s`",
		filepath.Join(d.meta.Path(), name), ErrLock, err, ShellWord(d.Path()))
}

// Held returns an error that wraps [ErrLock] if this is not, or no longer, the
// lock that the state's other processes use: its file was removed or replaced,
// or the directory in which it lies was. The file is looked up by its path
// from the state directory, because a .freehold that was moved away still has
// all its files.
func (l *Lock) Held() error {
	var open, named unix.Stat_t
	if err := unix.Fstat(int(l.file.Fd()), &open); err != nil {
		return l.dir.lockError(l.name, err)
	}
	if err := unix.Fstatat(l.dir.state.FD(), metaName+"/"+l.name, &named, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return l.dir.lockError(l.name, err)
	}
	if err := l.dir.meta.Plain(l.name, &named); err != nil {
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
// [ErrBusy], and ctx's own if that ended it. With a wait of zero or less it
// tries once; with [Forever] ctx alone counts. Whoever has had the lock for a
// turn lets others have it first who wait for it, for a moment, whatever wait is.
func (l *Lock) Acquire(ctx context.Context, wait time.Duration) error {
	pace := turnPace(l.turn.waited)
	long := l.turn.long()
	gave := wait > 0 && l.turn.over()
	if gave {
		if _, err := pace.Pause(ctx, wait); err != nil {
			return fmt.Errorf("%w (%w)", l.Busy(), err)
		}
	}
	asked := time.Now()
	for tries := 1; ; tries++ {
		ok, err := l.Try()
		if ok && tries == 1 && long && wanted(l.fd()) {
			ok, err = l.giveWay(ctx, wait)
			gave, asked = false, time.Now()
		}
		if ok && (gave || tries > 1) {
			l.turn.begin(asked, tries)
		}
		if ok || err != nil {
			return err
		}
		if tries == 1 && wait > 0 {
			want(l.fd(), true)
			defer want(l.fd(), false)
		}
		if more, err := pace.Pause(ctx, wait); err != nil {
			return fmt.Errorf("%w (%w)", l.Busy(), err)
		} else if !more {
			return l.Busy()
		}
	}
}

func (l *Lock) fd() int { return int(l.file.Fd()) }

// giveWay lets the lock go for those who wait for it, until they have it or have
// had time enough, and tries it again.
func (l *Lock) giveWay(ctx context.Context, wait time.Duration) (bool, error) {
	if err := l.Release(); err != nil {
		return false, err
	}
	most := timeToTake
	if wait > 0 {
		most = min(most, wait)
	}
	for start := time.Now(); wanted(l.fd()) && time.Since(start) < most && ctx.Err() == nil; {
		doze(firstPause)
	}
	ok, err := l.Try()
	if ok {
		l.turn.gaveWay(wanted(l.fd()))
	}
	return ok, err
}

// Try takes the lock, exclusively, if nobody holds it, and reports whether it
// did.
func (l *Lock) Try() (bool, error) { return l.try(unix.LOCK_EX) }

// TryShared takes the lock together with others that share it, if nobody holds
// it exclusively, and reports whether it did.
func (l *Lock) TryShared() (bool, error) { return l.try(unix.LOCK_SH) }

func (l *Lock) try(how int) (bool, error) {
	free, err := l.flock(how)
	if err != nil || !free {
		return false, err
	}
	if err := l.Held(); err != nil {
		l.Release()
		return false, err
	}
	return true, nil
}

func (l *Lock) flock(how int) (bool, error) {
	free, err := dir.Flock(int(l.file.Fd()), how)
	if err != nil {
		return false, &os.PathError{Op: "flock", Path: l.file.Name(), Err: err}
	}
	return free, nil
}

// Kept is [Lock.Held] for a lock that this process took exclusively, and makes
// sure that it has it still: whoever was passed the descriptor can let the lock
// go. If nobody took it since, it is taken again; else the error wraps
// [ErrBusy].
func (l *Lock) Kept() error {
	free, err := l.flock(unix.LOCK_EX)
	if err == nil && !free {
		err = l.Busy()
	}
	if err != nil {
		return err
	}
	return l.Held()
}

// Busy returns an error that wraps [ErrBusy] and says who holds the lock, as
// far as the kernel tells.
func (l *Lock) Busy() error { return l.held(l.Holder()) }

// held says that the process pid, or one that the kernel does not tell, holds the
// lock.
func (l *Lock) held(pid int) error {
	switch pid {
	case 0:
		if heir := l.passedOn(); heir != 0 {
			return fmt.Errorf("%s: %w: process %d holds the lock, inherited from one that has ended; end it, or look at what it does", l.file.Name(), ErrBusy, heir)
		}
		return fmt.Errorf("%s: %w: another process holds the lock; try again", l.file.Name(), ErrBusy)
	case os.Getpid():
		return fmt.Errorf("%s: %w: this process %d holds the lock itself; use the handle that it has, or close that", l.file.Name(), ErrBusy, pid)
	default:
		return fmt.Errorf("%s: %w: process %d holds the lock%s; try again, or look at what it does", l.file.Name(), ErrBusy, pid, condition(pid))
	}
}

// passedOn is [Lock.Heir] for a lock that is passed to children. Those by which
// commits take turns are not, and hundreds of processes that wait for one must not
// look at each other's descriptors meanwhile.
func (l *Lock) passedOn() int {
	if strings.HasSuffix(l.file.Name(), commitLock) {
		return 0
	}
	return l.Heir()
}

// condition is the end of a sentence about a process that does not run.
func condition(pid int) string {
	if how := Condition(pid); how != "" {
		return " and " + how
	}
	return ""
}

// Release lets the lock go and keeps the file open. It lets it go for all who
// inherited the descriptor.
func (l *Lock) Release() error {
	l.turn.released = time.Now()
	if err := unix.Flock(int(l.file.Fd()), unix.LOCK_UN); err != nil {
		return &os.PathError{Op: "unlock", Path: l.file.Name(), Err: err}
	}
	return nil
}

// File returns the open lock file, for a child that is to hold the lock
// together with this process. It must not be closed.
func (l *Lock) File() *os.File { return l.file }

// Close lets the lock go, also if a child has the descriptor at this moment
// between fork and exec, and closes the lock file.
func (l *Lock) Close() error { return errors.Join(l.Release(), l.file.Close()) }
