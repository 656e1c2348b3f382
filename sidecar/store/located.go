package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Located returns an error, as a call has returned it that names files relative to
// dir, with their whole paths: nobody who is told of a file knows the directory
// that a call of [os.Root] was relative to.
func Located(dir string, err error) error {
	place := func(path *string) {
		if !filepath.IsAbs(*path) {
			*path = filepath.Join(dir, *path)
		}
	}
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		place(&at.Path)
	}
	if at, ok := errors.AsType[*os.LinkError](err); ok {
		place(&at.Old)
		place(&at.New)
	}
	return err
}
