//go:build unix

package store

import (
	"bytes"
	"slices"

	"golang.org/x/sys/unix"
)

// Same reports whether the file name in the state directory holds exactly the
// bytes known, which are what [Store.ReadFile] once read. It uses spare, which
// it grows if needed and returns, and allocates nothing otherwise. It is for
// readers that look often: it asks nothing about the file but its bytes, so
// that anything else than true means to call ReadFile, which says why.
func (d *Store) Same(name string, known, spare []byte) (bool, []byte) {
	return d.state.same(name, known, spare)
}

// SameManifest is [Store.Same] for the manifest and [Store.ManifestText].
func (d *Store) SameManifest(known, spare []byte) (bool, []byte) {
	return d.meta.same(manifestName, known, spare)
}

func (f *folder) same(name string, known, spare []byte) (bool, []byte) {
	fd, err := f.openQuietly(name)
	return sameBytes(fd, err, known, spare)
}

// sameBytes reports whether fd, which it closes, holds exactly the bytes known.
func sameBytes(fd int, err error, known, spare []byte) (bool, []byte) {
	if err != nil {
		return false, spare
	}
	defer unix.Close(fd)
	// One byte more, to see that the file ends where known does.
	spare = slices.Grow(spare[:0], len(known)+1)
	n, err := unix.Read(fd, spare[:len(known)+1])
	if err != nil || n != len(known) {
		return false, spare
	}
	spare = spare[:n]
	return bytes.Equal(spare, known), spare
}

// Absent reports whether nothing has the name in the state directory. It
// allocates nothing.
func (d *Store) Absent(name string) bool {
	fd, errno := d.state.openQuietly(name)
	if errno == nil {
		unix.Close(fd)
	}
	return errno == unix.ENOENT
}
