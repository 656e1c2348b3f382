package lease

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
		n, start := Notices{Looked: time.Now()}, time.Now()
		asked, reason := 0, "held by 1"
		var told []string
		for range 50 * 5 { // five seconds
			by := 1
			if time.Since(start) > 3500*time.Millisecond {
				by, reason = 2, "shut by 2"
			}
			n.Tell(by, func(err error) { told = append(told, err.Error()) }, func() error { asked++; return errors.New(reason) })
			time.Sleep(LongestPause)
		}
		if want := []string{"held by 1", "shut by 2"}; !slices.Equal(told, want) || asked > 6 {
			t.Errorf("asked %d times and told %q, want at most 6 times and %q", asked, told, want)
		}
	})
}
