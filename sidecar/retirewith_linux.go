package sidecar

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
	"github.com/freehold-dev/freehold/sidecar/statedir"
	"golang.org/x/sys/unix"
)

// FenceVariable is the environment variable that tells a stop command which of
// its descriptors is the fence.
const FenceVariable = "FREEHOLD_FENCE_FD"

// RetireWith is [Prepared.Retire] with the caller's command in the place of the
// signal: one that stops the process, as a supervisor's `stop` does, never one
// that restarts it. The command must not have been started. It runs in a
// process group of its own and inherits the fence, whose descriptor
// [FenceVariable] tells: the fence stays shut until the command is over, even
// if the caller is killed, and opens when RetireWith returns. If the command
// takes longer than o.Grace, or ctx ends, its process group is killed. After
// it the process has o.Grace to end.
//
// RetireWith proves which process holds the lease before the command runs. It
// cannot prove whom the command stops: a command that stops by name may hit a
// successor that waits at the fence.
func (p *Prepared) RetireWith(ctx context.Context, stop *exec.Cmd, o *RetireOptions) (Retirement, error) {
	r := newRetiring(p, o)
	return r.run(ctx, func(ctx context.Context) error {
		err := r.command(ctx, stop)
		if errors.Is(err, errNotRun) {
			return err
		}
		failpoint.Hit(failpoint.RetireAfterSignal)
		return r.await(ctx, err)
	})
}

var errNotRun = errors.New("the stop command could not be run; nothing was signalled")

// command runs the stop command and returns how it failed.
func (r *retiring) command(ctx context.Context, cmd *exec.Cmd) error {
	cmd.ExtraFiles = append(slices.Clone(cmd.ExtraFiles), r.look.fence.File())
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
		return fmt.Errorf("owner %s: %w: %w", r.Owner, errNotRun, err)
	}
	r.others = true
	err := r.runOut(ctx, cmd)
	said := "it succeeded"
	if err != nil {
		said = err.Error()
	}
	r.proof(ProofStopRun, "the stop command %.200q has run: %s", cmd.Args, said)
	return err
}

// runOut waits for the command, whose number is nobody else's until it is
// reaped, so that its group can be killed.
func (r *retiring) runOut(ctx context.Context, cmd *exec.Cmd) error {
	process, err := statedir.OpenProcess(cmd.Process.Pid)
	ended := false
	if err == nil {
		ended, err = process.Wait(ctx, r.o.Grace)
		process.Close()
	}
	if !ended {
		unix.Kill(-cmd.Process.Pid, unix.SIGKILL)
	}
	waitErr := cmd.Wait()
	if !ended {
		return fmt.Errorf("the stop command did not end within %v and was killed", r.o.Grace)
	}
	if waitErr != nil {
		return fmt.Errorf("the stop command failed: %w", waitErr)
	}
	return err
}
