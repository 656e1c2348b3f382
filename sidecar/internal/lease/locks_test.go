package lease

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// A call that waits asks for the reason once a second, also if two locks are in the
// way in turns: the answer reads a record and the kernel's list of locks, and in a
// container every process's descriptors. It tells each reason once.
func TestAWaitAsksForItsReasonOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, start := Notices{Looked: time.Now()}, time.Now()
		asked, reason := 0, "held by 1"
		var told []string
		for range 50 * 5 { // five seconds
			if time.Since(start) > 3500*time.Millisecond {
				reason = "shut by 2"
			}
			n.Tell(func(err error) { told = append(told, err.Error()) }, func() error { asked++; return errors.New(reason) })
			time.Sleep(LongestPause)
		}
		if want := []string{"held by 1", "shut by 2"}; !slices.Equal(told, want) || asked > 5 {
			t.Errorf("asked %d times and told %q, want at most 5 times and %q", asked, told, want)
		}
	})
}
