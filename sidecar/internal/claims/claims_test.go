package claims

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/freehold-dev/freehold/sidecar/internal/dir"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
)

func folderOf(d *dir.Dir) string { return d.Join("claims/hook") }

// newClaim returns the claim of a new state.
func newClaim(t *testing.T) (*dir.Dir, *Claim) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	d, err := dir.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	ino, id, err := MakeDir(d, "claims", "hook")
	if err := errors.Join(err, d.Remember()); err != nil {
		t.Fatal(err)
	}
	return d, New(d, "claims/hook", ino, id, "fired")
}

func TestProbeSaysThatTheDirectoryIsLost(t *testing.T) {
	d, c := newClaim(t)
	if err := c.Probe(); err != nil {
		t.Error(err)
	}
	if err := os.RemoveAll(folderOf(d)); err != nil {
		t.Fatal(err)
	}
	if err := c.Probe(); !errors.Is(err, status.Lost) || status.RemedyOf(err).Verb != status.Repair {
		t.Errorf("got %v", err)
	}
}

// Case 31: a claim counts only where every other process looks for it.
func TestClaimInAMovedDirectoryIsNotInPlace(t *testing.T) {
	for name, c := range map[string]struct {
		move func(d *dir.Dir) error
		want error
	}{
		"the state": {func(d *dir.Dir) error { return os.Rename(d.Path(), d.Path()+".away") }, status.Moved},
		"the state, with another in its place": {func(d *dir.Dir) error {
			return errors.Join(os.Rename(d.Path(), d.Path()+".away"), os.Mkdir(d.Path(), 0o700))
		}, status.Moved},
		"the directory of the claims": {func(d *dir.Dir) error { return os.Rename(folderOf(d), folderOf(d)+".away") }, status.Lost},
		"the directory, with another in its place": {func(d *dir.Dir) error {
			return errors.Join(os.Rename(folderOf(d), folderOf(d)+".away"), os.Mkdir(folderOf(d), 0o700))
		}, status.Lost},
		"the directory above, with a link in its place": {func(d *dir.Dir) error {
			above := filepath.Dir(folderOf(d))
			return errors.Join(os.Rename(above, above+".away"), os.Symlink(above+".away", above))
		}, status.Lost},
		"the file": {func(d *dir.Dir) error { return os.Remove(filepath.Join(folderOf(d), "fired")) }, status.Lost},
	} {
		t.Run(name, func(t *testing.T) {
			d, claim := newClaim(t)
			if made, err := claim.Publish([]byte("x")); !made || err != nil {
				t.Fatalf("made %v (%v)", made, err)
			}
			if err := c.move(d); err != nil {
				t.Fatal(err)
			}
			for _, err := range []error{claim.inPlace(), claim.Sync()} {
				if !errors.Is(err, c.want) {
					t.Errorf("got %v, want %v", err, c.want)
				}
			}
		})
	}
}
