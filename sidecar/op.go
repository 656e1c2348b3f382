package sidecar

import (
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/apply"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/pending"
)

// Operations as data, for commands and for pending patches. See the package
// apply, which carries them out.
type (
	// A Verb is the effect of an operation on its field.
	Verb = apply.Verb
	// An Op is one operation on one field.
	Op = apply.Op
	// A Patch is the operations of one commit, in order.
	Patch = apply.Patch
	// A Change is the effect of one Update on one value.
	Change = apply.Change
	// A Seen is a token of the versions that somebody had seen of some fields.
	Seen = apply.Seen
	// An EventToken names one beginning of an event.
	EventToken = apply.EventToken
)

// The verbs, each for the kinds of field named after it.
const (
	VerbSet    = apply.VerbSet    // value
	VerbClear  = apply.VerbClear  // value
	VerbAdd    = apply.VerbAdd    // counter
	VerbRaise  = apply.VerbRaise  // max
	VerbLower  = apply.VerbLower  // min
	VerbInsert = apply.VerbInsert // set: an element; map: a key without members
	VerbRemove = apply.VerbRemove // set
	VerbDelete = apply.VerbDelete // map
	VerbDone   = apply.VerbDone   // event: one that is over already
)

// MaxOpen is the most tokens of an event that may be open at a time.
const MaxOpen = apply.MaxOpen

// SeenOf returns the token of versions, by field, in the state with the id
// stateID. It is for package reader.
func SeenOf(stateID string, versions map[string]Version) Seen { return apply.SeenOf(stateID, versions) }

// TokenOf returns the open token nonce of the event field in the state with the
// id stateID. It is for package reader.
func TokenOf(stateID, field, nonce string) EventToken { return apply.TokenOf(stateID, field, nonce) }

// invalid wraps ErrValue around the fault of an operation; nil stays nil.
func invalid(err error) error { return apply.Invalid(err) }

// A PendingPatch is a patch that could not wait for its owner's lock: the content
// of one file that is never changed.
type PendingPatch = pending.Patch

// Bounds of an owner's pending patches. A commit that would exceed them gets
// [ErrBusy] and changes nothing.
const (
	MaxPending      = pending.Most         // patches at a time
	MaxPendingBytes = pending.MostBytes    // bytes of their files together
	MaxPatch        = pending.MaxSize      // bytes of one file
	MaxRejected     = pending.MostRejected // rejected patches in the quarantine
)

// DecodePendingPatch reads the file name of a pending patch of owner in the state
// with the id stateID. It returns an error that wraps [ErrForeign] if Freehold did
// not write it there, [ErrInvalid] if it is no JSON, and [ErrNewer] if a newer
// release wrote it.
func DecodePendingPatch(raw []byte, name, owner, stateID string) (*PendingPatch, error) {
	return pending.Decode(raw, name, owner, stateID)
}

// PatchName returns the name of the file of the patch id.
func PatchName(id string) string { return pending.Name(id) }

// Overlay returns doc, the sidecar of owner, with patches folded as the next
// commit will fold them; outs has, by id, the reasons why patches are not folded.
func Overlay(m *schema.Manifest, owner string, doc *document.Document, patches []*PendingPatch) (whole *document.Document, outs map[string]error) {
	return pending.Overlay(m, owner, doc, patches)
}
