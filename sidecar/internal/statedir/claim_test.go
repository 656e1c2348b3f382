package statedir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"github.com/google/go-cmp/cmp"
)

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
	return d.Claim("hook", "fired", m.Claims["hook"])
}

func claimFolder(d *Dir) string { return filepath.Join(d.Path(), claimDir("hook")) }

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
