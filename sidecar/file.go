package sidecar

import (
	"fmt"
	"iter"

	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// A file is the sidecar of a site, read and replaced under the owner's lock.
type file struct {
	site
	publisher publisher
	source    *store.Source
	// observers are the owners with fields that depend on this one's.
	observers []*store.Source
	upgraded  Version // see [store.Upgraded]
	// last is the sidecar as it was last read or written, and lastRaw its bytes.
	last    *document.Document
	lastRaw []byte
	fresh   []byte // buffer for the next encoding
	// seen is the newest version that was read or written.
	seen Version
}

// read returns the sidecar, or an empty document if there is none.
func (f *file) read() (*document.Document, error) {
	if f.source == nil {
		f.source = f.sourceOf(f.owner)
	}
	o := f.source.Read()
	f.last, f.lastRaw = o.Document(), o.Text()
	return o.Document(), o.Err
}

// write makes doc the sidecar. If durable, it returns once doc survives power
// loss. The sidecar is as it was after an error that is not [ErrIndeterminate].
func (f *file) write(doc *document.Document, durable bool) error {
	if err := f.checkVersion(doc.Version); err != nil {
		return err
	}
	raw, err := doc.AppendEncode(f.fresh[:0])
	if err != nil {
		return fmt.Errorf("%s: %w: %w", f.path, ErrValue, err)
	}
	failpoint.Hit(failpoint.CommitPublish)
	if err := f.publisher.publish(statedir.Sidecar(f.owner), raw, durable); err != nil {
		return err
	}
	f.fresh = f.source.Wrote(doc, raw)
	f.last, f.lastRaw = doc, raw
	f.see(doc.Version)
	failpoint.Hit(failpoint.CommitPublished)
	f.witnessed(doc.Version, durable)
	return nil
}

// witnessed notes a version of the sidecar in the owner's lock file. A failure
// stops nothing: a rollback of that version alone would not be seen.
func (f *file) witnessed(v Version, durable bool) {
	if err := statedir.WitnessOf(f.dir, f.manifest, f.owner).Published(v, durable); err != nil && f.notice != nil {
		f.notice(fmt.Errorf("owner %s: the lock file does not tell of version %v: %w", f.owner, v, err))
	}
}

// checkVersion returns an error if no file can hold v: another hand has written
// the largest epoch or revision there is.
func (f *file) checkVersion(v Version) error {
	if v.Epoch <= document.MaxEpoch && v.Revision <= document.MaxRevision {
		return nil
	}
	return fmt.Errorf("%s: %w: nothing was changed: no version can follow the epoch and revision that another hand has written: move the file away", f.path, store.Invalid)
}

// see remembers v if it is the newest version so far.
func (f *file) see(v Version) {
	if !behind(v, f.seen) {
		f.seen = v
	}
}

// behind reports whether the version v cannot follow seen: it is older, or is
// another one of the same number. An older copy of the sidecar was put back.
func behind(v, seen Version) bool {
	if v.Epoch != seen.Epoch {
		return v.Epoch < seen.Epoch
	}
	return v.Revision < seen.Revision || v.Revision == seen.Revision && v.Nonce != seen.Nonce
}

// sightings returns the versions of the sidecar that an upgrade has written or
// observers have seen. The observers' sidecars are read without a lock: a version
// that one has seen was published before, so it is no newer than the sidecar.
func (f *file) sightings() iter.Seq[store.Sighting] {
	return store.SightingsOf(&f.manifest.Declaration, f.owner, f.upgraded, func(yield func(*store.Owner) bool) {
		for _, source := range f.observers {
			if !yield(source.Read()) {
				return
			}
		}
	})
}

// regressed returns an error that wraps [store.Regressed] if base, which was read
// last, is older than a sighting, or gone: Freehold removes no sidecar without a
// replacement.
func (f *file) regressed(base *document.Document) error {
	for s := range f.sightings() {
		if base.Behind(s.Version) {
			return f.source.Owner().Against(s).Err
		}
	}
	return nil
}

// observedEpoch returns the largest epoch of all sightings and of the witness,
// also of a version that power loss may have taken.
func (f *file) observedEpoch() (epoch uint64) {
	epoch = statedir.WitnessOf(f.dir, f.manifest, f.owner).Epoch()
	for s := range f.sightings() {
		epoch = max(epoch, s.Version.Epoch)
	}
	return epoch
}

// visibleEpoch returns the largest epoch that the sidecar shows. Bytes with a
// wrong sum count, since their epoch may have been seen. Without a sound sidecar
// its copies in the quarantine count as well.
func (f *file) visibleEpoch() uint64 {
	doc, err := f.read()
	if err == nil && !doc.Version.IsZero() {
		return doc.Version.Epoch
	}
	epoch := f.quarantinedEpoch()
	if raw, err := f.dir.ReadFile(statedir.Sidecar(f.owner), nil, document.MaxSize); err == nil {
		epoch = max(epoch, foreignEpoch(raw))
	}
	return epoch
}

// quarantinedEpoch returns the largest epoch of the copies in the quarantine, as
// far as they can be read.
func (f *file) quarantinedEpoch() (epoch uint64) {
	_ = f.dir.Quarantine().Each(statedir.Sidecar(f.owner), func(_ string, raw []byte) {
		epoch = max(epoch, foreignEpoch(raw))
	})
	return epoch
}

// foreignEpoch returns the epoch in a sidecar with any sum, or 0 if no process
// can have begun that epoch.
func foreignEpoch(raw []byte) uint64 {
	doc, err := document.DecodeForeign(raw)
	if err != nil || doc.Version.Epoch >= document.MaxEpoch {
		return 0
	}
	return doc.Version.Epoch
}

// A publisher makes the next version of a file visible, whole, in one step. Its
// callers hold the file's lock.
type publisher interface {
	// collect removes files that killed writers of the file name have left. No
	// other process can be writing.
	collect(name string) error
	// publish replaces the file name by raw. If durable, it returns once the
	// replacement survives power loss. The file is as it was after an error that
	// is not [ErrIndeterminate]. A staged file that cannot be removed is left to
	// the next collect.
	publish(name string, raw []byte, durable bool) error
}

// A replace publishes by writing a file beside the target and renaming it over
// the target.
type replace struct {
	dir *statedir.Dir
	// swept is the directory's stamp when no dead writer's file was in it, and
	// unswept counts the commits that have relied on that.
	swept   statedir.Stamp
	unswept int
}

// sweepEvery is the number of commits in a row that may rely on the directory's
// stamp: older kernels give a file made in the tick of this process's own commit
// no new stamp.
const sweepEvery = 64

// collect implements publisher. It lists the directory, which costs as much as
// the rest of a commit, only if names have come or gone.
func (p *replace) collect(name string) error {
	stamp, err := p.dir.Stamp()
	if err != nil {
		return err
	}
	if p.unswept++; stamp == p.swept && p.unswept < sweepEvery {
		return nil
	}
	if err := p.dir.Collect(name); err != nil {
		return err
	}
	p.swept, p.unswept = stamp, 0
	return nil
}

// publish implements publisher. Of its two steps only the second, which syncs
// the directory, can fail with the new version visible.
func (p *replace) publish(name string, raw []byte, durable bool) error {
	if err := p.dir.Replace(name, raw); err != nil {
		return err
	}
	p.swept, _ = p.dir.Stamp() // the zero stamp means to look next time
	if !durable {
		return nil
	}
	if err := p.dir.Sync(); err != nil {
		return fmt.Errorf("%w: the new version is visible and may not survive a crash: %w", ErrIndeterminate, err)
	}
	return nil
}
