package reader

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/document"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// A claimSource is the file of one once field as it was read last.
type claimSource struct {
	onceField
	content
	read *claim // what was found, decoded; nil until a view wants it
}

// A claim is what the file of a once field was found to be. It is immutable and
// shared by all views of it.
type claim struct {
	status Status
	err    error  // what is wrong and what to do, unless it is OK or Missing
	value  []byte // when it was claimed, as JSON; nil unless it is OK
	from   Provenance
	mark   []byte // tells what was found from everything else, for snapshotID
}

func (s *claimSource) collect() (moved bool) {
	if moved = s.content.collect(); moved {
		s.read = nil
	}
	return moved
}

// found returns what the file is.
func (s *claimSource) found(stateID string) *claim {
	if s.read == nil {
		s.read = s.judge(stateID)
		s.read.from.Owner, s.read.from.File, s.read.from.Status = s.owner, s.path, s.read.status
		s.read.mark = s.appendMark(nil, s.read)
	}
	return s.read
}

func (s *claimSource) judge(stateID string) *claim {
	switch {
	case s.unborn, errors.Is(s.err, fs.ErrNotExist):
		return &claim{status: Missing}
	case errors.Is(s.err, store.Lost), errors.Is(s.err, store.Unsafe): // which say what to do about the directory
		return &claim{status: Unreadable, err: fmt.Errorf("%w: %w", sidecar.ErrUnreadable, s.err)}
	case errors.Is(s.err, store.ErrTooLarge):
		return &claim{status: Invalid, err: fmt.Errorf("%w: %w: %s", sidecar.ErrInvalid, s.err, stands)}
	case errors.Is(s.err, fs.ErrPermission):
		return &claim{status: Unreadable, err: fmt.Errorf("%w: %w: %s", sidecar.ErrUnreadable, s.err, unread)}
	case s.err != nil: // it names the file
		return &claim{status: Unreadable, err: fmt.Errorf("%w: %w: %s", sidecar.ErrUnreadable, s.err, stands)}
	}
	doc, err := document.DecodeClaim(s.text)
	if err == nil {
		err = doc.Belongs(s.owner, s.field, stateID)
	}
	var value []byte
	if err == nil {
		value, err = schema.Time{}.Append(nil, doc.At)
	}
	if err != nil {
		status := Invalid
		if errors.Is(err, sidecar.ErrForeign) {
			status = Foreign
		}
		return &claim{status: status, err: fmt.Errorf("%s: %w: %s", s.path, err, stands)}
	}
	return &claim{status: OK, value: value, from: Provenance{
		Claim: doc.Nonce, ChangedAt: doc.At, Program: doc.Writer.Program, PID: doc.Writer.Identity.PID,
	}}
}

// stands is what to do about a file that is no claim, and unread about one that
// may well be one.
const (
	stands = "it counts as claimed, by nobody knows whom; look at it, and remove it by hand if the field is to be claimed anew"
	unread = "it counts as claimed, by nobody knows whom; see to it that this user may read it"
)

// appendMark appends a line about the claim, unless nobody made it.
func (s *claimSource) appendMark(dst []byte, c *claim) []byte {
	if c.status == Missing {
		return dst
	}
	dst = append(append(append(append(dst, '\n'), s.owner...), '/'), s.field...)
	dst = append(append(append(dst, ' '), c.status...), ' ')
	switch c.status {
	case OK:
		return append(dst, c.from.Claim...)
	case Unreadable:
		return dst
	}
	return appendSum(dst, s.text)
}

// followClaims returns the sources of the once fields that d declares, keeping
// what old ones have read.
func followClaims(old []*claimSource, dir *store.Store, d *declared) []*claimSource {
	known := map[onceField]*claimSource{}
	for _, s := range old {
		known[s.onceField] = s
	}
	sources := make([]*claimSource, len(d.once))
	for i, f := range d.once {
		if s, ok := known[f]; ok {
			s.read = nil
			sources[i] = s
			continue
		}
		file := dir.Claim(f.owner, f.field, f.inode)
		sources[i] = &claimSource{onceField: f, content: content{file: file, path: file.Path()}}
	}
	return sources
}

func (e Entry) isOnce() bool {
	p, err := e.place()
	return err == nil && p.field.EffectiveKind() == schema.Once
}

// claim returns what the file of a once field was found to be.
func (e Entry) claim() *claim { return e.view.claims[e.view.declared.fields[e.name].claim] }

func (c *claim) provenance() (Provenance, bool) { return c.from, c.status == OK }

// stored returns the value of the once field that where names, or why there is
// none.
func (c *claim) stored(where string) ([]byte, error) {
	switch c.status {
	case OK:
		return c.value, nil
	case Missing:
		return nil, fmt.Errorf("%s: %w: nobody has claimed it", where, ErrUnset)
	}
	return nil, fmt.Errorf("%s: %w", where, c.err)
}
