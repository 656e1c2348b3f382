package main

import "syscall"

// dyingWithParent lets the kernel kill a command as soon as the thread that
// started it ends: with its process, that is, however that dies.
func dyingWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
