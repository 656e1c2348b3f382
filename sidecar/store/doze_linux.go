package store

import (
	"time"

	"golang.org/x/sys/unix"
)

// doze sleeps for less than a millisecond. A timer of the Go runtime does not:
// a process that has nothing else to do waits for its timers in whole
// milliseconds, which is as long as two commits take. A signal may end it early.
func doze(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	unix.Nanosleep(&t, nil)
}
