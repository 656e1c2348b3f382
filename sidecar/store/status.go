package store

import (
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
)

// A Status says in one word how a file, a lock or an operation was found. It
// is an error, so that errors.Is(err, store.Foreign) works on every error
// that wraps one.
type Status = status.Status

// An Error is a status with its place, cause and remedy.
type Error = status.Error

// A Remedy says how to mend a fault. Libraries return remedies; a command
// makes sentences of them.
type Remedy = status.Remedy

// A Verb is the part of Freehold that mends a fault, named like its command:
// "accept", "state repair".
type Verb = status.Verb

// The statuses of a sidecar, a claim or another file of a state.
const (
	OK         = status.OK
	Missing    = status.Missing
	Invalid    = status.Invalid
	Newer      = status.Newer
	Foreign    = status.Foreign
	Unreadable = status.Unreadable
	Regressed  = status.Regressed
	Lost       = status.Lost
	Rejected   = status.Rejected
)

// The statuses of a state directory. HasInstances says that a directory holds
// instances, and one of them was wanted.
const (
	NoState      = status.NoState
	Exists       = status.Exists
	Unsafe       = status.Unsafe
	Moved        = status.Moved
	Misplaced    = status.Misplaced
	HasInstances = status.Instances
	NoInstances  = status.NoInstances
	Unsupported  = status.Unsupported
)

// The statuses of an operation. BadDeclaration says that program and manifest
// contradict each other, BadValue that a value does not fit its field.
const (
	Busy           = status.Busy
	Conflict       = status.Conflict
	BadDeclaration = status.Declaration
	Fenced         = status.Fenced
	Indeterminate  = status.Indeterminate
	NoKey          = status.NoKey
	NoAncestor     = status.NoAncestor
	NotObserved    = status.NotObserved
	NotOpen        = status.NotOpen
	NotOwner       = status.NotOwner
	BadValue       = status.Value
	Unknown        = status.Unknown
	DamagedRecord  = status.Damaged
)

// The statuses of a process that holds a lease. NotJudged says that nothing
// proves which process holds it.
const (
	NotJudged       = status.CannotJudge
	IdentityChanged = status.IdentityChanged
	DeadlinePassed  = status.DeadlinePassed
	ProcessGone     = status.Gone
	NoHolder        = status.NoHolder
	NoLease         = status.NoLease
	Protected       = status.Protected
)

// RemedyOf returns the remedy of the outermost error in err that has one, or
// the zero Remedy.
func RemedyOf(err error) Remedy { return status.RemedyOf(err) }

// Remedies returns the remedies in err, each once: of every joined error the
// outermost one.
func Remedies(err error) []Remedy { return status.Remedies(err) }

// WithRemedy returns err with the remedy. The text of err stays the same.
func WithRemedy(err error, r Remedy) error { return status.With(err, r) }

// By returns the remedy that runs verb on args.
func By(verb Verb, args ...string) Remedy { return status.By(verb, args...) }

// The causes of errors about files.
var (
	// ErrIrregular is the cause if a file of the state is no regular file or
	// has a second name.
	ErrIrregular = statedir.ErrIrregular
	// ErrTooLarge is the cause if a file of the state is larger than it may be.
	ErrTooLarge = statedir.ErrTooLarge
	// ErrFlooded is the cause if the directory of the pending patches holds
	// more than Freehold ever puts there.
	ErrFlooded = statedir.ErrFlooded
	// ErrInvalidManifest is wrapped by every error about a manifest that is
	// missing or damaged.
	ErrInvalidManifest = statedir.ErrInvalidManifest
)

// byHand returns the remedy that a person carries out.
func byHand(note string) Remedy { return Remedy{Note: note} }

// AccessRemedy returns the remedy of a file that err keeps from being opened, if
// that remedy loses no content, and else otherwise.
func AccessRemedy(err error, otherwise Remedy) Remedy { return statedir.AccessRemedy(err, otherwise) }

// GiveBack returns the remedy that makes a file of another user this user's.
func GiveBack(path string) Remedy { return statedir.GiveBack(path) }

// MoveAway returns the remedy that moves path out of its state directory, to a
// name that no file has. note is a step before that; or empty.
func MoveAway(path, note string) Remedy { return statedir.MoveAway(path, note) }
