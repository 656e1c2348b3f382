//go:build amd64 || arm64

package inject

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// supervisor answers the notifications of one run.
type supervisor struct {
	plan     Plan
	counted  map[uint32]syscallKind
	group    int // the command's process and its group
	handover int // see launch
	listener int // -1 until handed over
	refused  string

	begun, counting bool
	doomed          bool // KillAfter: the call is done or under way, the next event kills
	result          Result
	delayed         sync.WaitGroup
	closed          chan struct{}
}

// notification is struct seccomp_notif.
type notification struct {
	id     uint64
	pid    uint32
	_      uint32
	number uint32
	_      uint32
	_      uint64
	args   [6]uint64
}

// response is struct seccomp_notif_resp.
type response struct {
	id    uint64
	value int64
	errno int32
	flags uint32
}

// pollInterval bounds how late the end of a context is noticed.
const pollInterval = 50 // ms

// loop answers until the command has ended or ctx has.
func (s *supervisor) loop(ctx context.Context, pidfd int) error {
	fds := []unix.PollFd{
		{Fd: int32(s.handover), Events: unix.POLLIN}, {Fd: int32(pidfd), Events: unix.POLLIN}, {Fd: -1, Events: unix.POLLIN},
	}
	for ctx.Err() == nil {
		if _, err := unix.Poll(fds, pollInterval); err == unix.EINTR {
			continue
		} else if err != nil {
			return fmt.Errorf("poll: %w", err)
		}
		switch {
		case fds[0].Revents != 0:
			if s.takeOver() {
				fds[2].Fd = int32(s.listener)
			} else {
				fds[0].Fd = -1
			}
		case fds[1].Revents != 0:
			for s.takeOver() { // the launcher may have spoken between poll's two looks
			}
			return nil
		case fds[2].Revents&unix.POLLIN != 0:
			if !s.answer() {
				fds[2].Fd = -1 // no call of a killed process is answered: it would be executed
			}
		case fds[2].Revents != 0:
			fds[2].Fd = -1 // nobody is left under the filter
		}
	}
	last := s.result.Calls[max(0, len(s.result.Calls)-1):]
	return fmt.Errorf("it did not end in time, last call %v: %w", last, ctx.Err())
}

// close kills the processes that are left and gives the listener back.
func (s *supervisor) close() {
	s.kill()
	close(s.closed)
	s.delayed.Wait()
	unix.Close(s.listener)
}

func (s *supervisor) kill() {
	unix.Kill(-s.group, unix.SIGKILL)
	unix.Kill(s.group, unix.SIGKILL) // it may have left its group
}

// takeOver reads the listener, or the launcher's reason why there is none. It is false when there is no more to read.
func (s *supervisor) takeOver() bool {
	text, rights := make([]byte, 4096), make([]byte, unix.CmsgSpace(4))
	n, rightsLen, _, _, err := unix.Recvmsg(s.handover, text, rights, unix.MSG_CMSG_CLOEXEC|unix.MSG_DONTWAIT)
	if err != nil || n == 0 {
		return err == unix.EINTR
	}
	if rightsLen == 0 {
		s.refused = string(text[:n])
		return true
	}
	messages, err := unix.ParseSocketControlMessage(rights[:rightsLen])
	if err == nil && len(messages) == 1 {
		if fds, err := unix.ParseUnixRights(&messages[0]); err == nil && len(fds) == 1 {
			s.listener = fds[0]
		}
	}
	return true
}

// answer receives one notification and lets it go on, fail or wait. It is false after a kill.
func (s *supervisor) answer() bool {
	var n notification
	if s.ioctl(unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n)) != nil {
		return true // the caller died, or the wait was interrupted: poll again
	}
	goOn := response{id: n.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
	switch s.decide(&n) {
	case KillBefore, KillAfter:
		s.result.Killed = true
		s.kill()
		return false
	case Fail:
		s.respond(response{id: n.id, errno: -int32(s.plan.Errno)})
	case Delay:
		s.delayed.Go(func() {
			select {
			case <-time.After(s.plan.Delay):
				s.respond(goOn)
			case <-s.closed:
			}
		})
	default:
		s.respond(goOn)
	}
	return true
}

// decide counts a call if the plan wants it counted, and returns its treatment.
func (s *supervisor) decide(n *notification) Action {
	mark := ""
	if n.number == unix.SYS_FACCESSAT {
		mark = stringAt(n.pid, n.args[1])
	}
	switch {
	case mark == beginMark, n.number == unix.SYS_EXECVE && !s.plan.Marked && !s.begun: // the first one is the launcher's
		s.begun, s.counting = true, true
		return Watch
	case mark == endMark, n.number == unix.SYS_EXIT_GROUP:
		if mark == endMark && s.plan.Marked {
			s.counting = false
		}
		if s.doomed {
			return KillAfter
		}
		return Watch
	}
	kind, counted := s.counted[n.number]
	if !s.counting || !counted {
		return Watch
	}
	call := Call{PID: int(n.pid), Name: kind.name, Args: n.args, Paths: pathsOf(n, kind.files)}
	switch {
	case s.ioctl(unix.SECCOMP_IOCTL_NOTIF_ID_VALID, unsafe.Pointer(&n.id)) != nil: // gone: the bytes read may be another process's
		return Watch
	case slices.ContainsFunc(call.Paths, ofRuntime):
		return Watch
	case s.plan.Only != nil && !s.plan.Only(call):
		return Watch
	}
	call.N = len(s.result.Calls) + 1
	s.result.Calls = append(s.result.Calls, call)
	return s.actOn(call)
}

// actOn is the plan's action if call is its turn.
func (s *supervisor) actOn(call Call) Action {
	at := s.plan.At
	switch {
	case s.doomed:
		return KillAfter
	case s.plan.Action == Watch, at == 0, call.N < at, call.N > at && !s.plan.Persistent:
		return Watch
	case s.result.Hit == nil:
		s.result.Hit = &call
	}
	if s.plan.Action == KillAfter {
		s.doomed = true
		return Watch
	}
	return s.plan.Action
}

func (s *supervisor) respond(r response) {
	// The error is that the caller has died meanwhile.
	_ = s.ioctl(unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&r))
}

func (s *supervisor) ioctl(request uintptr, arg unsafe.Pointer) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(s.listener), request, uintptr(arg)); errno != 0 {
		return errno
	}
	return nil
}
