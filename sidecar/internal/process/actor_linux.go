package process

import (
	"fmt"
	"os"

	"github.com/freehold-dev/freehold/sidecar/internal/status"
)

// Parent, for [Actor], is the process that started this one.
const Parent = -1

// Actor returns the identity of the ancestor pid of this process, or of the
// Parent. It returns an error that wraps [status.NoAncestor] if the process is not
// an ancestor, has ended, cannot be seen from here or is another user's, and if the
// parent is process 1: most likely the real one has ended.
func Actor(pid int) (Identity, error) {
	refuse := func(format string, args ...any) (Identity, error) {
		return Identity{}, fmt.Errorf("%w: "+format, append([]any{status.NoAncestor}, args...)...)
	}
	notStarted := func(pid int) (Identity, error) {
		return refuse("process %d has not started this one, nor a process that did", pid)
	}
	parent := os.Getppid()
	of := pid
	switch {
	case pid == Parent && parent <= 1:
		return refuse("the parent of this process is process %d", parent)
	case pid == Parent:
		of = parent
	case pid <= 0:
		return refuse("%d is no process id", pid)
	case pid == os.Getpid():
		return refuse("process %d is this command itself, which the shell has become to run its last command", pid)
	case pid != parent && !OwnProc():
		return refuse("the /proc here does not show the process %d of this PID namespace", pid)
	case pid != parent && !Ancestor(pid):
		return notStarted(pid)
	}
	p, err := Open(of)
	if err != nil {
		return refuse("%w", err)
	}
	defer p.Close()
	id, err := p.Identity()
	if err != nil {
		return refuse("%w", err)
	}
	if real, _, err := p.Users(); err != nil {
		return refuse("%w", err)
	} else if own := os.Getuid(); real != own {
		return refuse("process %d belongs to user %d and this one to user %d", of, real, own)
	}
	switch now := os.Getppid(); { // the number could be another process's by now
	case of == parent && now != parent:
		return refuse("the parent has ended")
	case of != parent && !Ancestor(of):
		return notStarted(of)
	}
	id.Nonce = NewNonce() + NewNonce()
	return id, nil
}
