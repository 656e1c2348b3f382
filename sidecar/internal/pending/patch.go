// Package pending is the file of a pending patch, which could not wait for the
// lock of its owner. It does no I/O.
package pending

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
	"github.com/freehold-dev/freehold/sidecar/internal/apply"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Bounds of an owner's pending patches. A commit that would exceed them is
// refused as busy and changes nothing.
const (
	// Most is the most patches at a time.
	Most = 4096
	// MostBytes is the most bytes of their files together.
	MostBytes = 8 << 20
	// MaxSize is the most bytes of one file.
	MaxSize = 64 << 10
	// MostRejected is the most rejected patches in the quarantine with which more
	// are deferred. Only a person removes acknowledged patches.
	MostRejected = 1024
)

// A Patch is the content of one file, which never changes.
type Patch struct {
	// ID is drawn at random. The file is called after it.
	ID string
	// At is the time of the deferral, by the writer's clock.
	At time.Time
	// Writer is the process that deferred the patch.
	Writer document.Writer
	// Ops each name the incarnation of their key; without one the key was absent.
	Ops apply.Patch

	// Raw is the text that was decoded.
	Raw []byte
}

// format is the format number of the files of this release.
const format = 1

// file is a patch's file. Its members are written in this order.
type file struct {
	Format int            `json:"format"`
	Owner  string         `json:"owner"`
	State  string         `json:"state"`
	ID     string         `json:"id"`
	At     jsontext.Value `json:"at"`
	Writer writer         `json:"writer"`
	Ops    jsontext.Value `json:"ops"`
	Sum    string         `json:"sum"`
}

type writer struct {
	Program  string           `json:"program"`
	Identity process.Identity `json:"identity"`
}

// limits leave room for every operation that commutes. Its value is scalar.
var limits = schema.Limits{Depth: 16, Members: 64}

var (
	noSum     = strings.Repeat("0", hex.EncodedLen(sha256.Size))
	sumBefore = []byte(`,"sum":"`)
	sumAfter  = []byte("\"}\n")
)

// Encode returns the text of p's file. Its sum is that of the text with zeros
// for the sum.
func (p *Patch) Encode(owner, stateID string) ([]byte, error) {
	at, err := schema.Time.Append(nil, p.At)
	if err != nil {
		return nil, err
	}
	ops, err := json.Marshal(p.Ops)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(file{
		Format: format, Owner: owner, State: stateID, ID: p.ID, At: at,
		Writer: writer{p.Writer.Program, p.Writer.Identity}, Ops: ops, Sum: noSum,
	}, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	return seal(append(text, '\n')), nil
}

// seal puts the sum of text in the place of the zeros at its end.
func seal(text []byte) []byte {
	sum := sha256.Sum256(text)
	hex.Encode(text[len(text)-len(sumAfter)-len(noSum):], sum[:])
	return text
}

// Decode reads the file name of owner's pending patch in the state stateID. The
// error wraps [status.Foreign] if Freehold did not write the file there,
// [status.Invalid] if it is no JSON, and [status.Newer] if a newer release
// wrote it.
func Decode(raw []byte, name, owner, stateID string) (*Patch, error) {
	text := bytes.Clone(raw)
	if !takeSum(text) {
		return nil, unsummed(raw)
	}
	var f file
	if err := limits.Check(text); err != nil {
		return nil, otherLayout("%w", err)
	}
	if err := json.Unmarshal(text, &f, json.RejectUnknownMembers(true)); err != nil {
		return nil, unknownLayout("", err)
	}
	var at time.Time
	err := error(nil)
	if f.Format == format {
		at, err = schema.Time.Decode(f.At)
	}
	switch {
	case f.Format != format || err != nil:
		return nil, fmt.Errorf("%w: it has format %d and this release reads %d", status.Newer, f.Format, format)
	case f.Owner != owner || f.State != stateID || Name(f.ID) != name || !schema.ValidNonce(f.ID):
		return nil, fmt.Errorf("%w: it is the patch %.80q of owner %.80q in the state %.80q", status.Foreign, f.ID, f.Owner, f.State)
	}
	ops, err := decodeOps(f.Ops)
	if err != nil {
		return nil, err
	}
	return &Patch{ID: f.ID, At: at, Writer: document.Writer{Program: f.Writer.Program, Identity: f.Writer.Identity}, Ops: ops, Raw: raw}, nil
}

// unsummed returns the error of a file that does not end in its sum. An
// acknowledged patch was whole on the disk.
func unsummed(raw []byte) error {
	switch {
	case len(bytes.TrimRight(raw, "\x00")) == 0:
		return fmt.Errorf("%w: the file is empty, or holds nothing but NUL bytes: its content is lost", status.Invalid)
	case !jsontext.Value(raw).IsValid():
		return fmt.Errorf("%w: the file is no JSON, or ends too early", status.Invalid)
	}
	return fmt.Errorf("%w: its sum does not match", status.Foreign)
}

// decodeOps reads operations up to the first wrong one, since one takes fifty
// times the memory of its shortest text.
func decodeOps(text jsontext.Value) (apply.Patch, error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(text))
	if dec.PeekKind() != jsontext.KindBeginArray {
		return nil, unknownLayout("/ops", nil)
	}
	dec.ReadToken()
	var ops apply.Patch
	for dec.PeekKind() != jsontext.KindEndArray {
		var op apply.Op
		if err := json.UnmarshalDecode(dec, &op, json.RejectUnknownMembers(true)); err != nil {
			return nil, unknownLayout("/ops", err)
		}
		if !slices.Contains(apply.Commuting, op.Verb) {
			return nil, fmt.Errorf("%w: it has the operation %.80q", status.Newer, op.Verb)
		}
		ops = append(ops, op)
	}
	return ops, nil
}

// unknownLayout returns the error of the decoder for the value at a pointer,
// since the library's own words vary.
func unknownLayout(within jsontext.Pointer, err error) error {
	if e, ok := errors.AsType[*json.SemanticError](err); ok {
		return otherLayout("this release does not know what stands at %q", within+e.JSONPointer)
	}
	return otherLayout("it is laid out in another way")
}

// otherLayout returns the error of a patch that only another release can read.
func otherLayout(format string, args ...any) error {
	return fmt.Errorf("%w: %w", status.Newer, fmt.Errorf(format, args...))
}

// Name returns the name of the file of the patch id.
func Name(id string) string { return id + suffix }

const suffix = ".json"

// ID returns the id in the name of a patch's file.
func ID(name string) (string, bool) {
	id, ok := strings.CutSuffix(name, suffix)
	return id, ok && schema.ValidNonce(id)
}

// takeSum puts zeros in the place of the sum and reports whether it was right.
func takeSum(text []byte) bool {
	end := len(text) - len(sumAfter)
	start := end - len(noSum)
	if start < len(sumBefore) || !bytes.Equal(text[end:], sumAfter) || !bytes.Equal(text[start-len(sumBefore):start], sumBefore) {
		return false
	}
	digits := bytes.Clone(text[start:end])
	copy(text[start:end], noSum)
	sum := sha256.Sum256(text)
	return string(digits) == hex.EncodeToString(sum[:])
}

// Provenance returns the provenance of a field that p changed in version.
func (p *Patch) Provenance(version document.Version) document.Provenance {
	return document.Provenance{Version: version, At: p.At, Program: p.Writer.Program, PID: p.Writer.Identity.PID}
}

// Overlay returns doc with the patches, sorted by id, folded as by the next
// commit. The version of a changed field, and of a new key, is the patch's id.
// outs has, by id, the reasons why patches are not folded.
func Overlay(m *schema.Manifest, owner string, doc *document.Document, patches []*Patch) (whole *document.Document, outs map[string]error) {
	rules := &apply.Rules{Declaration: &m.Declaration, StateID: m.StateID, Owner: owner, Known: m.Declaration.Owners[owner]}
	l := apply.NewLayer(rules, doc, document.Version{})
	outs = map[string]error{}
	for _, p := range patches {
		born := document.Version{Nonce: p.ID}
		if _, err := l.Fold(p.Ops, born, p.Provenance(born)); err != nil {
			outs[p.ID] = fmt.Errorf("patch %s: %w", p.ID, err)
		}
	}
	whole = doc.Clone()
	l.Write(whole, document.Provenance{}, nil)
	return whole, outs
}
