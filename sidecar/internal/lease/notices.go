package lease

import "time"

// LongestPause bounds how late a process that waits sees that a lease is free.
const LongestPause = 20 * time.Millisecond

// noticeAfter is how long an Open waits in silence, and then between two looks at
// the process that it waits for.
const noticeAfter = time.Second

// Notices tell why a call waits. Tell does not ask at every try: the answer
// reads the record of the lease and the kernel's list of locks.
type Notices struct {
	by     int
	Looked time.Time // last, or when the wait began
	told   string
}

// Tell calls notice with the error that why returns, if that says another thing
// than before. It asks when by changes, else once a noticeAfter.
func (n *Notices) Tell(by int, notice func(error), why func() error) {
	if again := n.told == "" || by == n.by; again && time.Since(n.Looked) < noticeAfter {
		return
	}
	n.by, n.Looked = by, time.Now()
	if err := why(); err.Error() != n.told {
		n.told = err.Error()
		notice(err)
	}
}
