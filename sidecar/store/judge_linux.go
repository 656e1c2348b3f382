package store

import (
	"errors"
	"fmt"
)

// Judge says whether the process is alive, with the reason. It goes by the
// inode of the pidfd where both sides have one, else by the start time; a
// process id alone proves that some process has the number, no more. That this
// process may not signal the other says nothing either way.
func (id Identity) Judge() (Verdict, string) {
	if why := id.Here(); why != "" {
		return CannotJudge, why
	}
	p, err := OpenProcess(id.PID)
	if errors.Is(err, ErrGone) {
		return Gone, fmt.Sprintf("no process has the number %d", id.PID)
	}
	if err != nil {
		return CannotJudge, err.Error()
	}
	defer p.Close()
	now, err := p.Identity()
	switch {
	case errors.Is(err, ErrGone):
		return Gone, fmt.Sprintf("process %d has ended", id.PID)
	case !id.began(now):
		return Gone, fmt.Sprintf("the number %d was used again, by another process", id.PID)
	case id.PIDFD != 0 && now.PIDFD != 0:
		return Alive, fmt.Sprintf("process %d is the same by its pidfd", id.PID)
	case id.Start != 0 && now.Start != 0:
		return Alive, fmt.Sprintf("process %d has the same start time", id.PID)
	}
	return CannotJudge, fmt.Sprintf("a process has the number %d, and nothing else can be compared", id.PID)
}
