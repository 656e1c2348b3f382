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
