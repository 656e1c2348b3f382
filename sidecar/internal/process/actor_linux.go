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
// Parent is process 1: most likely the real one has ended. Process 1 by its number
// is allowed to every user.
func Actor(pid int) (Identity, error) {
	// The status of a cause is left out: the caller has named the process, or has none.
	refuse := func(format string, args ...any) (Identity, error) {
		return Identity{}, fmt.Errorf("%w: "+format, append([]any{status.NoAncestor}, args...)...)
	}
	parent := os.Getppid()
	switch {
	case pid == Parent && parent <= 1:
		return refuse("the parent of this process is process %d", parent)
	case pid == Parent:
		pid = parent
	case pid <= 0:
		return refuse("%d is no process id", pid)
	case pid == os.Getpid():
		return refuse("process %d is this command itself, which the shell has become to run its last command", pid)
	}
	p, err := Open(pid)
	if err != nil {
		return refuse("%v", err)
	}
	defer p.Close()
	id, err := p.Identity()
	if err != nil {
		return refuse("%v", err)
	}
	if real, err := p.owner(); err != nil {
		return refuse("%v", err)
	} else if own := os.Getuid(); real != own && pid != 1 { // the first process stands for the machine or container
		return refuse("process %d belongs to user %d and this one to user %d", pid, real, own)
	}
	// Asked with the process pinned: the number could be another process's before.
	is, known := p.ancestor()
	switch {
	case pid == parent && os.Getppid() != parent:
		return refuse("the parent has ended")
	case !known:
		return refuse("the /proc here does not show process %d or the parents of this one", pid)
	case !is:
		return refuse("process %d has not started this one, nor a process that did", pid)
	}
	if err := p.There(); err != nil {
		return refuse("%v", err)
	}
	id.PIDNamespace = Self().PIDNamespace // a process sees no ancestor of another one
	id.Nonce = NewNonce() + NewNonce()
	return id, nil
}

// owner returns the real user of the process, or this process's if /proc does not
// show the process and the kernel permits signals to it.
func (p *Process) owner() (int, error) {
	if p.shown > 0 {
		real, _, err := p.Users()
		return real, err
	}
	return os.Getuid(), p.Signal(0)
}
