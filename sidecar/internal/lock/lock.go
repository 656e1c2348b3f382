// Package lock takes kernel locks on the lock files of a state, with a deadline
// and in fair turns, and says which process holds one. No lock file is made here:
// one that is missing or was not made with the state is an error.
package lock

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/dir"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"github.com/freehold-dev/freehold/sidecar/internal/witness"
	"golang.org/x/sys/unix"
)

// A Lock is a kernel lock on one lock file of a state, open but not
// necessarily held, for one goroutine at a time: the kernel sees one open file,
// however many goroutines stand behind.
//
// The lock is flock(2). Its descriptor is close-on-exec and stays in the Lock
// for its whole life, so that no child and no garbage collection can let it
// go. gofrs/flock opens by path and follows links, which is why this is not
// that library.
type Lock struct {
	state *dir.Dir
	path  string // relative to state
	ino   uint64
	file  *os.File
	fd    int // of file, as long as the thread of queue may use it
	queue queue
	// contended is how many calls of Acquire are still to give way first.
	contended int
}

// Open opens the lock file path, relative to the state directory, with the inode
// ino and the id of the manifest, which may be empty. The error wraps
// [status.Lost] if the file is missing, is no plain file or is another one.
func Open(state *dir.Dir, path string, ino uint64, id string) (*Lock, error) {
	l := &Lock{state: state, path: path, ino: ino}
	fd, err := state.OpenRegular(path)
	if err != nil {
		return nil, l.lost(err)
	}
	l.fd, l.file = fd, os.NewFile(uintptr(fd), state.Join(path))
	err = l.Held()
	if err == nil && id != "" {
		err = l.identify(id)
	}
	if err != nil {
		l.file.Close()
		return nil, err
	}
	return l, nil
}

// identify returns an error that wraps [status.Lost] unless the file has the id:
// a file that was made anew may have the inode number of the former one.
func (l *Lock) identify(id string) error {
	line := make([]byte, witness.IDSize)
	n, err := l.file.ReadAt(line, 0)
	if err != nil && err != io.EOF {
		return l.lost(err)
	}
	if found := witness.ParseID(line[:n]); found != id {
		return l.lost(fmt.Errorf("the id %q was made with the state, the file has %q", id, found))
	}
	return nil
}

// lost returns an error that wraps [status.Lost], unless the system call failed
// for a reason that says nothing about the file: no lease is lost because a
// process has too many files open. A lock that is lost with its whole state no
// repair brings back.
func (l *Lock) lost(err error) error {
	for _, passing := range []error{unix.EMFILE, unix.ENFILE, unix.ENOMEM, unix.EIO} {
		if errors.Is(err, passing) {
			return l.state.Fail("look at the lock", l.path, err)
		}
	}
	remedy := dir.Unmount(l.state.Join(l.path), status.By(status.Repair))
	if moved := l.state.Unmoved(); errors.Is(moved, status.Moved) {
		err, remedy = moved, status.RemedyOf(moved)
	}
	return &status.Error{Status: status.Lost, Path: l.state.Join(l.path), Remedy: remedy, Err: err}
}

// Held returns an error that wraps [status.Lost] if this is not, or no longer,
// the lock that the state's other processes use: its file or the directory above
// was removed or replaced. The file is looked up by its
// path from the state directory, because a .freehold that was moved away still
// has all its files.
func (l *Lock) Held() error {
	var open, named unix.Stat_t
	err := unix.Fstat(l.fd, &open)
	if err == nil {
		err = unix.Fstatat(l.state.FD(), l.path, &named, unix.AT_SYMLINK_NOFOLLOW)
	}
	if err == nil {
		err = l.state.Plain(l.path, &named)
	}
	if err == nil && (open.Ino != l.ino || named.Ino != l.ino || named.Dev != open.Dev) {
		err = fmt.Errorf("inode %d was made with the state, inode %d is there", l.ino, named.Ino)
	}
	if err != nil {
		return l.lost(err)
	}
	return nil
}

// contention is how many calls of Acquire give way after one that found the lock
// taken. A process that runs takes the lock again before the waiter that the kernel
// wakes: without giving way the slowest of eight processes made 0.4 commits for one
// of the fastest, with it 0.8.
const contention = 16

// Acquire takes the lock, exclusively, and then makes sure that it is still
// the state's lock. It waits for at most wait and no longer than ctx allows; then
// the error wraps [status.Busy], and ctx's own if that ended the wait. A wait of
// zero or less means one try; with [Forever] ctx alone counts.
//
// The kernel wakes the waiters of flock(2) in their order, so that nothing polls.
func (l *Lock) Acquire(ctx context.Context, wait time.Duration) error {
	if l.contended > 0 {
		l.contended--
		yield()
	}
	if ok, err := l.Try(); ok || err != nil {
		return err
	}
	l.contended = contention
	if wait <= 0 {
		return l.Busy()
	}
	got := l.queue.enter(l.file)
	timeout := make(<-chan time.Time)
	if wait != Forever {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		timeout = timer.C
	}
	select {
	case err := <-got:
		return l.arrived(err)
	case <-timeout:
	case <-ctx.Done():
	}
	if err, late := l.queue.leave(); late {
		return l.arrived(err)
	}
	if cause := context.Cause(ctx); cause != nil {
		return fmt.Errorf("%w (%w)", l.Busy(), cause)
	}
	return l.Busy()
}

// arrived ends a wait in line of which err is the end.
func (l *Lock) arrived(err error) error {
	if err != nil {
		return &os.PathError{Op: "flock", Path: l.file.Name(), Err: err}
	}
	if err := l.Held(); err != nil {
		l.Release()
		return err
	}
	return nil
}

// Try takes the lock, exclusively, if no process holds it, and reports whether
// it did.
func (l *Lock) Try() (bool, error) { return l.try(unix.LOCK_EX) }

// TryShared takes the lock together with others that share it, if no process
// holds it exclusively, and reports whether it did.
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
	free, err := l.queue.flock(l.fd, how)
	if err != nil {
		return false, &os.PathError{Op: "flock", Path: l.file.Name(), Err: err}
	}
	return free, nil
}

// Kept is [Lock.Held] for a lock that this process took exclusively, and has to
// have still: a process that was passed the descriptor can let the lock go. If no
// process took the lock since, Kept takes it again; else the error wraps
// [status.Busy].
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

// Busy returns an error that wraps [status.Busy] and names the process that
// holds the lock, if the kernel's list of locks has one. Other processes are not
// looked at: hundreds that wait would hold each other up.
func (l *Lock) Busy() error { return l.BusyBy(l.Holder()) }

// BusyBy returns an error that wraps [status.Busy] and names the process pid,
// which holds the lock. pid 0 means that the kernel did not report one.
func (l *Lock) BusyBy(pid int) error {
	note, err := "try again", errors.New("another process holds the lock")
	switch pid {
	case 0:
	case os.Getpid():
		note, err = "use the handle that it has, or close that", fmt.Errorf("this process %d holds the lock itself", pid)
	default:
		note, err = "try again, or look at that process", fmt.Errorf("process %d holds the lock", pid)
		if how := process.Condition(pid); how != "" {
			err = fmt.Errorf("%w and %s", err, how)
		}
	}
	return &status.Error{Status: status.Busy, Path: l.file.Name(), Remedy: status.Remedy{Note: note}, Err: err}
}

// Release lets the lock go, also for all processes that inherited the descriptor,
// and keeps the file open.
func (l *Lock) Release() error {
	if err := l.queue.release(l.fd); err != nil {
		return &os.PathError{Op: "unlock", Path: l.file.Name(), Err: err}
	}
	return nil
}

// File returns the open lock file, for a child that is to hold the lock
// together with this process. The caller must not close the file.
func (l *Lock) File() *os.File { return l.file }

// Close lets the lock go, also if a child has the descriptor at this moment
// between fork and exec, and closes the lock file.
func (l *Lock) Close() error { return errors.Join(l.Release(), l.queue.close(l.file)) }

// A Holder is the process that has a lock for itself, as far as the kernel tells.
type Holder struct {
	// PID is 0 if no process has the lock, or one that cannot be seen from here.
	PID int
	// Halt is why the process does not run, and Condition says so in words,
	// as [process.HaltOf] does.
	Halt      process.Halt
	Condition string
	// Inheritors are the processes that keep the lock of one that has ended,
	// since they inherited its descriptor.
	Inheritors []int
}

// Examine returns the process that has the lock exclusively, or that inherited
// the lock, without trying to take it. Examine may look at every process of the
// machine: it is for reports, never for a refusal. The answer may be wrong by the
// time of its use.
func (l *Lock) Examine() Holder {
	h := Holder{PID: l.ExclusiveHolder()}
	if h.PID == 0 {
		if h.PID = l.InheritedBy(); h.PID == 0 {
			return Holder{}
		}
		h.Halt, h.Condition = process.Ended, "inherited it from one that has ended"
	} else {
		h.Halt, h.Condition = process.HaltOf(h.PID)
	}
	if h.Halt == process.Ended {
		h.Inheritors = l.Inheritors()
	}
	return h
}
