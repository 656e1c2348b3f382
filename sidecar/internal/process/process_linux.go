package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"golang.org/x/sys/unix"
)

// A Process is one process, pinned by a pidfd: even when its number is used again,
// the Process stays the same one. A fact that /proc tells of the number is true
// of the Process if [Process.There] finds it afterwards.
type Process struct {
	pid, fd int
	shown   int // its number in the /proc that is mounted here, or 0
}

// Open pins the process that has the number pid now. The error wraps
// [status.Gone] if there is none.
func Open(pid int) (*Process, error) {
	if pid <= 0 {
		return nil, fmt.Errorf("%d is no process id: name a positive one", pid)
	}
	fd, err := retry(func() (int, error) { return unix.PidfdOpen(pid, 0) })
	switch err {
	case nil:
		return &Process{pid, fd, shownAs(fd)}, nil
	case unix.ESRCH, unix.EINVAL, unix.ENOENT: // the latter two: the number is a thread's
		return nil, fmt.Errorf("process %d: %w (%w)", pid, status.Gone, err)
	}
	return nil, fmt.Errorf("process %d: pidfd_open: %w", pid, err)
}

// Close unpins the process.
func (p *Process) Close() error { return unix.Close(p.fd) }

// PID returns the process id.
func (p *Process) PID() int { return p.pid }

// Identity returns the process's identity from the kernel, without the nonce. The
// error wraps [status.Gone] if the process has ended.
func (p *Process) Identity() (Identity, error) {
	id := Identity{Boot: bootID(), PID: p.pid, PIDFD: pidfdInode(p.fd)}
	if p.shown > 0 {
		id.PIDNamespace, id.Start = inode(p.proc("ns/pid")), startTime(p.proc("stat"))
	}
	return id, p.There()
}

func (p *Process) proc(name string) string { return fmt.Sprintf("/proc/%d/%s", p.shown, name) }

// shownAs returns the number of the process of pidfd fd in the /proc that is mounted
// here, which may count those of another PID namespace, or 0 if /proc does not show
// the process.
func shownAs(fd int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", fd))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if number, ok := strings.CutPrefix(line, "Pid:"); ok {
			pid, _ := strconv.Atoi(strings.TrimSpace(number))
			return max(pid, 0) // -1: the process has ended
		}
	}
	return 0
}

// There returns an error that wraps [status.Gone] if the process has ended.
func (p *Process) There() error {
	ended, err := p.poll(0)
	if err == nil && ended {
		err = fmt.Errorf("process %d: %w", p.pid, status.Gone)
	}
	return err
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
		if ended, err := p.poll(max(left, 0)); ended || err != nil || left <= 0 {
			return ended, err
		}
	}
}

// poll waits for the end of the process for about wait, and reports whether it
// has ended.
func (p *Process) poll(wait time.Duration) (bool, error) {
	fds := []unix.PollFd{{Fd: int32(p.fd), Events: unix.POLLIN}}
	n, err := retry(func() (int, error) { return unix.Poll(fds, int(wait.Round(time.Millisecond).Milliseconds())) })
	if err != nil {
		return false, fmt.Errorf("process %d: poll: %w", p.pid, err)
	}
	return n > 0, nil
}

// Signal sends a signal to exactly this process. The error wraps [status.Gone] if
// the process is no more, and is nil for one that waits for its parent.
func (p *Process) Signal(s unix.Signal) error {
	_, err := retry(func() (int, error) { return 0, unix.PidfdSendSignal(p.fd, s, nil, 0) })
	if err == unix.ESRCH {
		return fmt.Errorf("process %d: %w", p.pid, status.Gone)
	}
	if err != nil {
		return fmt.Errorf("process %d: signal %d: %w", p.pid, s, err)
	}
	return nil
}

// Users returns the real and the effective user of the process.
func (p *Process) Users() (real, effective int, err error) {
	text, err := os.ReadFile(p.proc("status"))
	if err != nil {
		return 0, 0, errors.Join(err, p.There())
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 2 && fields[0] == "Uid:" {
			real, err1 := strconv.Atoi(fields[1])
			effective, err2 := strconv.Atoi(fields[2])
			return real, effective, errors.Join(err1, err2, p.There())
		}
	}
	return 0, 0, fmt.Errorf("%s names no user", p.proc("status"))
}

// IdentityOf returns the identity of process pid from the kernel, without the
// nonce. The error wraps [status.Gone] if there is none.
func IdentityOf(pid int) (Identity, error) {
	p, err := Open(pid)
	if err != nil {
		return Identity{}, err
	}
	defer p.Close()
	return p.Identity()
}

// Judge returns whether the process is alive, with the reason, by the
// inode of the pidfd where both sides have one, else by the start time; a
// process id alone proves that some process has the number, no more. That this
// process may not signal the other proves nothing either way.
func (id Identity) Judge() (Verdict, string) {
	if why := id.Here(); why != "" {
		return CannotJudge, why
	}
	p, err := Open(id.PID)
	if errors.Is(err, status.Gone) {
		return Gone, fmt.Sprintf("no process has the number %d", id.PID)
	}
	if err != nil {
		return CannotJudge, err.Error()
	}
	defer p.Close()
	now, err := p.Identity()
	switch {
	case errors.Is(err, status.Gone):
		return Gone, fmt.Sprintf("process %d has ended", id.PID)
	case !id.sameStart(now):
		return Gone, fmt.Sprintf("the number %d was used again, by another process", id.PID)
	case id.PIDFD != 0 && now.PIDFD != 0:
		return Alive, fmt.Sprintf("process %d is the same by its pidfd", id.PID)
	case id.Start != 0 && now.Start != 0:
		return Alive, fmt.Sprintf("process %d has the same start time", id.PID)
	}
	return CannotJudge, fmt.Sprintf("a process has the number %d, and nothing else can be compared", id.PID)
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
