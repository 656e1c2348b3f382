package lock

import (
	"os"
	"sync"

	"github.com/freehold-dev/freehold/sidecar/internal/dir"
	"golang.org/x/sys/unix"
)

// A queue is the place of a [Lock] in the kernel's queue for the lock: a thread
// that waits in flock(2), since nothing can wake a thread there at a deadline. A
// deadline ends the caller's wait alone. The next caller takes the place of the
// former one; if there is none, the thread lets the lock go as soon as the kernel
// grants it.
//
// The thread and the callers share one open file, on which flock(2) succeeds
// again and again once one of them has the lock. So each call goes through mu,
// except the wait.
type queue struct {
	mu      sync.Mutex
	waits   bool // the thread is in flock(2)
	held    bool // by a caller
	closed  bool
	granted chan error // of the caller that waits, or nil
	err     error      // of the last wait
}

// flock calls flock(2) for a caller, without waiting, and reports whether the
// caller has the lock.
func (q *queue) flock(fd, how int) (bool, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false, os.ErrClosed
	}
	ok, err := dir.Flock(fd, how)
	q.held = ok
	return ok, err
}

// release lets the lock go, for a caller that has it.
func (q *queue) release(fd int) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return os.ErrClosed
	}
	q.held = false
	return unix.Flock(fd, unix.LOCK_UN)
}

// enter begins to wait for the lock on file, and returns a channel on which the
// caller gets the lock or an error.
func (q *queue) enter(file *os.File) <-chan error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.granted = make(chan error, 1)
	if !q.waits {
		q.waits = true
		go q.wait(file)
	}
	return q.granted
}

// leave ends the wait of a caller. It reports true, with the error of the wait, if
// the wait was over before.
func (q *queue) leave() (error, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.granted != nil {
		q.granted = nil
		return nil, false
	}
	return q.err, true
}

// close closes file, which the thread keeps open until its wait is over.
func (q *queue) close(file *os.File) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	return file.Close()
}

// wait waits for the kernel's lock on file. The descriptor stays open until the
// wait is over, if file is closed meanwhile.
func (q *queue) wait(file *os.File) {
	conn, err := file.SyscallConn()
	if err == nil {
		err = conn.Control(q.waitOn)
	}
	if err != nil { // the file was closed before
		q.mu.Lock()
		defer q.mu.Unlock()
		q.end(err)
	}
}

func (q *queue) waitOn(fd uintptr) {
	for !q.settle(int(fd), dir.FlockWait(int(fd))) {
	}
}

// settle ends a wait on fd of which err is the end in the kernel. It reports false
// if the wait must go on: a caller took the lock by itself and let it go between
// the end in the kernel and now, and waits again.
func (q *queue) settle(fd int, err error) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case err != nil || q.held:
	case q.granted == nil:
		err = unix.Flock(fd, unix.LOCK_UN)
	default:
		if q.held, err = dir.Flock(fd, unix.LOCK_EX); err == nil && !q.held {
			return false
		}
	}
	q.end(err)
	return true
}

func (q *queue) end(err error) {
	q.waits, q.err = false, err
	if q.granted != nil {
		q.granted <- err
		q.granted = nil
	}
}
