package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// hold holds owner's lease while the command runs.
func (h *holding) hold(ctx context.Context, owner string, command []string) (err error) {
	if h.wait < 0 {
		return failure.Usage("--wait %s is negative: give 0s for no waiting", h.wait)
	}
	dir, err := h.find()
	if err != nil {
		return err
	}
	program, err := exec.LookPath(command[0])
	if err != nil {
		return failure.As(err, failure.Misused)
	}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, passedOn...) // from here on none is lost: what comes while Open waits ends that
	defer signal.Stop(signals)
	w, err := sidecar.Open(ctx, dir, nil, owner, &sidecar.Options{Program: h.program, LeaseWait: h.wait, Notice: h.notice})
	if err != nil {
		return err
	}
	c := &charge{signals: signals}
	defer func() {
		if closeErr := w.Close(); closeErr != nil {
			h.complain(fmt.Errorf("the lease is free, and its record could not say so: %w; the next holder writes it anew: nothing to do", closeErr))
		}
	}()
	if w.Declaration().Owners[owner].EffectiveMode() != schema.Exclusive {
		return fmt.Errorf("owner %s is shared: %w: only exclusive owners have one; run the command without it", owner, sidecar.ErrNoLease)
	}
	child := exec.Command(program, command[1:]...)
	child.Args[0] = command[0]
	child.Stdin, child.Stdout, child.Stderr = h.stdin, h.stdout, h.stderr
	child.SysProcAttr = dyingWithParent()
	c.child = child
	return c.run()
}

// notice tells what stops nothing.
func (c *cli) notice(err error) {
	c.hint(err.Error())
	for _, r := range store.Remedies(err) {
		c.hint(failure.RemedyText(r))
	}
}

// A charge is a command that runs under a lease, and what may come meanwhile.
type charge struct {
	child   *exec.Cmd
	signals <-chan os.Signal
}

// run runs the command to its end and returns how it ended.
func (c *charge) run() error {
	runtime.LockOSThread() // on Linux the command dies with the thread that started it
	defer runtime.UnlockOSThread()
	if err := c.child.Start(); err != nil {
		return failure.As(err, failure.Misused)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.child.Wait() }()
	for {
		select {
		case s := <-c.signals:
			c.pass(s)
		case err := <-ended:
			return c.outcome(err)
		}
	}
}

// pass passes a signal on.
func (c *charge) pass(s os.Signal) {
	if !fromTerminal(s) {
		c.child.Process.Signal(s) // an error says that it has ended
	}
}

// outcome passes the command's exit status on.
func (c *charge) outcome(err error) error {
	state := c.child.ProcessState
	if state == nil {
		return err
	}
	const signalled = 128
	if n, ok := endingSignal(state); ok {
		return failure.Verdict{Status: signalled + n}
	}
	return failure.Verdict{Status: state.ExitCode()}
}
