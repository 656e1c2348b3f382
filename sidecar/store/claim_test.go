//go:build unix

package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

func latches() *schema.Declaration {
	return &schema.Declaration{State: "session", Owners: map[string]schema.Owner{
		"hook": {Fields: map[string]schema.Field{"fired": {Type: schema.TypeTime, Kind: schema.Once}}},
	}}
}

// newClaim returns the claim of a new state.
func newClaim(t *testing.T) (*Store, *Claim) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	if err := Create(dir, latches()); err != nil {
		t.Fatal(err)
	}
	d := openState(t, dir)
	return d, claimOf(t, d)
}

func claimOf(t *testing.T, d *Store) *Claim {
	t.Helper()
	m, err := d.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	return d.Claim("hook", "fired", m.Claims["hook"])
}

func claims(t *testing.T, d *Store) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(claimFolder(d))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func claimFolder(d *Store) string { return filepath.Join(d.Path(), claimDir("hook")) }

// Both ways to make a file keep one promise: of many at once, one makes it,
// whole; the others are told so; nothing else is left.
func TestOneOfManyMakesTheFile(t *testing.T) {
	for name, create := range map[string]func(*folder, string, []byte) error{
		"without a name first":     (*folder).createExclusive,
		"under another name first": (*folder).createStaged,
	} {
		t.Run(name, func(t *testing.T) {
			d, c := newClaim(t)
			f, err := c.open()
			if err != nil {
				t.Fatal(err)
			}
			defer f.close()
			var made []string
			var mu sync.Mutex
			var wg sync.WaitGroup
			for i := range 16 {
				raw := []byte{'a' + byte(i)}
				wg.Go(func() {
					err := create(f, "fired", raw)
					mu.Lock()
					defer mu.Unlock()
					if err == nil {
						made = append(made, string(raw))
					} else if !errors.Is(err, fs.ErrExist) {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			raw, err := c.Read(nil)
			if err != nil || len(made) != 1 || made[0] != string(raw) {
				t.Errorf("made by %v, and it holds %q (%v)", made, raw, err)
			}
			if diff := cmp.Diff([]string{"fired"}, claims(t, d)); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
		})
	}
}

func TestProbeLeavesNothing(t *testing.T) {
	d, c := newClaim(t)
	f, err := c.open()
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	if err := errors.Join(c.Probe(), f.probeStaged()); err != nil {
		t.Error(err)
	}
	if names := claims(t, d); names != nil {
		t.Errorf("left: %v", names)
	}
	if err := os.Remove(claimFolder(d)); err != nil {
		t.Fatal(err)
	}
	wantError(t, c.Probe(), ErrClaims, "state repair")
}

// Case 31: a claim counts only where every other process looks for it.
func TestClaimInAMovedDirectoryIsNotInPlace(t *testing.T) {
	for name, c := range map[string]struct {
		move func(d *Store) error
		want error
	}{
		"the state": {func(d *Store) error { return os.Rename(d.Path(), d.Path()+".away") }, ErrReplaced},
		"the state, with another in its place": {func(d *Store) error {
			return errors.Join(os.Rename(d.Path(), d.Path()+".away"), Create(d.Path(), latches()))
		}, ErrReplaced},
		"the directory of the claims": {func(d *Store) error { return os.Rename(claimFolder(d), claimFolder(d)+".away") }, ErrClaims},
		"the directory, with another in its place": {func(d *Store) error {
			return errors.Join(os.Rename(claimFolder(d), claimFolder(d)+".away"), os.Mkdir(claimFolder(d), 0o700))
		}, ErrClaims},
		"the directory above, with a link in its place": {func(d *Store) error {
			above := filepath.Dir(claimFolder(d))
			return errors.Join(os.Rename(above, above+".away"), os.Symlink(above+".away", above))
		}, ErrClaims},
		"the file": {func(d *Store) error { return os.Remove(filepath.Join(claimFolder(d), "fired")) }, ErrClaims},
	} {
		t.Run(name, func(t *testing.T) {
			d, claim := newClaim(t)
			if made, err := claim.Publish([]byte("x")); !made || err != nil {
				t.Fatalf("made %v (%v)", made, err)
			}
			if err := c.move(d); err != nil {
				t.Fatal(err)
			}
			wantError(t, claim.inPlace(), c.want)
			wantError(t, claim.Sync(), c.want)
		})
	}
}

// The two ways to open what is below agree, and follow no link.
func TestOpenBelowFollowsNoLink(t *testing.T) {
	d, c := newClaim(t)
	if _, err := c.Publish([]byte("x")); err != nil {
		t.Fatal(err)
	}
	open := map[string]func(string, int) (int, error){"at once": d.state.openBelow, "by steps": d.state.openStepwise}
	check := func(what, path string, want error) {
		t.Helper()
		for how, open := range open {
			fd, err := open(path, openFlags)
			if err == nil {
				unix.Close(fd)
			}
			if !errors.Is(err, want) && !(want == unix.ELOOP && err == unix.ENOTDIR) {
				t.Errorf("%s, %s: %v, want %v", what, how, err, want)
			}
		}
	}
	check("a file", c.path, nil)
	check("no file", c.folder+"/nothing", unix.ENOENT)
	check("no directory", claimDir("nobody")+"/fired", unix.ENOENT)
	for _, at := range []string{c.path, c.folder, metaName + "/" + claimsName, metaName} {
		path := filepath.Join(d.Path(), at)
		if err := errors.Join(os.Rename(path, path+".away"), os.Symlink(path+".away", path)); err != nil {
			t.Fatal(err)
		}
		check("through the link "+at, c.path, unix.ELOOP)
		if err := errors.Join(os.Remove(path), os.Rename(path+".away", path)); err != nil {
			t.Fatal(err)
		}
	}
}

// A copy has other inodes: the repair goes by the claims that came with it, and
// makes what is missing.
func TestRepairTakesTheClaimsThatAreThere(t *testing.T) {
	d, c := newClaim(t)
	if _, err := c.Publish([]byte("x")); err != nil {
		t.Fatal(err)
	}
	copied := d.Path() + "-copy"
	if err := os.CopyFS(copied, os.DirFS(d.Path())); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Chmod(copied, 0o700), os.Chmod(copied+"/.freehold", 0o700)); err != nil {
		t.Fatal(err)
	}
	d = openState(t, copied)
	_, err := claimOf(t, d).Read(nil)
	wantError(t, err, ErrClaims)
	if remade, err := Repair(t.Context(), copied); err != nil || len(remade) == 0 || remade[len(remade)-1] != "claims/hook" {
		t.Fatalf("repaired %v (%v)", remade, err)
	}
	if raw, err := claimOf(t, d).Read(nil); err != nil || string(raw) != "x" {
		t.Errorf("the claim is %q (%v)", raw, err)
	}
	if err := os.RemoveAll(claimFolder(d)); err != nil {
		t.Fatal(err)
	}
	if remade, err := Repair(t.Context(), copied); err != nil || !cmp.Equal(remade, []string{"claims/hook"}) {
		t.Fatalf("repaired %v (%v)", remade, err)
	}
	if _, err := claimOf(t, d).Read(nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a new directory has the claim: %v", err)
	}
}
