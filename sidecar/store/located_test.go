package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestLocatedErrorsNameTheWholePath(t *testing.T) {
	failed := errors.New("failed")
	dir := t.TempDir()
	at := filepath.Join(dir, "a")
	for want, err := range map[string]error{
		"open " + at + ": failed":                 &fs.PathError{Op: "open", Path: "a", Err: failed},
		"read " + at + ": failed":                 &fs.PathError{Op: "read", Path: at, Err: failed},
		"rename " + at + " " + dir + "/b: failed": &os.LinkError{Op: "rename", Old: "a", New: "b", Err: failed},
		"failed": failed,
	} {
		if got := Located(dir, err); got.Error() != want || !errors.Is(got, failed) {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
	if err := Located(dir, nil); err != nil {
		t.Error(err)
	}
}
