//go:build unix

package sidecar

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/freehold-dev/freehold/sidecar/document"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/google/renameio/v2"
)

// replace publishes by writing a file beside the target, syncing it and
// renaming it over the target. renameio does that, and needs WithRoot for it:
// without, it stages in $TMPDIR. What renameio does not do is sync the
// directory, without which 11 of 60 power cuts on ext4 undid an acknowledged
// rename.
type replace struct {
	dir *store.Store
	// swept is the directory's stamp when nothing of a dead writer was in
	// it, and unswept counts the commits that have relied on that.
	swept   store.Stamp
	unswept int
}

// sweepEvery is how many commits in a row may rely on the directory's stamp:
// on older kernels what a writer left in the very tick in which this one
// committed does not show in it.
const sweepEvery = 64

// collect implements publisher. Listing a directory costs as much as all else
// that a commit computes, so that it is done only if names have come or gone
// since this writer looked or committed.
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

// publish implements publisher.
func (p *replace) publish(name string, raw []byte, durable bool) error {
	pending, err := p.stage(name, raw)
	if err != nil {
		return err
	}
	if err := pending.CloseAtomicallyReplace(); err != nil && !p.visible(name, raw) {
		return stepReplace.failed(errors.Join(p.located(err), p.located(discard(pending))))
	}
	p.swept, _ = p.dir.Stamp() // the zero stamp means to look next time
	if !durable {
		return nil
	}
	if err := p.dir.Sync(); err != nil {
		return stepSync.failed(err)
	}
	return nil
}

// stage writes raw to a file beside the target that has the target's mode and
// group, or 0600. Bits that let others write are not passed on.
func (p *replace) stage(name string, raw []byte) (*renameio.PendingFile, error) {
	existing, err := p.dir.Existing(name)
	if errors.Is(err, fs.ErrNotExist) {
		existing = store.Existing{Mode: 0o600, GID: -1}
	} else if err != nil {
		return nil, stepLook.failed(err)
	}
	pending, err := renameio.NewPendingFile(name, renameio.WithRoot(p.dir.Root()))
	if err != nil {
		return nil, stepCreate.failed(p.located(err))
	}
	if err := fill(pending.File, raw, existing); err != nil {
		return nil, stepFill.failed(errors.Join(p.located(err), p.located(discard(pending))))
	}
	return pending, nil
}

func fill(f *os.File, raw []byte, like store.Existing) error {
	if like.GID >= 0 && like.GID != os.Getegid() {
		if err := f.Chown(-1, like.GID); err != nil {
			return err
		}
	}
	// After chown, which clears bits. The umask may have taken some too.
	mode := like.Mode &^ 0o022
	if info, err := f.Stat(); err != nil {
		return err
	} else if info.Mode().Perm() != mode {
		if err := f.Chmod(mode); err != nil {
			return err
		}
	}
	_, err := f.Write(raw)
	return err
}

// visible reports whether the file holds raw: some file systems report an
// error for a rename that took place.
func (p *replace) visible(name string, raw []byte) bool {
	have, err := p.dir.ReadFile(name, nil, document.MaxSize)
	return err == nil && bytes.Equal(have, raw)
}

// located is [store.Located] for the errors of renameio.
func (p *replace) located(err error) error { return store.Located(p.dir.Path(), err) }

// discard removes a staged file that will not be used.
func discard(pending *renameio.PendingFile) error {
	if err := pending.Cleanup(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove what was staged: %w", err)
	}
	return nil
}
