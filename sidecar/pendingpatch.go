package sidecar

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/document"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The bounds of what an owner may have deferred. A commit that would exceed
// them gets [ErrBusy] and changes nothing.
const (
	// MaxPending is the most patches that may be deferred at a time.
	MaxPending = 4096
	// MaxPendingBytes is the most bytes that their files may have together.
	MaxPendingBytes = 8 << 20
	// MaxPatch is the most bytes that one of them may have.
	MaxPatch = 64 << 10
	// MaxRejected is the most patches that may be rejected, in the quarantine,
	// before no more are deferred: they were acknowledged, so nobody but who has
	// looked at them may remove them, and they must not fill the disk.
	MaxRejected = 1024
)

// A PendingPatch is a patch that could not wait for its owner's lock: the content
// of one file that is never changed.
type PendingPatch struct {
	// ID is drawn at random. The file is called after it.
	ID string
	// At is the time of the deferral, by the writer's clock.
	At time.Time
	// Writer is the process that deferred the patch.
	Writer document.Writer
	// Ops are its operations. Each names the incarnation of the key that it
	// means; without one it means a key that was absent.
	Ops Patch

	raw []byte
}

// pendingFormat is the format number of the files of this release.
const pendingFormat = 1

// pendingFile is a patch's file. Its members are written in this order.
type pendingFile struct {
	Format int            `json:"format"`
	Owner  string         `json:"owner"`
	State  string         `json:"state"`
	ID     string         `json:"id"`
	At     jsontext.Value `json:"at"`
	Writer pendingWriter  `json:"writer"`
	Ops    jsontext.Value `json:"ops"`
	Sum    string         `json:"sum"`
}

type pendingWriter struct {
	Program  string           `json:"program"`
	Identity process.Identity `json:"identity"`
}

// pendingLimits leave room for every operation that commutes. Its value is scalar.
var pendingLimits = schema.Limits{Depth: 16, Members: 64}

var (
	noPendingSum = strings.Repeat("0", hex.EncodedLen(sha256.Size))
	sumBefore    = []byte(`,"sum":"`)
	sumAfter     = []byte("\"}\n")
)

// encode returns the text of p's file. The sum is that of the text with the
// sum's own digits as zeros, as in a sidecar.
func (p *PendingPatch) encode(owner, stateID string) ([]byte, error) {
	at, err := schema.Time{}.Append(nil, p.At)
	if err != nil {
		return nil, err
	}
	ops, err := json.Marshal(p.Ops)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(pendingFile{
		Format: pendingFormat, Owner: owner, State: stateID, ID: p.ID, At: at,
		Writer: pendingWriter{p.Writer.Program, p.Writer.Identity}, Ops: ops, Sum: noPendingSum,
	}, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	return sealPending(append(text, '\n')), nil
}

// sealPending puts the sum of text in the place of the zeros at its end.
func sealPending(text []byte) []byte {
	sum := sha256.Sum256(text)
	hex.Encode(text[len(text)-len(sumAfter)-len(noPendingSum):], sum[:])
	return text
}

// DecodePendingPatch reads the file name in which owner's pending patch in
// the state with the id stateID. It returns an error that wraps [ErrForeign] if
// Freehold did not write it there, [ErrInvalid] if it is not even JSON, and
// [ErrNewer] if a newer release wrote it, whose meaning only that knows.
func DecodePendingPatch(raw []byte, name, owner, stateID string) (*PendingPatch, error) {
	text := bytes.Clone(raw)
	if !takePendingSum(text) {
		return nil, unsummed(raw)
	}
	var f pendingFile
	if err := pendingLimits.Check(text); err != nil {
		return nil, otherLayout("%w", err)
	}
	if err := json.Unmarshal(text, &f, json.RejectUnknownMembers(true)); err != nil {
		return nil, unknownLayout("", err)
	}
	var at time.Time
	err := error(nil)
	if f.Format == pendingFormat {
		at, err = schema.Time{}.Decode(f.At)
	}
	switch {
	case f.Format != pendingFormat || err != nil:
		return nil, fmt.Errorf("%w: it has format %d and this release reads %d: it stays for that release; use it", ErrNewer, f.Format, pendingFormat)
	case f.Owner != owner || f.State != stateID || PatchName(f.ID) != name || !process.ValidNonce(f.ID):
		return nil, fmt.Errorf("%w: it is the patch %.80q of owner %.80q in the state %.80q: move it to where it belongs", ErrForeign, f.ID, f.Owner, f.State)
	}
	ops, err := decodeOps(f.Ops)
	if err != nil {
		return nil, err
	}
	return &PendingPatch{ID: f.ID, At: at, Writer: document.Writer{Program: f.Writer.Program, Identity: f.Writer.Identity}, Ops: ops, raw: raw}, nil
}

// unsummed says what is wrong with a file that does not end in its sum. What was
// acknowledged was whole on the disk, so that only that could have lost it.
func unsummed(raw []byte) error {
	switch {
	case len(bytes.TrimRight(raw, "\x00")) == 0:
		return fmt.Errorf("%w: the file is empty, or holds nothing but NUL bytes: its content is lost; move it away", ErrInvalid)
	case !jsontext.Value(raw).IsValid():
		return fmt.Errorf("%w: the file is no JSON, or ends too early: look at it, and move it away", ErrInvalid)
	}
	return fmt.Errorf("%w: its sum does not match: look at it, and move it away", ErrForeign)
}

// decodeOps reads the operations of a patch, up to the first that is none: an
// operation has fifty times the size of the two bytes that it may stand in.
func decodeOps(text jsontext.Value) (Patch, error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(text))
	if dec.PeekKind() != jsontext.KindBeginArray {
		return nil, unknownLayout("/ops", nil)
	}
	dec.ReadToken()
	var ops Patch
	for dec.PeekKind() != jsontext.KindEndArray {
		var op Op
		if err := json.UnmarshalDecode(dec, &op, json.RejectUnknownMembers(true)); err != nil {
			return nil, unknownLayout("/ops", err)
		}
		if !slices.Contains(commutingVerbs, op.Verb) {
			return nil, fmt.Errorf("%w: it has the operation %.80q: it stays for that release; use it", ErrNewer, op.Verb)
		}
		ops = append(ops, op)
	}
	return ops, nil
}

// unknownLayout says where the decoder of what stands at a pointer lost its way.
// The library words its own sentences at random.
func unknownLayout(within jsontext.Pointer, err error) error {
	if e, ok := errors.AsType[*json.SemanticError](err); ok {
		return otherLayout("this release does not know what stands at %q", within+e.JSONPointer)
	}
	return otherLayout("it is laid out in another way")
}

// otherLayout returns an error that says what only another release can read.
func otherLayout(format string, args ...any) error {
	return fmt.Errorf("%w: %w: it stays for that release; use it", ErrNewer, fmt.Errorf(format, args...))
}

// commutingVerbs are the verbs of a pending patch: in every order they have the
// same effect. A removal has not, so it waits for the lock or fails.
var commutingVerbs = []Verb{VerbAdd, VerbRaise, VerbLower, VerbInsert}

// PatchName returns the name of the file of the patch id.
func PatchName(id string) string { return id + patchSuffix }

const patchSuffix = ".json"

// patchID returns the id in the name of a patch's file, or false if there is
// none.
func patchID(name string) (string, bool) {
	id, ok := strings.CutSuffix(name, patchSuffix)
	return id, ok && process.ValidNonce(id)
}

// takePendingSum puts zeros in the place of the sum of text and reports whether
// it was right.
func takePendingSum(text []byte) bool {
	end := len(text) - len(sumAfter)
	start := end - len(noPendingSum)
	if start < len(sumBefore) || !bytes.Equal(text[end:], sumAfter) || !bytes.Equal(text[start-len(sumBefore):start], sumBefore) {
		return false
	}
	digits := bytes.Clone(text[start:end])
	copy(text[start:end], noPendingSum)
	sum := sha256.Sum256(text)
	return string(digits) == hex.EncodeToString(sum[:])
}
