//go:build amd64 || arm64

package inject

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// defaultTimeout is that of a Command without one.
const defaultTimeout = 30 * time.Second

// Available says why system calls cannot be intercepted here, or nil. It tries it once: kernels, containers and ptrace restrictions all
// have a say. Tests skip with this error. It panics if TestMain did not call Main.
func Available() error { return available() }

var available = sync.OnceValue(func() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	command := Command{Path: self, Env: append(os.Environ(), probeVariable+"=1")}
	_, err = Run(context.Background(), command, Plan{Marked: true})
	return err
})

// Run runs the command under the plan and waits for its end. Processes that the command left in its process group are killed; one that
// left the group goes on, with ENOSYS for every call in the filter. The error does not depend on the command's own exit: it is about runs
// that could not be made, took longer than the timeout, or had Marked set and never called Begin. It panics if TestMain did not call Main.
func Run(ctx context.Context, c Command, p Plan) (Result, error) {
	if !hooked {
		panic("inject: call inject.Main first in TestMain")
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.Timeout, defaultTimeout))
	defer cancel()
	counted, err := chosen(p.Calls)
	if err != nil {
		return Result{}, err
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return Result{}, fmt.Errorf("inject: socket for the launcher: %w", err)
	}
	defer unix.Close(pair[0])
	theirs := os.NewFile(uintptr(pair[1]), "handover")
	cmd, err := start(c, counted, theirs)
	theirs.Close()
	if err != nil {
		return Result{}, fmt.Errorf("inject: start %s: %w", c.Path, err)
	}
	s := &supervisor{plan: p, counted: counted, group: cmd.Process.Pid, handover: pair[0], listener: -1, closed: make(chan struct{})}
	s.result.Action = p.Action
	var loopErr error
	if err := cmd.Process.WithHandle(func(pidfd uintptr) { loopErr = s.loop(ctx, int(pidfd)) }); err != nil {
		loopErr = err
	}
	s.close() // before the command is reaped: until then, its number is nobody else's
	waitErr := cmd.Wait()
	if exit := (*exec.ExitError)(nil); errors.As(waitErr, &exit) {
		waitErr = nil
	}
	s.result.State = cmd.ProcessState
	s.result.Stdout, s.result.Stderr = cmd.Stdout.(*bytes.Buffer).Bytes(), cmd.Stderr.(*bytes.Buffer).Bytes()
	if err := cmp.Or(loopErr, s.verdict(), waitErr); err != nil {
		return s.result, fmt.Errorf("inject: %s: %w", c.Path, err)
	}
	return s.result, nil
}

// start starts the launcher, which becomes the command.
func start(c Command, counted map[uint32]syscallKind, handover *os.File) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	path, err := exec.LookPath(c.Path)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, append([]string{path}, c.Args...)...)
	env := c.Env
	if env == nil {
		env = os.Environ()
	}
	var names []string
	for _, kind := range counted {
		names = append(names, kind.name)
	}
	// A program built with -race sleeps for a second when it ends, unless told otherwise; the last entry of a name counts.
	cmd.Env = slices.Concat([]string{"GORACE=atexit_sleep_ms=0"}, env, []string{launchVariable + "=" + strings.Join(names, ",")})
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Dir, c.Stdin, new(bytes.Buffer), new(bytes.Buffer)
	cmd.ExtraFiles = []*os.File{handover}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second // for output held open by a process that left the group
	return cmd, cmd.Start()
}

// verdict says why a run that ended proves nothing.
func (s *supervisor) verdict() error {
	switch {
	case s.refused != "":
		return errors.New(s.refused)
	case s.listener < 0:
		return fmt.Errorf("the launcher ended early: %v, stderr: %s", s.result.State, s.result.Stderr)
	case !s.begun:
		return fmt.Errorf("it ended without calling inject.Begin: %v, stderr: %s", s.result.State, s.result.Stderr)
	}
	return nil
}
