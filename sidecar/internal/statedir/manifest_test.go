package statedir

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// An unsound declaration is never written into a manifest, where no program
// could read it.
func TestUnsoundDeclarationsAreNotWritten(t *testing.T) {
	unsound := declaration()
	unsound.Owners["cost"].Fields["worse"] = schema.Field{Type: "money"}
	dir := filepath.Join(t.TempDir(), "state")
	wantError(t, Create(dir, unsound), schema.ErrUnsound, "field worse")
	if _, err := os.Lstat(dir); !os.IsNotExist(err) {
		t.Errorf("something was made: %v", err)
	}
	d := newState(t)
	before, err := d.ManifestText(nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.Upgrade(t.Context(), unsound, stateWait)
	wantError(t, err, schema.ErrUnsound, "field worse")
	if after, err := d.ManifestText(nil); err != nil || string(after) != string(before) {
		t.Errorf("the manifest has changed (%v):\n%s", err, after)
	}
}

// The next Create removes the directory of a killed one, and leaves that of a
// live one.
func TestCreateRemovesDirectoriesOfDeadProcesses(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	dead, gone, live, other := newPrefix+process.NewNonce(), gonePrefix+process.NewNonce(), newPrefix+process.NewNonce(), newPrefix+"mine"
	for _, name := range []string{dead, gone, live, other} {
		if err := os.MkdirAll(filepath.Join(dir, name, "below"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(filepath.Join(dir, live))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if err := Create(dir, declaration()); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, e := range entries {
		got[e.Name()] = true
	}
	if diff := cmp.Diff(map[string]bool{metaName: true, live: true, other: true}, got); diff != "" {
		t.Errorf("the directory (-want +got):\n%s", diff)
	}
}

func TestContradictionIsMendedByUpgrade(t *testing.T) {
	d := newState(t)
	built := declaration()
	built.Owners["cost"].Fields["count"] = schema.Field{Type: schema.TypeUint, Kind: schema.Counter, Was: "turns"}
	delete(built.Owners["cost"].Fields, "turns")
	_, err := d.Upgrade(t.Context(), built, stateWait)
	wantError(t, err, schema.ErrDeclaration, "field count is still called turns there")
	if status.Of(err) != status.Declaration || status.RemedyOf(err).Verb != status.Upgrade {
		t.Errorf("got %q with the remedy %v", status.Of(err), status.RemedyOf(err))
	}
}

func TestPendingUpgradeStopsAllPrograms(t *testing.T) {
	d := newState(t)
	m, release, err := d.LockAll(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	id := process.NewNonce()
	if err := d.Staged(id).Write(map[string][]byte{"cost.json": []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	if raw, err := d.Staged(id).Read("cost.json", nil, 10); string(raw) != "{}" || err != nil {
		t.Errorf("staged %q (%v)", raw, err)
	}
	m.Pending = &schema.Pending{ID: id, Sidecars: []string{"cost"}}
	if err := d.WriteManifest(m); err != nil {
		t.Fatal(err)
	}
	release()
	_, err = d.Settled(t.Context(), stateWait)
	wantError(t, err, status.Declaration, "not finished")
	_, err = d.Upgrade(t.Context(), declaration(), stateWait)
	wantError(t, err, schema.ErrDeclaration, "not finished")
	for range 2 { // it may have gone there already
		if err := d.Staged(id).Install("cost.json", false); err != nil {
			t.Fatal(err)
		}
	}
	if raw, err := d.ReadFile("cost.json", nil, 10); string(raw) != "{}" || err != nil {
		t.Errorf("installed %q (%v)", raw, err)
	}
	if err := d.Unstage(); err != nil {
		t.Fatal(err)
	}
	names, err := d.meta.Names()
	if err != nil || slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, upgradePrefix) }) {
		t.Errorf("left %v (%v)", names, err)
	}
}

func manifestOf(t *testing.T, d *Dir) *schema.Manifest {
	t.Helper()
	m, err := d.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	return m
}
