package main

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// passedOn are the signals that a command gets that runs under a lease.
var passedOn = []os.Signal{
	syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM, syscall.SIGWINCH,
}

// fromTerminal reports whether s is one that a terminal sends to all processes
// in its foreground, the command too.
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

// endingSignal returns the number of the signal that ended a process.
func endingSignal(state *os.ProcessState) (int, bool) {
	status, ok := state.Sys().(syscall.WaitStatus)
	return int(status.Signal()), ok && status.Signaled()
}
