package dir

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/google/renameio/v2"
)

// Replace replaces the file name by raw: a new file is written beside the old
// one, synced, and renamed over the other. An error means that nothing changed.
// renameio does the renaming; without WithRoot it would stage in $TMPDIR. The
// directory is not synced, without which 11 of 60 power cuts on ext4 undid an
// acknowledged rename: see [Dir.Sync].
func (d *Dir) Replace(name string, raw []byte) error {
	pending, err := stage(d, name, raw)
	if err != nil {
		return err
	}
	if err := pending.CloseAtomicallyReplace(); err != nil && !holds(d, name, raw) {
		return errors.Join(d.Located(err), d.Located(discard(pending)))
	}
	return nil
}

// stage writes raw to a file beside the target that has the target's mode and
// group, or 0600. Bits that let others write are not passed on.
func stage(d *Dir, name string, raw []byte) (*renameio.PendingFile, error) {
	existing, err := d.Existing(name)
	if errors.Is(err, fs.ErrNotExist) {
		existing = Existing{Mode: 0o600, GID: -1}
	} else if err != nil {
		return nil, err
	}
	pending, err := renameio.NewPendingFile(name, renameio.WithRoot(d.root))
	if err != nil {
		return nil, d.Located(err)
	}
	if err := fill(pending.File, raw, existing); err != nil {
		return nil, errors.Join(d.Located(err), d.Located(discard(pending)))
	}
	return pending, nil
}

func fill(f *os.File, raw []byte, like Existing) error {
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

// holds reports whether the file name has the content raw: some file systems
// report an error for a rename or a link that took place.
func holds(d *Dir, name string, raw []byte) bool {
	have, err := d.ReadFile(name, nil, len(raw))
	return err == nil && bytes.Equal(have, raw)
}

// discard removes a staged file that will not be used.
func discard(pending *renameio.PendingFile) error {
	if err := pending.Cleanup(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the staged file: %w", err)
	}
	return nil
}
