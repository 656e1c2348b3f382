//go:build unix

package statedir

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

const quarantineName = "quarantine"

// Quarantine moves the file name out of the state directory into
// .freehold/quarantine, where nothing reads it, and returns its new path. It
// moves whatever stands there, a link or a pipe too, and never replaces what
// was moved before. [unix.ENOENT] means that there was nothing.
func (d *Dir) Quarantine(name string) (string, error) { return d.quarantine(d.state, name) }

func (d *Dir) quarantine(from *folder, name string) (string, error) {
	into, err := d.openQuarantine()
	if err != nil {
		return "", err
	}
	defer into.close()
	// The random part makes the name new, so that a plain rename, which
	// every system has, replaces nothing.
	kept := fmt.Sprintf("%s.%s", name, NewNonce())
	if err := unix.Renameat(from.fd, name, into.fd, kept); err != nil {
		return "", from.fail("quarantine", name, err)
	}
	if err := into.sync(); err != nil {
		return "", err
	}
	return filepath.Join(into.path, kept), from.sync()
}

// openQuarantine opens the quarantine, which it makes if there is none. Before
// anything in it counts as kept, it has to survive power loss itself.
func (d *Dir) openQuarantine() (*folder, error) {
	switch err := unix.Mkdirat(d.meta.fd, quarantineName, 0o700); {
	case err == nil:
		if err := d.meta.sync(); err != nil {
			return nil, err
		}
	case err != unix.EEXIST:
		return nil, d.meta.fail("mkdir", quarantineName, err)
	}
	return openFolder(filepath.Join(d.meta.path, quarantineName))
}

// mostQuarantined bounds how many files [Dir.Quarantined] reads.
const mostQuarantined = 64

// Quarantined calls look with the content of each file that once was the file
// name, as far as it can be read: with 64 of them at most, of no more than
// most bytes each.
func (d *Dir) Quarantined(name string, most int, look func(raw []byte)) error {
	quarantine, err := openFolder(filepath.Join(d.meta.path, quarantineName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer quarantine.close()
	names, err := quarantine.names()
	if err != nil {
		return err
	}
	left := mostQuarantined
	for _, kept := range names {
		if nonce, ok := strings.CutPrefix(kept, name+"."); !ok || !ValidNonce(nonce) {
			continue
		}
		if left--; left < 0 {
			break
		}
		if raw, err := quarantine.readFile(kept, nil, most); err == nil {
			look(raw)
		}
	}
	return nil
}
