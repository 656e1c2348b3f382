package store

import "github.com/freehold-dev/freehold/sidecar/internal/process"

// An Identity tells one process from its successor.
type Identity = process.Identity

// A Verdict says whether the process of an [Identity] lives.
type Verdict = process.Verdict

// The verdicts of [Identity.Judge].
const (
	CannotJudge = process.CannotJudge
	Alive       = process.Alive
	Gone        = process.Gone
)

// The reasons why the process of a [Holder] does not run.
const (
	Running = process.Running
	Stopped = process.Stopped
	Traced  = process.Traced
	Ended   = process.Ended
)

// NewNonce returns 64 random bits as 13 characters of lower-case base32hex.
func NewNonce() string { return process.NewNonce() }

// Self returns the identity of the calling process.
func Self() Identity { return process.Self() }

// IdentityOf returns what the kernel knows of process pid: all but the nonce.
// It returns an error that wraps [ProcessGone] if there is none.
func IdentityOf(pid int) (Identity, error) { return process.IdentityOf(pid) }

// Condition says in words why process pid does not run, or "" if it does or
// the kernel does not tell.
func Condition(pid int) string { return process.Condition(pid) }
