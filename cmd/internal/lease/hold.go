package lease

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/freehold-dev/freehold/cmd/internal/console"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// passedOn are the signals that a command under a lease gets.
var passedOn = []os.Signal{
	syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM, syscall.SIGWINCH,
}

// hold holds owner's lease while the command runs, and returns the command's exit
// status as a Verdict.
func (l *Call) hold(ctx context.Context, owner string, command []string) (err error) {
	if err := console.CheckProgram(l.Program); err != nil {
		return err
	}
	if l.Wait.Time < 0 {
		return failure.Usage("--wait %s is negative: give 0s for no waiting", l.Wait.Time)
	}
	dir, err := l.Find()
	if err != nil {
		return err
	}
	program, err := exec.LookPath(command[0])
	if err != nil {
		return failure.As(err, failure.Misused)
	}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, passedOn...) // before Open, so that none is lost
	defer signal.Stop(signals)
	o := &sidecar.Options{Program: l.Program, LeaseWait: l.Wait.Time, Notice: l.Notice}
	if l.Wait.Given {
		if o.Bounded, o.Wait = true, l.Wait.Time; o.Wait == 0 {
			o.Wait = -1
		}
	}
	w, err := sidecar.Open(ctx, dir, nil, owner, o)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := w.Close(); closeErr != nil {
			l.Complain(fmt.Errorf("the lease is free, and its record could not say so: %w; the next holder writes it anew: nothing to do", closeErr))
		}
	}()
	if w.Declaration().Owners[owner].EffectiveMode() != schema.Exclusive {
		return fmt.Errorf("owner %s is shared: %w: only exclusive owners have one; run the command without it", owner, store.NoLease)
	}
	child := exec.Command(program, command[1:]...)
	child.Args[0] = command[0]
	child.Stdin, child.Stdout, child.Stderr = l.Stdin, l.Stdout, l.Stderr
	child.SysProcAttr = dyingWithParent()
	return runChild(child, signals)
}

// runChild runs a command to its end, passes signals on to it, and returns its
// exit status.
func runChild(child *exec.Cmd, signals <-chan os.Signal) error {
	runtime.LockOSThread() // on Linux the command dies with the thread that started it
	defer runtime.UnlockOSThread()
	if err := child.Start(); err != nil {
		return failure.As(err, failure.Misused)
	}
	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }()
	for {
		select {
		case s := <-signals:
			if !fromTerminal(s) {
				child.Process.Signal(s) // fails only once the command has ended
			}
		case err := <-ended:
			if child.ProcessState == nil {
				return err
			}
			status, _ := child.ProcessState.Sys().(syscall.WaitStatus)
			if status.Signaled() {
				return failure.Verdict{Status: 128 + int(status.Signal())}
			}
			return failure.Verdict{Status: status.ExitStatus()}
		}
	}
}

// fromTerminal reports whether s is a signal that a terminal sends to all
// processes in its foreground, the command too.
func fromTerminal(s os.Signal) bool {
	if s != syscall.SIGINT && s != syscall.SIGQUIT && s != syscall.SIGWINCH {
		return false
	}
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer tty.Close()
	foreground, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && foreground == unix.Getpgrp()
}
