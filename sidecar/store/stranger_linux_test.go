package store

import (
	"runtime"
	"syscall"
)

// asStranger calls fn in a thread that runs as user 65534, and ends the thread.
func asStranger(fn func()) {
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, 65534, 65534, 65534); errno != 0 {
			panic(errno)
		}
		fn()
	}()
}
