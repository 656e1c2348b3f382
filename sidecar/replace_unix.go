//go:build unix

package sidecar

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/freehold-dev/freehold/sidecar/document"
	"github.com/freehold-dev/freehold/sidecar/statedir"
	"github.com/google/renameio/v2"
)

// replace publishes by writing a file beside the target, syncing it and
// renaming it over the target. renameio does that, and needs WithRoot for it:
// without, it stages in $TMPDIR. What renameio does not do is sync the
// directory, without which 11 of 60 power cuts on ext4 undid an acknowledged
// rename.
//
// The table of outcomes, by the step that fails:
//
//	look, create, chmod, chown, write, fsync, close   not applied
//	rename        not applied, unless the file is the new one all the same
//	fsync of the directory                            indeterminate
type replace struct{ dir *statedir.Dir }

// collect implements publisher.
func (p replace) collect(name string) error { return p.dir.Collect(name) }

// publish implements publisher.
func (p replace) publish(name string, raw []byte, durable bool) error {
	pending, err := p.stage(name, raw)
	if err != nil {
		return err
	}
	if err := pending.CloseAtomicallyReplace(); err != nil && !p.visible(name, raw) {
		return errors.Join(err, discard(pending))
	}
	if !durable {
		return nil
	}
	if err := p.dir.Sync(); err != nil {
		return fmt.Errorf("%w: the new version is visible and may not survive a crash: %w", ErrIndeterminate, err)
	}
	return nil
}

// stage writes raw to a file beside the target that has the target's mode and
// group, or 0600. Bits that let others write are not passed on.
func (p replace) stage(name string, raw []byte) (*renameio.PendingFile, error) {
	existing, err := p.dir.Existing(name)
	if errors.Is(err, fs.ErrNotExist) {
		existing = statedir.Existing{Mode: 0o600, GID: -1}
	} else if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	pending, err := renameio.NewPendingFile(name, renameio.WithRoot(p.dir.Root()))
	if err != nil {
		return nil, err
	}
	if err := fill(pending.File, raw, existing); err != nil {
		return nil, errors.Join(err, discard(pending))
	}
	return pending, nil
}

func fill(f *os.File, raw []byte, like statedir.Existing) error {
	if like.GID >= 0 && like.GID != os.Getegid() {
		if err := f.Chown(-1, like.GID); err != nil {
			return err
		}
	}
	// After chown, which clears bits; and always, because of the umask.
	if err := f.Chmod(like.Mode &^ 0o022); err != nil {
		return err
	}
	_, err := f.Write(raw)
	return err
}

// visible reports whether the file holds raw: some file systems report an
// error for a rename that took place.
func (p replace) visible(name string, raw []byte) bool {
	have, err := p.dir.ReadFile(name, nil, document.MaxSize)
	return err == nil && bytes.Equal(have, raw)
}

// discard removes a staged file that will not be used.
func discard(pending *renameio.PendingFile) error {
	if err := pending.Cleanup(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove what was staged: %w", err)
	}
	return nil
}
