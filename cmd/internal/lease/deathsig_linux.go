package lease

import "syscall"

// dyingWithParent lets the kernel kill a command when the thread that started it
// ends, however its process dies.
func dyingWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
