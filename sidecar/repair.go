package sidecar

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/apply"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// An Accepted is the result of an [Accept].
type Accepted struct {
	Commit
	// Kept is the copy of the file as the other program left it.
	Kept statedir.Quarantined
	// Freed are the once fields with a claim that is gone, which can be claimed
	// again.
	Freed []string
}

// Accept takes the sidecar of owner as another program left it: it checks every
// value against the declaration, keeps a copy of the file in the quarantine,
// and stamps the file with an epoch beyond all that were observed. An empty
// sidecar takes the place of an observed one that is gone. A claim that is gone
// is freed, and another claim in its place counts. Accept returns [Unchanged] if
// the sidecar is as Freehold left it. The provenance of all
// fields is the program's name with " accept" behind it; see [WasAccepted].
//
// It returns an error that wraps [store.Invalid] if the file is no JSON object,
// [ErrValue] if a value does not fit its field, [ErrNotOwner] if the file has
// another owner's field, and [fs.ErrNotExist] if there is none and none was
// observed.
func Accept(ctx context.Context, dir, owner string, o *Options) (Accepted, error) {
	w, release, err := openLocked(ctx, dir, owner, o)
	if err != nil {
		return Accepted{}, err
	}
	defer release()
	w.program += accepting
	freed, mended, err := w.mendClaims()
	if err != nil {
		return Accepted{}, err
	}
	a, err := w.accept()
	if a.Freed = freed; mended && errors.Is(err, fs.ErrNotExist) {
		err = nil // there was nothing else to accept
	}
	return a, err
}

// mendClaims makes the owner's lock file tell of the claims as they are. It returns
// the fields with a claim that is gone, and reports whether anything was mended.
func (w *Writer) mendClaims() (freed []string, mended bool, err error) {
	for _, field := range w.declared.FieldNames() {
		if w.declared.Fields[field].EffectiveKind() != schema.Once {
			continue
		}
		c, err := w.claiming(field)
		if err != nil {
			return nil, mended, err
		}
		o := c.once("")
		if o.Against(c.told()) == o {
			continue
		}
		if err := c.tell(o.ID); err != nil {
			return nil, mended, err
		}
		if mended = true; o.Status == store.Missing {
			freed = append(freed, field)
		}
	}
	return freed, mended, nil
}

// accept is Accept for the sidecar.
func (w *Writer) accept() (Accepted, error) {
	doc, err := w.read()
	if err == nil {
		if err = w.regressed(doc); err == nil && !doc.Version.IsZero() {
			return Accepted{Commit: Commit{Outcome: Unchanged, Version: doc.Version}}, nil
		}
	}
	raw, readErr := w.dir.ReadFile(statedir.Sidecar(w.owner), nil, document.MaxSize)
	switch {
	case errors.Is(readErr, fs.ErrNotExist) && errors.Is(err, store.Regressed):
		if err := w.keepWhole(); err != nil {
			return Accepted{}, err
		}
		c, err := w.beginAnew(nil)
		return Accepted{Commit: c}, err
	case readErr != nil && err != nil: // err has the remedy
		return Accepted{}, err
	case readErr != nil:
		return Accepted{}, readErr
	}
	foreign, err := document.DecodeForeign(raw)
	if errors.Is(err, store.Newer) {
		use := store.Remedy{Note: "use the release that wrote it, or a newer one"}
		return Accepted{}, &store.Error{Status: store.Newer, Path: w.path, Owner: w.owner, Remedy: use, Err: err}
	}
	if err != nil {
		err = fmt.Errorf("%s: %w: it cannot be accepted", w.path, err)
		return Accepted{}, store.WithRemedy(err, store.By(status.Quarantine, w.owner).Or("mend the file"))
	}
	b := &batch{w: w, base: foreign}
	if err := b.takeIn(); err != nil {
		return Accepted{}, err
	}
	kept, err := w.dir.Quarantine().Keep(statedir.Sidecar(w.owner), raw)
	if err != nil {
		return Accepted{}, fmt.Errorf("%s: nothing was changed, because no copy of it can be kept: %w: mend that, then accept it", w.path, err)
	}
	if err := b.write(true); err != nil {
		return Accepted{Kept: kept}, err
	}
	return Accepted{Commit: Commit{Outcome: Applied, Version: b.next}, Kept: kept}, nil
}

// accepting ends the name of a program that accepts, in provenance.
const accepting = " accept"

// WasAccepted reports whether [Accept] wrote version v as program: then no
// process set, added to or raised a value in that version.
func WasAccepted(program string, v Version) bool {
	return v.Revision == 1 && strings.HasSuffix(program, accepting)
}

// takeIn makes every declared field of the foreign base a change of this batch,
// since the other program may have written each. Fields that no owner declares
// stay.
func (b *batch) takeIn() error {
	w := b.w
	if b.base.Owner != w.owner || b.base.State != w.manifest.StateID {
		b.base.SetFolded(nil, nil) // patches of another owner or state
	}
	b.base.Owner, b.base.State = w.owner, w.manifest.StateID
	b.next = w.firstVersion(b.base.Version.Epoch)
	b.layer = apply.NewLayer(w.rules, b.base, b.next)
	values, err := store.On(w.dir).Accepted(w.manifest, w.owner, b.base)
	if err != nil {
		return store.WithRemedy(fmt.Errorf("%s: %w", w.path, err), store.By(status.Quarantine, w.owner).Or("mend the file, then accept it"))
	}
	for name, value := range values {
		b.layer.Put(name, value)
		if w.declared.Fields[name].EffectiveKind() == schema.Map {
			if err := b.foldKeys(name, value); err != nil {
				return err
			}
		}
	}
	for name := range w.declared.Fields {
		if raw, _, written := b.base.Field(name); written && raw == nil {
			b.layer.Put(name, nil)
		}
	}
	return nil
}

// folded returns the ids of folded patches in the file, as far as it can be
// read.
func (w *Writer) folded() []string {
	raw, err := w.dir.ReadFile(statedir.Sidecar(w.owner), nil, document.MaxSize)
	if err != nil {
		return nil
	}
	was, err := document.DecodeForeign(raw)
	if err != nil || was.Owner != w.owner || was.State != w.manifest.StateID {
		return nil
	}
	return was.Folded()
}

// beginAnew puts an empty sidecar in the place of none, so that observers see
// the intent. The patches folded are not folded again.
func (w *Writer) beginAnew(folded []string) (Commit, error) {
	b := &batch{w: w, base: document.New(w.owner, w.manifest.StateID), next: w.firstVersion()}
	b.base.SetFolded(folded, nil)
	b.layer = apply.NewLayer(w.rules, b.base, b.next)
	if err := b.write(true); err != nil {
		return Commit{}, err
	}
	return Commit{Outcome: Applied, Version: b.next}, nil
}

// firstVersion returns the first version of an epoch beyond those given and all
// observed ones: that of the lease, or a new one.
func (w *Writer) firstVersion(visible ...uint64) Version {
	epoch := w.epoch
	if w.lease == nil {
		epoch = w.newEpoch(append(visible, w.quarantinedEpoch(), w.observedEpoch())...)
	}
	return Version{Epoch: epoch, Revision: 1, Nonce: process.NewNonce()}
}

// Quarantine moves the file in the place of owner's sidecar to the quarantine,
// which keeps the newest 16 of an owner, and puts an empty sidecar of a new
// epoch in its place. The error wraps [fs.ErrNotExist] if there is no file, and
// no version of one was ever seen.
func Quarantine(ctx context.Context, dir, owner string, o *Options) (statedir.Quarantined, error) {
	w, release, err := openLocked(ctx, dir, owner, o)
	if err != nil {
		return statedir.Quarantined{}, err
	}
	defer release()
	folded := w.folded()
	doc, lost := w.read()
	if lost == nil {
		lost = w.regressed(doc)
	}
	if lost != nil {
		if err := w.keepWhole(); err != nil {
			return statedir.Quarantined{}, err
		}
	}
	pending, err := w.dir.Quarantine().Move(statedir.Sidecar(owner))
	if gone := errors.Is(err, fs.ErrNotExist); gone && errors.Is(lost, store.Regressed) {
		err = nil
	} else if gone {
		return pending, fmt.Errorf("%s: nothing to move aside: %w", w.path, fs.ErrNotExist)
	}
	if err != nil {
		return pending, advised(err)
	}
	if _, err := w.beginAnew(folded); err != nil {
		return pending, fmt.Errorf("it was moved to %s, and no empty one took its place: %w", pending.Path, err)
	}
	return pending, nil
}

// keepWhole copies each whole sidecar that a killed commit has staged into the
// quarantine. It is called before the present file, which cannot be used, gives way
// to an empty one: a commit on that removes staged files.
func (w *Writer) keepWhole() error {
	names, err := statedir.StagedFor(w.dir, statedir.Sidecar(w.owner))
	if err != nil {
		return err
	}
	for _, name := range names {
		raw, err := w.dir.ReadFile(name, nil, document.MaxSize)
		if err != nil {
			continue
		}
		if doc, err := document.Decode(raw); err != nil || doc.Belongs(w.owner, w.manifest.StateID) != nil {
			continue
		}
		if _, err := w.dir.Quarantine().Keep(statedir.Sidecar(w.owner), raw); err != nil {
			return advised(err)
		}
	}
	return nil
}

// openLocked opens owner for a repair and takes its lock, and its lease if it
// is exclusive. The caller calls release.
func openLocked(ctx context.Context, dir, owner string, o *Options) (w *Writer, release func(), err error) {
	w, err = Open(ctx, dir, nil, owner, o)
	if err != nil {
		return nil, nil, err
	}
	if err := w.lock.Acquire(ctx, w.patience()); err != nil {
		w.Close()
		return nil, nil, err
	}
	return w, func() {
		w.lock.Release()
		w.Close()
	}, nil
}

// foldKeys makes every key of a map that another hand has edited a change of
// the batch. A key that the file gives an incarnation keeps it, and with it the
// parts of other owners; a new one is created, or attached to the present
// incarnation.
func (b *batch) foldKeys(field string, value []byte) error {
	doc := b.base.Clone()
	doc.Set(field, value, document.Provenance{})
	rows, err := doc.Rows(field)
	if err != nil {
		return fmt.Errorf("%s: field %s: %w", b.w.path, field, err)
	}
	owner, own := b.w.rules.KeysOwner(field)
	for _, row := range rows {
		switch {
		case !row.Born.IsZero():
		case own:
			row.Born = b.next
		default:
			born, there, err := b.w.look()[owner].Incarnation(field, row.Key)
			if err != nil {
				return err
			}
			if !there {
				return fmt.Errorf("%s: field %s, key %q: %w: owner %s, which decides the keys, has not created it", b.w.path, field, row.Key, ErrNoKey, owner)
			}
			row.Born = born
		}
		b.layer.PutRow(field, row)
	}
	return nil
}
