package failpoint

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Stop stops this process, as SIGSTOP does, and returns some time after it is
// continued.
func Stop() {
	unix.Kill(os.Getpid(), unix.SIGSTOP)
	time.Sleep(100 * time.Millisecond) // another thread may be the first to stop
}
