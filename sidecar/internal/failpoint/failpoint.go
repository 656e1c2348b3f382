// Package failpoint names the steps of the protocols of package sidecar, so
// that a test can stop, kill or change something exactly there. It does
// nothing unless a test has set a hook.
package failpoint

import "sync/atomic"

var hook atomic.Pointer[func(step string)]

// PatchesRead, if a test has set it, is called between the two readings of an
// owner: the pending patches are read, the sidecar is not.
var PatchesRead func()

// Hit tells the hook, if there is one, that the calling goroutine has come to
// step, and returns when the hook does.
func Hit(step string) {
	if f := hook.Load(); f != nil {
		(*f)(step)
	}
}

// Set makes f the hook of this process, or none if f is nil. Any goroutine may
// call f.
func Set(f func(step string)) {
	if f == nil {
		hook.Store(nil)
		return
	}
	hook.Store(&f)
}

// The steps of a fold, with the owner's lock in hand.
const (
	FoldListed    = "fold.listed"    // the patches are read and folded, in memory
	FoldPublished = "fold.published" // the sidecar with their ids is replaced
	FoldUnlinked  = "fold.unlinked"  // their files are gone
)

// The steps of deferring a patch.
const (
	PendingBusy = "pending.busy" // the lock was not to be had
	PendingPut  = "pending.put"  // the file has its name
)

// ResolveRead is the step of resolving a patch at which its file was there, and the
// sidecar that was read after it does not have the patch.
const ResolveRead = "resolve.read"

// The steps of taking a lease, in order. The fence is held from the first to
// the last, and the lease from the second on.
const (
	TakeFence  = "take.fence"  // the fence is shared
	TakeLease  = "take.lease"  // the lease is held, no epoch begun
	TakeRecord = "take.record" // the epoch is begun and recorded
)

// The steps of a commit at which a process may be stopped with the owner's
// lock in its hands.
const (
	CommitChecked = "commit.checked" // lease and epoch are looked at
	CommitPublish = "commit.publish" // the file is about to be replaced
	// CommitPublished: the file is replaced, and the lock file does not tell yet.
	CommitPublished = "commit.published"
)

// ClaimMade is the step of a claim at which it is made and on disk, and the lock
// file does not tell yet.
const ClaimMade = "claim.made"

// The steps of a retirement.
const (
	RetireBeforeFence  = "retire.before-fence"
	RetireAfterFence   = "retire.after-fence"    // the fence is shut
	RetireAfterRecord  = "retire.after-record"   // the record is read again
	RetireAfterLook    = "retire.after-look"     // the lease turned out to be held
	RetireAfterPidfd   = "retire.after-pidfd"    // the process is pinned
	RetireAfterID      = "retire.after-identity" // it is the prepared one
	RetireAfterHolding = "retire.after-holding"  // it holds the lease
	RetireBeforeSignal = "retire.before-signal"  // all is proved; it is looked at once more, then signalled
	RetireAfterSignal  = "retire.after-signal"   // it was signalled, or the stop command has run
	RetireAfterExit    = "retire.after-exit"     // its exit was seen
	RetireAfterLease   = "retire.after-lease"    // the lease is taken
	RetireRecorded     = "retire.after-recorded" // the record says so
)

// Retire lists the steps of a retirement that goes to its end, in order.
var Retire = []string{
	RetireBeforeFence, RetireAfterFence, RetireAfterRecord, RetireAfterLook, RetireAfterPidfd, RetireAfterID, RetireAfterHolding,
	RetireBeforeSignal, RetireAfterSignal, RetireAfterExit, RetireAfterLease, RetireRecorded,
}
