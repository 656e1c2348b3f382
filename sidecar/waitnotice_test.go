package sidecar

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// A call that waits asks for the reason once a second, or when another lock is in
// the way: the answer reads a record and the kernel's list of locks. It tells each
// reason once.
func TestAWaitAsksForItsReasonOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, start := waitNotice{looked: time.Now()}, time.Now()
		asked, reason := 0, "held by 1"
		var told []string
		for range 50 * 5 { // five seconds
			by := atLease
			if time.Since(start) > 3500*time.Millisecond {
				by, reason = atFence, "shut by 2"
			}
			n.tell(by, func(err error) { told = append(told, err.Error()) }, func() error { asked++; return errors.New(reason) })
			time.Sleep(longestLeasePause)
		}
		if want := []string{"held by 1", "shut by 2"}; !slices.Equal(told, want) || asked > 6 {
			t.Errorf("asked %d times and told %q, want at most 6 times and %q", asked, told, want)
		}
	})
}
