package adopt

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/inject"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/role"
	"github.com/google/go-cmp/cmp"
)

// Case 132: an adoption that says that it is done is so after power loss as well.
func TestAnAdoptionIsSynced(t *testing.T) {
	if err := inject.Available(); err != nil {
		t.Skipf("system calls cannot be watched: %v", err)
	}
	dir := filepath.Join(t.TempDir(), "state")
	if err := sidecar.Create(dir, mixed()); err != nil {
		t.Fatal(err)
	}
	command := inject.Command{Path: os.Args[0], Args: []string{dir, legacyFile(t, mixedFile)}, Env: role.Env("adopt")}
	r, err := inject.Run(t.Context(), command, inject.Plan{Marked: true, Calls: inject.Naming})
	if err != nil || !r.State.Success() || len(r.Calls) == 0 {
		t.Fatalf("%v; stdout %q, stderr %q", err, r.Stdout, r.Stderr)
	}
	if diff := cmp.Diff([]string(nil), inject.Unsynced(r.Calls)); diff != "" {
		t.Errorf("what power loss could take away (-want +got):\n%s", diff)
	}
}
