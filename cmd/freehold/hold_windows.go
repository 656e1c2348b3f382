package main

import (
	"os"
	"syscall"
)

// passedOn are the signals that a command gets that runs under a lease.
var passedOn = []os.Signal{os.Interrupt}

const terminate = syscall.SIGTERM

// fromTerminal reports whether s reaches the command by itself, as a console's
// interrupt does.
func fromTerminal(s os.Signal) bool { return s == os.Interrupt }

func endingSignal(*os.ProcessState) (int, bool) { return 0, false }
