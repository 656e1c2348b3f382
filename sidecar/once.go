package sidecar

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// A Claimant is the winner of the claim of a once field.
type Claimant struct {
	// Program that claimed, as [Options] named it, and its process.
	Program  string
	Identity process.Identity
	// At is when, by that process's clock.
	At time.Time
	// ID is the claim's own: it was drawn at random, and [ResolveClaim] asks
	// for it.
	ID string
}

// Once is a field that is claimed at most once. It belongs to a Writer, not to a
// commit: a claim is decided at once.
type Once struct{ once onWriter }

// An onWriter is a field that is written without a commit.
type onWriter struct {
	w     *Writer
	field string
}

// OnceOf returns the handle of a once field. It is for generated code.
func OnceOf(w *Writer, field string) Once { return Once{onWriter{w, field}} }

// Claim is [Writer.Claim] for the field.
func (o Once) Claim(ctx context.Context) (won bool, by Claimant, err error) {
	return o.once.w.Claim(ctx, o.once.field)
}

// Claim claims a once field of this owner, now by the Writer's clock, and
// reports whether this call has won, and the winner. Of all calls in all
// processes at most one wins; it returns once the claim survives power loss,
// under every durability of the owner. A claim stands for good, also if the winner
// dies before it knows.
//
// The Claim of a shared owner takes no lock and waits for no process. That of an
// exclusive owner takes the owner's lock, as a commit does, and returns
// [ErrFenced] unless this process has the lease, and [ErrBusy] if the lock was
// not free in time.
//
// After an error the call has not won. Unless the error wraps
// [ErrIndeterminate], it has claimed nothing where others look. The error wraps
// [store.Invalid], [store.Foreign] or [store.Unreadable] if the claim's place
// holds something else, which stands so that no call wins; [store.Lost] or
// [store.Moved] if the directory of the claims was moved away: a claim in it
// counts if it is put back; [ErrDeclaration] if an upgrade of the state forbids
// this program to write. After ErrIndeterminate the claim was made and may not
// survive power loss: ask [ResolveClaim] for by.ID.
func (w *Writer) Claim(ctx context.Context, field string) (won bool, by Claimant, err error) {
	w.isOpen()
	return w.ClaimAt(ctx, field, w.clock())
}

// ClaimAt is [Writer.Claim] as of another time, for package adopt and for
// tests.
func (w *Writer) ClaimAt(ctx context.Context, field string, at time.Time) (won bool, by Claimant, err error) {
	w.isOpen()
	if err := context.Cause(ctx); err != nil {
		return false, by, fmt.Errorf("%s: field %s: not claimed: %w; try again", w.dir.Path(), field, err)
	}
	c, err := w.claiming(field)
	if err != nil {
		return false, by, err
	}
	try := func() (err error) {
		won, by, err = c.claim(at)
		return err
	}
	if w.lease == nil {
		err = w.queue.beside(try)
	} else {
		start, wait := time.Now(), w.patience()
		err = w.alone(ctx, wait, func() error { return w.leased(ctx, wait-time.Since(start), try) })
	}
	return won, by, err
}

// leased runs fn while this process has the owner's lock, for which it waits no
// longer than wait, and its lease.
func (w *Writer) leased(ctx context.Context, wait time.Duration, fn func() error) error {
	if err := w.acquire(ctx, wait); err != nil {
		return err
	}
	defer w.lock.Release()
	if err := w.holds(); err != nil {
		return err
	}
	// A sidecar that cannot be used says nothing of epochs, and is no matter
	// of claims.
	if base, err := w.read(); err == nil {
		if err := w.follows(base); err != nil {
			return err
		}
	}
	return fn()
}

// claiming returns an attempt to claim a once field of the owner.
func (s *site) claiming(field string) (claiming, error) {
	f, err := s.rules.Field(field)
	if err != nil {
		return claiming{}, err
	}
	if kind := f.EffectiveKind(); kind != schema.Once {
		return claiming{}, fmt.Errorf("field %s: %w: it is a %s and cannot be claimed: use %s", field, ErrValue, kind, kind.WrittenBy())
	}
	return claiming{s, field, claimsOf(s.dir.Claim(s.manifest, s.owner, field))}, nil
}

// told returns the nonce of the claim that the owner's lock file tells of, or "".
func (c claiming) told() string {
	if place, ok := c.manifest.Slot(c.owner, c.field); ok {
		var line statedir.ClaimLine
		statedir.WitnessOf(c.dir, c.manifest, c.owner).ReadClaim(place, &line)
		return line.Nonce()
	}
	return ""
}

// tell notes the claim in the owner's lock file, if the field has a slot there.
func (c claiming) tell(nonce string) error {
	place, ok := c.manifest.Slot(c.owner, c.field)
	if !ok {
		return nil
	}
	return statedir.WitnessOf(c.dir, c.manifest, c.owner).Claimed(place, nonce)
}

// notify reports a claim of which the lock file does not tell. That stops
// nothing: a later call finds the claim and an empty slot.
func (c claiming) notify(err error) {
	if err != nil && c.notice != nil {
		c.notice(fmt.Errorf("field %s: the lock file does not tell of its claim: %w", c.field, err))
	}
}

// A claimFile is the file of a once field. It is [statedir.Claim] but for
// tests.
type claimFile interface {
	Read(buf []byte) ([]byte, error)
	Publish(raw []byte) (made bool, err error)
	Sync() error
}

// claimsOf is where tests put other files in the place of claims.
var claimsOf = func(c *statedir.Claim) claimFile { return c }

// probeClaims says whether the file system can keep the promise of the owner's
// once fields.
func (s *site) probeClaims() error {
	if !s.declared.Claims() {
		return nil
	}
	return s.dir.Claim(s.manifest, s.owner, "").Probe()
}

// A claiming is one attempt to claim a field, or to find the winner.
type claiming struct {
	*site
	field string
	place claimFile
}

func (c claiming) path() string {
	return filepath.Join(c.dir.Path(), statedir.ClaimFile(c.owner, c.field))
}

// claim is [Writer.Claim] without its locks. Most calls find the claim made, and
// write nothing.
func (c claiming) claim(at time.Time) (won bool, by Claimant, err error) {
	if err := c.dir.Unmoved(); err != nil {
		return false, by, err
	}
	if err := c.still(); err != nil {
		return false, by, err
	}
	if by, err = c.made(); !errors.Is(err, fs.ErrNotExist) {
		return false, by, c.lose(by, err)
	}
	mine := document.Claim{
		Owner: c.owner, Field: c.field, State: c.manifest.StateID,
		Nonce: process.NewNonce(), At: at, Writer: document.Writer{Program: c.program, Identity: c.actor},
	}
	raw, err := mine.Encode()
	if err != nil {
		return false, Claimant{}, fmt.Errorf("%s: %w: %w", c.path(), ErrValue, err)
	}
	made, err := c.place.Publish(raw)
	switch {
	case made && err == nil:
		failpoint.Hit(failpoint.ClaimMade)
		c.notify(c.tell(mine.Nonce))
		return true, claimant(&mine), nil
	case made && (errors.Is(err, store.Lost) || errors.Is(err, store.Moved)):
		return false, Claimant{}, fmt.Errorf("%s: field %s: not won: the claim was made where nobody looks, in a directory that was moved away, and counts if that is put back: %w", c.dir.Path(), c.field, err)
	case made:
		err = fmt.Errorf("%s: %w: field %s is claimed by this call and that may not survive power loss: %w", c.path(), ErrIndeterminate, c.field, err)
		return false, claimant(&mine), store.WithRemedy(err, store.By(status.Explain, c.field).Or("ask ResolveClaim for claim "+mine.Nonce))
	case errors.Is(err, fs.ErrExist): // another was faster
		by, err := c.made()
		return false, by, c.lose(by, err)
	}
	return false, Claimant{}, fmt.Errorf("%s: field %s: not claimed: %w: nobody has won; mend that and try again", c.dir.Path(), c.field, err)
}

// made returns the process that has claimed the field, or [fs.ErrNotExist]. The
// slot is read before the claim, and a claim that is gone counts only if a second
// reading finds the same.
func (c claiming) made() (Claimant, error) {
	told := c.told()
	o := c.once(told)
	if o.Status == store.Regressed {
		told = c.told()
		o = c.once(told)
	}
	switch o.Status {
	case store.OK:
		return Claimant{Program: o.Writer.Program, Identity: o.Writer.Identity, At: o.At, ID: o.ID}, nil
	case store.Missing:
		return Claimant{}, fs.ErrNotExist
	default:
		return Claimant{}, o.Err
	}
}

func (c claiming) once(told string) *store.Once {
	raw, err := c.place.Read(nil)
	return store.NewOnce(c.manifest, c.owner, c.field, c.path(), raw, err).Against(told)
}

// lose makes sure that a claim which another call has made survives power loss,
// and that the lock file tells of the claim: the winner may have been killed
// before.
func (c claiming) lose(by Claimant, err error) error {
	if err != nil {
		return err
	}
	if err := c.place.Sync(); err != nil {
		return fmt.Errorf("%s: field %s: not won: another has claimed it, and whether that survives power loss is unknown: %w; try again", c.dir.Path(), c.field, err)
	}
	if c.told() == "" {
		c.notify(c.tell(by.ID))
	}
	return nil
}

func claimant(c *document.Claim) Claimant {
	return Claimant{Program: c.Writer.Program, Identity: c.Writer.Identity, At: c.At, ID: c.Nonce}
}

// ResolveClaim reports the end of the claim id of a once field after an error
// that wrapped [ErrIndeterminate]: whether it has won, durably by now, and the
// winner; the zero Claimant means none. The answer stays true, unless no call
// has won yet.
func ResolveClaim(dir, owner, field, id string) (won bool, by Claimant, err error) {
	sd, err := statedir.Open(dir)
	if err != nil {
		return false, by, err
	}
	defer sd.Close()
	manifest, err := sd.Manifest()
	if err != nil {
		return false, by, err
	}
	declared := manifest.Declaration.Owners[owner]
	s := &site{dir: sd, manifest: manifest, owner: owner, declared: declared, rules: rulesOf(manifest, owner, declared)}
	c, err := s.claiming(field)
	if err != nil {
		return false, by, err
	}
	by, err = c.made()
	if errors.Is(err, fs.ErrNotExist) {
		return false, Claimant{}, sd.Unmoved()
	}
	if err = c.lose(by, err); err != nil {
		return false, by, err
	}
	return by.ID == id, by, nil
}
