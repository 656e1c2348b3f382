package statedir

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"golang.org/x/sys/unix"
)

// A file of another type in the place of a staged sidecar is named, and
// replaces no file.
func TestNothingButAPlainFileIsInstalled(t *testing.T) {
	for kind, put := range map[string]func(path string) error{
		"pipe":      func(path string) error { return unix.Mkfifo(path, 0o600) },
		"link":      func(path string) error { return os.Symlink("../../manifest.json", path) },
		"directory": func(path string) error { return os.Mkdir(path, 0o700) },
		"hard link": func(path string) error { return os.Link(filepath.Join(path, "../../manifest.json"), path) },
	} {
		t.Run(kind, func(t *testing.T) {
			d := newState(t)
			good := filepath.Join(d.Path(), "cost.json")
			if err := os.WriteFile(good, []byte("good"), 0o600); err != nil {
				t.Fatal(err)
			}
			id := process.NewNonce()
			if err := d.Staged(id).Write(map[string][]byte{"cost.json": []byte("{}")}); err != nil {
				t.Fatal(err)
			}
			staged := filepath.Join(d.Path(), ".freehold", upgradePrefix+id, "cost.json")
			if err := errors.Join(os.Remove(staged), put(staged)); err != nil {
				t.Fatal(err)
			}
			for _, keep := range []bool{false, true} {
				err := d.Staged(id).Install("cost.json", keep)
				wantError(t, err, ErrIrregular, staged)
				said.Same(t, "install: a "+kind, err, d.Path(), "STATE", id, "UPGRADE")
			}
			if text, err := os.ReadFile(good); string(text) != "good" {
				t.Errorf("in place is %q (%v)", text, err)
			}
			if _, err := os.Lstat(staged); err != nil {
				t.Error(err)
			}
			if err := d.Unstage(); err != nil {
				t.Fatal(err)
			}
		})
	}
}
