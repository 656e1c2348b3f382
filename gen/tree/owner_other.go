//go:build !unix

package tree

import (
	"io/fs"
	"os"
	"time"
)

// KeepOwner does nothing: files have no owners here that a program could give.
func KeepOwner(*os.File, fs.FileInfo, fs.FileInfo) error { return nil }

// Names returns 1 likewise.
func Names(fs.FileInfo) int { return 1 }

// lock returns an error unless the process that writes f has ended: a living one takes
// no minute, and there is no lock here that goes with a process. A file that is made
// just now is its maker's.
func lock(f *os.File) error {
	info, err := f.Stat()
	if err == nil && time.Since(info.ModTime()) <= time.Minute && info.Size() > 0 {
		err = fs.ErrExist
	}
	return err
}
