package process

import (
	"os"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/status"
)

// platformIdentity returns neither boot id nor start time: the nonce still
// tells processes apart, but none can be judged.
func platformIdentity() Identity { return Identity{PID: os.Getpid()} }

// OwnProc returns true: there is no /proc that could mislead.
func OwnProc() bool { return true }

// Parent, for [Actor], is the process that started this one.
const Parent = -1

// Actor returns the identity of the Parent, which can be neither pinned nor
// judged here. For another process the error wraps [status.Unsupported].
func Actor(pid int) (Identity, error) {
	if parent := os.Getppid(); pid == Parent && parent > 1 || pid == parent {
		return Identity{PID: parent, Nonce: NewNonce() + NewNonce()}, nil
	}
	return Identity{}, status.Unsupported
}

// InFirstNamespace returns false: the system tells of no holder of a lock.
func InFirstNamespace() bool { return false }

// Judge returns [CannotJudge]: the system tells too little of a process.
func (id Identity) Judge() (Verdict, string) {
	return CannotJudge, "this system has no identities of processes"
}

// Since returns false: start times are not known.
func (id Identity) Since() (time.Duration, bool) { return 0, false }

// HaltOf returns [Running] and no words: the system does not tell.
func HaltOf(pid int) (Halt, string) { return Running, "" }

// IdentityOf returns [status.Unsupported].
func IdentityOf(pid int) (Identity, error) { return Identity{}, status.Unsupported }
