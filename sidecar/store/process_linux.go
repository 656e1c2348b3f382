package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A Process is one process, pinned by a pidfd: whatever becomes of its number,
// the Process stays the same one. What /proc says of the number is said of the
// Process if the Process is still there afterwards.
type Process struct {
	pid, fd int
}

// OpenProcess pins the process that has the number pid now. It returns an
// error that wraps [ErrGone] if there is none.
func OpenProcess(pid int) (*Process, error) {
	if pid <= 0 {
		return nil, fmt.Errorf("%d is no process id: name a positive one", pid)
	}
	fd, err := retry(func() (int, error) { return unix.PidfdOpen(pid, 0) })
	switch err {
	case nil:
		return &Process{pid, fd}, nil
	case unix.ESRCH, unix.EINVAL, unix.ENOENT: // the latter: the number is a thread's
		return nil, fmt.Errorf("process %d: %w (%w)", pid, ErrGone, err)
	}
	return nil, fmt.Errorf("process %d: pidfd_open: %w", pid, err)
}

// Close unpins the process.
func (p *Process) Close() error { return unix.Close(p.fd) }

// PID returns the process id.
func (p *Process) PID() int { return p.pid }

// Identity returns what the kernel knows of the process: all but the nonce. It
// returns an error that wraps [ErrGone] if the process has ended.
func (p *Process) Identity() (Identity, error) {
	id := Identity{Boot: bootID(), PID: p.pid, PIDFD: pidfdInode(p.fd)}
	if ownProc() {
		id.PIDNamespace, id.Start = namespace(p.proc("ns/pid")), startTime(p.proc("stat"))
	}
	return id, p.There()
}

func (p *Process) proc(name string) string { return fmt.Sprintf("/proc/%d/%s", p.pid, name) }

// There returns an error that wraps [ErrGone] if the process has ended.
func (p *Process) There() error {
	fds := []unix.PollFd{{Fd: int32(p.fd), Events: unix.POLLIN}}
	switch n, err := retry(func() (int, error) { return unix.Poll(fds, 0) }); {
	case err != nil:
		return fmt.Errorf("process %d: poll: %w", p.pid, err)
	case n > 0:
		return fmt.Errorf("process %d: %w", p.pid, ErrGone)
	}
	return nil
}

// Wait waits until the process has ended, for at most wait and as long as ctx
// allows, and reports whether it has. By then the kernel has closed its files
// and let its locks go.
func (p *Process) Wait(ctx context.Context, wait time.Duration) (bool, error) {
	const slice = 10 * time.Millisecond // how late the end of ctx is seen
	for start := time.Now(); ; {
		left := min(wait-time.Since(start), slice)
		if ctx.Err() != nil {
			left = 0
		}
		fds := []unix.PollFd{{Fd: int32(p.fd), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, int(max(left, 0).Round(time.Millisecond).Milliseconds()))
		if err != nil && err != unix.EINTR {
			return false, fmt.Errorf("process %d: poll: %w", p.pid, err)
		}
		if n > 0 {
			return true, nil
		}
		if err == nil && left <= 0 {
			return false, nil
		}
	}
}

// Signal sends a signal to exactly this process. It returns an error that
// wraps [ErrGone] if the process is no more, and none if it has ended and
// waits for its parent to look.
func (p *Process) Signal(s unix.Signal) error {
	_, err := retry(func() (int, error) { return 0, unix.PidfdSendSignal(p.fd, s, nil, 0) })
	if err == unix.ESRCH {
		return fmt.Errorf("process %d: %w", p.pid, ErrGone)
	}
	if err != nil {
		return fmt.Errorf("process %d: signal %d: %w", p.pid, s, err)
	}
	return nil
}

// Users returns the real and the effective user of the process.
func (p *Process) Users() (real, effective int, err error) {
	status, err := os.ReadFile(p.proc("status"))
	if err != nil {
		return 0, 0, errors.Join(err, p.There())
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) > 2 && fields[0] == "Uid:" {
			real, err1 := strconv.Atoi(fields[1])
			effective, err2 := strconv.Atoi(fields[2])
			return real, effective, errors.Join(err1, err2, p.There())
		}
	}
	return 0, 0, fmt.Errorf("%s names no user", p.proc("status"))
}

// IdentityOf returns what the kernel knows of process pid: all but the nonce.
// It returns an error that wraps [ErrGone] if there is none.
func IdentityOf(pid int) (Identity, error) {
	p, err := OpenProcess(pid)
	if err != nil {
		return Identity{}, err
	}
	defer p.Close()
	return p.Identity()
}
