//go:build unix

package store

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// A Stamp says when names were last added to a directory or taken from it, by
// the clock of its file system. Equal stamps mean that nothing happened in
// between, or that all of it happened within one tick: a few milliseconds on
// Linux before 6.13. The zero Stamp is no directory's.
type Stamp struct{ seconds, nanoseconds int64 }

// Stamp returns the state directory's stamp. It allocates nothing.
func (d *Store) Stamp() (Stamp, error) {
	var st unix.Stat_t
	if err := unix.Fstat(d.state.fd, &st); err != nil {
		return Stamp{}, &fs.PathError{Op: "stat", Path: d.path, Err: err}
	}
	return Stamp{int64(st.Ctim.Sec), int64(st.Ctim.Nsec)}, nil
}
