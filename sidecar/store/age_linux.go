package store

import (
	"time"

	"golang.org/x/sys/unix"
)

// ticks is how many of the kernel's clock ticks, as programs see them, make a
// second. It has been so on every architecture for decades.
const ticks = 100

// Since returns how long ago the process was started, by a clock that nobody
// sets, or false if that was in another boot.
func (id Identity) Since() (time.Duration, bool) {
	if id.Boot == "" || id.Start == 0 || id.Boot != Self().Boot {
		return 0, false
	}
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return 0, false
	}
	started := time.Duration(id.Start) * (time.Second / ticks)
	return max(0, time.Duration(now.Nano())-started), true
}
