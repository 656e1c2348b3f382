package screen

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// onceUnread calls then when w is a pipe or a socket from which nobody can read
// any more. A write would say so too, but perhaps there is none for days.
func onceUnread(w io.Writer, then func()) {
	f, ok := w.(*os.File)
	if !ok {
		return
	}
	end := []unix.PollFd{{Fd: int32(f.Fd())}} // no events: only that it is broken
	go func() {
		for {
			if _, err := unix.Poll(end, -1); err == nil {
				then()
				return
			} else if !errors.Is(err, unix.EINTR) {
				return // the next write tells
			}
		}
	}()
}
