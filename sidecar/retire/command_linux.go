package retire

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"golang.org/x/sys/unix"
)

// RunWith is [Prepared.Run] with the caller's command in the place of the
// signal: one that stops the process, as a supervisor's `stop` does, never one
// that restarts it. The command must not have been started. It runs in a
// process group of its own and inherits the fence, whose descriptor
// [FenceVariable] tells: the fence stays shut until the command is over, even
// if the caller is killed, and opens when RunWith returns. The command may
// take o.Grace, and after it the process has o.Grace to end. If either takes
// longer, or ctx ends, the command's process group is killed, with all that the
// command has left running there.
//
// RunWith proves which process holds the lease before the command runs. It
// cannot prove which process the command stops: a command that stops by name may hit a
// successor that waits at the fence.
func (p *Prepared) RunWith(ctx context.Context, stop *exec.Cmd, o *Options) (Retirement, error) {
	r := newRetiring(p, o)
	return r.run(ctx, func(ctx context.Context) (err error) {
		c, err := r.command(stop)
		if err != nil {
			return fmt.Errorf("owner %s: %w: %w; check the command", r.Owner, errNotRun, err)
		}
		defer func() { c.close(err != nil) }()
		r.acted = true
		stopErr, said := c.runOut(ctx, r.o.Grace), "it succeeded"
		if stopErr != nil {
			said = stopErr.Error()
		}
		r.proof(proofStopRun, "the stop command %.200q has run: %s", stop.Args, said)
		failpoint.Hit(failpoint.RetireAfterSignal)
		return r.await(ctx, stopErr)
	})
}

var errNotRun = errors.New("the stop command could not be run; nothing was signalled")

// A command is a stop command that was started. It is not reaped before it is
// closed: until then the number of its process group is nobody else's, so that
// the group can be killed.
type command struct {
	cmd     *exec.Cmd
	process *process.Process
}

// command starts the stop command.
func (r *retirement) command(cmd *exec.Cmd) (*command, error) {
	cmd.ExtraFiles = append(slices.Clone(cmd.ExtraFiles), r.look.Fence.File())
	const stderr = 2
	cmd.Env = append(cmd.Environ(), fmt.Sprintf("%s=%d", FenceVariable, stderr+len(cmd.ExtraFiles)))
	attr := syscall.SysProcAttr{}
	if cmd.SysProcAttr != nil {
		attr = *cmd.SysProcAttr
	}
	attr.Setpgid, attr.Pgid = true, 0
	cmd.SysProcAttr = &attr
	if cmd.WaitDelay == 0 {
		cmd.WaitDelay = time.Second // for output that a grandchild keeps open
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	process, err := process.Open(cmd.Process.Pid)
	if err != nil { // nobody could tell when it ends
		unix.Kill(-cmd.Process.Pid, unix.SIGKILL)
		return nil, errors.Join(err, cmd.Wait())
	}
	return &command{cmd, process}, nil
}

// runOut waits for the command's end, kills its group if that takes longer than
// grace, and returns how it failed.
func (c *command) runOut(ctx context.Context, grace time.Duration) error {
	ended, err := c.process.Wait(ctx, grace)
	if !ended {
		c.kill()
		return errors.Join(fmt.Errorf("the stop command did not end within %v and was killed", grace), err, context.Cause(ctx))
	}
	switch status, err := unreaped(c.cmd.Process.Pid); {
	case err != nil:
		return fmt.Errorf("exit status of the stop command: %w", err)
	case status.Signaled():
		return fmt.Errorf("the stop command failed: signal %d (%v)", int(status.Signal()), status.Signal())
	case status.ExitStatus() != 0:
		return fmt.Errorf("the stop command failed: exit status %d", status.ExitStatus())
	}
	return nil
}

// unreaped returns how a child ended that was not waited for, from the last
// field of its /proc/PID/stat.
func unreaped(pid int) (syscall.WaitStatus, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text))
	code, err := strconv.Atoi(fields[len(fields)-1])
	return syscall.WaitStatus(code), err
}

func (c *command) kill() {
	unix.Kill(-c.cmd.Process.Pid, unix.SIGKILL)
	c.process.Signal(unix.SIGKILL) // if it has left its group
}

// close reaps the command, and first kills the processes left in its group if
// kill is set.
func (c *command) close(kill bool) {
	if kill {
		c.kill()
	}
	c.cmd.Wait() // how it ended is known
	c.process.Close()
}
