package failpoint

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Stop stops this process, as SIGSTOP does, before the calling goroutine does
// anything more, and returns when it is continued. A signal to the process as
// a whole may reach another thread first, and this one gets a few steps on.
func Stop() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	unix.Tgkill(os.Getpid(), unix.Gettid(), unix.SIGSTOP)
}
