package doctor

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// nearlyFull is the share of the limits of pending patches that is a finding.
const nearlyFull = 0.9

// patience is the time after which pending patches that a process could have
// folded are a finding. No process waits for a lock that long.
const patience = time.Minute

// owners adds findings of sidecars that cannot be used, and of pending patches.
func (c *check) owners() {
	written := 0
	for _, o := range c.view.Owners() {
		switch {
		case errors.Is(o.Err, store.Lost), errors.Is(o.Err, store.Unsafe): // the directory has a finding
		case o.Err != nil:
			c.fault("sidecar-"+string(o.Status), o.File, o.Err).Owner = o.Name
		case o.Status == store.OK:
			written++
			c.usual("owner", "%s: version %s, written %s", o.Name, o.Version, o.WrittenAt.UTC().Format(time.RFC3339))
			c.listed("undeclared", o.Name+" has members that are not declared, which commits keep", c.dir.Owner(c.manifest, o.Name).Undeclared(&c.manifest.Declaration))
			c.dated(o)
		default:
			c.usual("owner", "%s: no sidecar, and the lock file tells of none", o.Name)
		}
		if o.Pending > 0 {
			c.pending(o)
		}
	}
	c.usual("owners", "%d, of which %d have written", len(c.view.Owners()), written)
}

// dated counts the owner's last write, and notes a clock that was ahead.
func (c *check) dated(o reader.OwnerStatus) {
	if o.WrittenAt.After(c.newest) {
		c.newest = o.WrittenAt
	}
	if o.WrittenAt.After(c.Clock().Add(time.Minute)) { // programs and file systems round in different ways
		c.note("clock", "%s was written by a clock that is ahead of this one, which says %s; nothing depends on it but ages", o.Name, c.Clock().UTC().Format(time.RFC3339))
	}
}

// pending notes the pending patches of an owner, and adds findings of those that
// no commit folds.
func (c *check) pending(o reader.OwnerStatus) {
	folder := ".freehold/" + store.FilesOf(o.Name).Pending
	idle := o.Err == nil && c.idle(o.Name) // before the files are read: a patch found after that is being folded by no process
	files, err := c.dir.Patches(c.manifest, o.Name)
	if err != nil {
		return // the owner has a finding
	}
	bytes, late, oldest, bad := int64(0), 0, "", map[string]bool{}
	for _, f := range files {
		bytes += f.Size
		if f.Err != nil {
			bad[f.Err.Error()] = true
			c.fault("patch-stuck", f.Path, f.Err).Owner = o.Name
			continue
		}
		if at := f.Patch.At.UTC().Format(time.RFC3339); oldest == "" || at < oldest {
			oldest = at
		}
		if written, ok := c.patches[filepath.Join(folder, f.Name)]; ok && idle && c.Clock().Sub(written) > patience {
			late++
		}
	}
	if oldest != "" {
		oldest = ", the oldest since " + oldest
	}
	has := fmt.Sprintf("%d of at most %d pending patches, with %d bytes of at most %d", len(files), sidecar.MaxPending, bytes, sidecar.MaxPendingBytes)
	c.note("pending", "%s has %s%s; the next commit folds pending patches", o.Name, has, oldest)
	full := float64(len(files)) >= nearlyFull*sidecar.MaxPending || float64(bytes) >= nearlyFull*sidecar.MaxPendingBytes
	if full {
		c.find("pending-full", folder, has+": soon there is no room", c.fold(o.Name, "")).Owner = o.Name
	}
	stuck := without(o.PendingErr, bad)
	if stuck != nil {
		c.find("patch-stuck", folder, stuck.Error(), c.fold(o.Name, "a patch that cannot be folded goes to the quarantine")).Owner = o.Name
	}
	if late > 0 && !full && stuck == nil { // else the remedy is named already
		says := fmt.Sprintf("patches that are pending for more than a minute, though the lock is free: %d", late)
		c.find("pending-waiting", folder, says, c.fold(o.Name, "each commit of the owner does that too: if there should have been one, look at its programs")).Owner = o.Name
	}
}

// without returns the errors joined in err with texts that are not among known.
func without(err error, known map[string]bool) error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return err
	}
	return errors.Join(slices.DeleteFunc(slices.Clone(joined.Unwrap()), func(err error) bool { return known[err.Error()] })...)
}

// fold returns the remedy that folds the patches of an owner. If a process that
// does not run holds the lock, its own remedy comes first.
func (c *check) fold(owner, note string) store.Remedy {
	if first, blocked := c.blocked[owner]; blocked {
		return first.Or("then fold the patches")
	}
	return store.By("fold", owner).Or(note)
}

// idle reports whether a process could fold the patches of an owner, and none is
// about to.
func (c *check) idle(owner string) bool {
	busy, err := c.dir.Locked(c.manifest, owner)
	return err == nil && !busy && c.manifest.Pending == nil
}

// fields adds findings of fields and claims of usable owners that cannot be used.
func (c *check) fields() {
	d := c.view.Declaration()
	for _, name := range c.view.FieldNames() {
		entry := c.view.Field(name)
		_, err := entry.Raw()
		if err == nil || errors.Is(err, reader.ErrUnset) {
			continue
		}
		owner, _ := d.OwnerOf(name)
		var f *Finding
		switch once := d.Owners[owner].Fields[name].EffectiveKind() == schema.Once; {
		case once && !errors.Is(err, store.Lost) && !errors.Is(err, store.Unsafe):
			from, _ := entry.Provenance()
			f = c.fault("claim-"+string(from.Status), from.File, err)
		case !once && errors.Is(err, store.Invalid) && !c.view.IsOwnerError(err):
			f = c.fault("field-invalid", store.FilesOf(owner).Sidecar, err)
			if at, ok := errors.AsType[*store.Error](err); ok {
				f.Path, owner = at.Path, at.Owner
			}
		default:
			continue // another finding tells of it
		}
		f.Owner, f.Field = owner, name
	}
}
