package statedir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// damages are the ways in which a lock file can come to be another one.
var damages = map[string]func(path string) error{
	"removed": os.Remove,
	"replaced": func(path string) error {
		// The old inode stays alive, so that the new file gets another one.
		return errors.Join(os.Rename(path, path+".gone"), os.WriteFile(path, nil, 0o600))
	},
	"a link": func(path string) error {
		return errors.Join(os.Rename(path, path+".gone"), os.Symlink(filepath.Base(path)+".gone", path))
	},
	"linked twice": func(path string) error { return os.Link(path, path+".twin") },
	"a pipe":       func(path string) error { return errors.Join(os.Remove(path), unix.Mkfifo(path, 0o600)) },
	"a directory":  func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
}

func TestDamagedLockFileIsRefusedAndRepaired(t *testing.T) {
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			d := newState(t)
			m, err := d.Manifest()
			if err != nil {
				t.Fatal(err)
			}
			file := OwnerLock("cost")
			open, err := d.OpenLock(m, file)
			if err != nil {
				t.Fatal(err)
			}
			defer open.Close()
			if err := damage(filepath.Join(d.Path(), metaName, file)); err != nil {
				t.Fatal(err)
			}
			// Neither one that comes now nor one that had it open goes on.
			_, err = d.OpenLock(m, file)
			wantError(t, err, status.Lost, file, "state repair")
			wantError(t, open.Acquire(t.Context(), 0), status.Lost)

			remade, err := Remake(t.Context(), d.Path())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{file}, remade); diff != "" {
				t.Errorf("repaired (-want +got):\n%s", diff)
			}
			if m, err = d.Manifest(); err != nil {
				t.Fatal(err)
			}
			l, err := d.OpenLock(m, file)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			if err := l.Acquire(t.Context(), 0); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestRepairLeavesAStateInUseAlone(t *testing.T) {
	d := newState(t)
	m, err := d.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	held, err := d.OpenLock(m, OwnerLease("watchdog"))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := held.Acquire(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	lost := filepath.Join(d.Path(), metaName, OwnerLock("cost"))
	if err := os.Remove(lost); err != nil {
		t.Fatal(err)
	}
	_, err = Remake(t.Context(), d.Path())
	wantError(t, err, status.Busy)
	if _, err := os.Lstat(lost); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a refused repair made the file: %v", err)
	}
}

func TestRepairLeavesALostButHeldLockAlone(t *testing.T) {
	if _, err := os.Stat("/proc/locks"); err != nil {
		t.Skip("needs /proc/locks")
	}
	d := newState(t)
	m, err := d.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	held, err := d.OpenLock(m, OwnerLock("cost"))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := held.Acquire(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(d.Path(), metaName, OwnerLock("cost"))); err != nil {
		t.Fatal(err)
	}
	_, err = Remake(t.Context(), d.Path())
	wantError(t, err, status.Busy, "holds the lost lock")
}

func TestRepairOfASoundStateDoesNothing(t *testing.T) {
	d := newState(t)
	before, err := d.ManifestText(nil)
	if err != nil {
		t.Fatal(err)
	}
	remade, err := Remake(t.Context(), d.Path())
	if err != nil || len(remade) != 0 {
		t.Errorf("repaired %v (%v), want nothing", remade, err)
	}
	after, err := d.ManifestText(nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(before), string(after)); diff != "" {
		t.Errorf("the manifest changed (-before +after):\n%s", diff)
	}
}

func TestQuarantineMovesFilesOfEveryType(t *testing.T) {
	d := newState(t)
	path := filepath.Join(d.Path(), "cost.json")
	for i, make := range []func() error{
		func() error { return os.WriteFile(path, []byte("one"), 0o600) },
		func() error { return os.WriteFile(path, []byte("two"), 0o600) },
		func() error { return os.Symlink("nowhere", path) },
		func() error { return unix.Mkfifo(path, 0o600) },
		func() error { return os.Mkdir(path, 0o700) },
	} {
		if err := make(); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Quarantine().Move("cost.json"); err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%d: it is still there: %v", i, err)
		}
	}
	kept, err := os.ReadDir(filepath.Join(d.Path(), metaName, quarantineName))
	if err != nil || len(kept) != 5 {
		t.Errorf("%d things kept (%v), want 5", len(kept), err)
	}
}

// The inode of a deleted lock file is soon another file's, maybe another
// state's lock: that one's holder is no obstacle.
func TestRepairIsNotMistakenByAReusedInode(t *testing.T) {
	if _, err := os.Stat("/proc/locks"); err != nil {
		t.Skip("needs /proc/locks")
	}
	d, other := newState(t), newState(t)
	m, err := d.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	held := openLock(t, other, OwnerLock("cost"))
	if err := held.Acquire(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(d.Path(), metaName, OwnerLock("cost"))); err != nil {
		t.Fatal(err)
	}
	taken, err := other.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	m.Locks[OwnerLock("cost")] = taken.Locks[OwnerLock("cost")] // as if it had been that one's
	if err := d.WriteManifest(m); err != nil {
		t.Fatal(err)
	}
	if remade, err := Remake(t.Context(), d.Path()); err != nil || len(remade) != 1 {
		t.Errorf("repaired %v (%v)", remade, err)
	}
}

// Case 91: no owner can be named so that one of its files is one of the
// state's own, nor is one of those taken for an owner's.
func TestTheStatesOwnFilesAreNoOwners(t *testing.T) {
	ours := map[string]bool{metaName: true, newPrefix + process.NewNonce(): true, stateLock: true, manifestName: true, quarantineName: true}
	for name := range ours {
		for _, candidate := range []string{name, strings.TrimPrefix(name, "."), strings.TrimSuffix(name, filepath.Ext(name)), strings.Split(strings.TrimPrefix(name, "."), ".")[0]} {
			d := declaration()
			d.Owners[candidate] = schema.Owner{Mode: schema.Exclusive}
			text, err := (&schema.Manifest{Format: schema.ManifestFormat, StateID: process.NewNonce() + process.NewNonce(), Locks: map[string]uint64{}, Declaration: *d}).Marshal()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := schema.ParseManifest(text); err != nil {
				continue // nobody can be named like this
			}
			for _, file := range []string{OwnerLock(candidate), OwnerLease(candidate), OwnerFence(candidate), OwnerRecord(candidate), Sidecar(candidate)} {
				if ours[file] && file != manifestName { // a sidecar of that name is not in .freehold
					t.Errorf("the owner %s would have the file %s, which is the state's", candidate, file)
				}
			}
		}
	}
}

func latches() *schema.Declaration {
	return &schema.Declaration{State: "session", Owners: map[string]schema.Owner{
		"hook": {Fields: map[string]schema.Field{"fired": {Type: schema.TypeTime, Kind: schema.Once}}},
	}}
}

// newClaim returns the claim of a new state.
func newClaim(t *testing.T) (*Dir, *Claim) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	if err := Create(dir, latches()); err != nil {
		t.Fatal(err)
	}
	d := openState(t, dir)
	return d, claimOf(t, d)
}

func claimOf(t *testing.T, d *Dir) *Claim {
	t.Helper()
	m, err := d.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	return d.Claim(m, "hook", "fired")
}

func claimFolder(d *Dir) string { return filepath.Join(d.Path(), claimDir("hook")) }

// A copy has other inodes: the repair takes the claims that came with the copy,
// and makes missing directories.
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
	wantError(t, err, status.Lost)
	if remade, err := Remake(t.Context(), copied); err != nil || len(remade) == 0 || remade[len(remade)-1] != "claims/hook" {
		t.Fatalf("repaired %v (%v)", remade, err)
	}
	if raw, err := claimOf(t, d).Read(nil); err != nil || string(raw) != "x" {
		t.Errorf("the claim is %q (%v)", raw, err)
	}
	if err := os.RemoveAll(claimFolder(d)); err != nil {
		t.Fatal(err)
	}
	if remade, err := Remake(t.Context(), copied); err != nil || !cmp.Equal(remade, []string{"claims/hook"}) {
		t.Fatalf("repaired %v (%v)", remade, err)
	}
	if _, err := claimOf(t, d).Read(nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a new directory has the claim: %v", err)
	}
}
