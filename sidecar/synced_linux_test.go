package sidecar

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/inject"
	"github.com/google/go-cmp/cmp"
)

func init() {
	roles["create"] = func(args []string) error {
		inject.Begin()
		defer inject.End()
		return Create(args[0], declaration())
	}
	roles["grow"] = func(args []string) error {
		more := declaration()
		more.Owners["late"] = schema.Owner{Busy: schema.Busy{Then: schema.Defer}, Fields: map[string]schema.Field{"n": {Type: schema.TypeUint, Kind: schema.Counter}}}
		more.Owners["latch"] = schema.Owner{Fields: map[string]schema.Field{"fired": {Kind: schema.Once, Type: schema.TypeTime}}}
		inject.Begin()
		defer inject.End()
		w, err := Open(context.Background(), args[0], more, "late", nil)
		if err != nil {
			return err
		}
		return w.Close()
	}
}

// promises are what is said to be done once a call returns, each a role, with
// the state that it begins in.
var promises = map[string]struct {
	role  string
	state func(t *testing.T) (dir string)
	args  []string
}{
	"a state":             {"create", func(t *testing.T) string { return filepath.Join(t.TempDir(), "state") }, nil},
	"an instance":         {"makeinstance", instances, nil},
	"an owner more":       {"grow", newState, nil},
	"a commit":            {"commit", newState, nil},
	"a claim":             {"claim", newLatches, nil},
	"a lease":             {"lease", newState, nil},
	"an edit folded":      {"accept", spoiledState, nil},
	"a file out of place": {"quarantine", spoiledState, nil},
	"a pending patch": {"set", func(t *testing.T) string {
		dir, w := newSetters(t)
		if err := w.lock.Acquire(t.Context(), time.Minute); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { w.lock.Release() })
		return dir
	}, []string{"tool", "n"}},
	"a fold": {"set", func(t *testing.T) string {
		dir, w := newSetters(t)
		threePending(t, w)
		return dir
	}, []string{"tool", "n"}},
}

func instances(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	if err := Create(dir, instanced()); err != nil {
		t.Fatal(err)
	}
	return dir
}

func spoiledState(t *testing.T) string {
	t.Helper()
	dir := newState(t)
	strangeCost(t, dir, func(text string) string { return text + "\n" })
	return dir
}

// Case 132: whatever is said to be done is so after power loss as well: its name
// is, for the directory is synced after it was made there, and what it holds is,
// for that was synced before.
func TestWhatIsSaidToBeDoneIsSynced(t *testing.T) {
	if err := inject.Available(); err != nil {
		t.Skipf("system calls cannot be watched: %v", err)
	}
	for name, promise := range promises {
		t.Run(name, func(t *testing.T) {
			args := slices.Concat([]string{promise.state(t)}, promise.args)
			command := inject.Command{Path: os.Args[0], Args: args, Env: append(os.Environ(), roleVar+"="+promise.role)}
			r, err := inject.Run(t.Context(), command, inject.Plan{Marked: true, Calls: inject.Naming})
			if err != nil || !r.State.Success() {
				t.Fatalf("%v; stdout %q, stderr %q", err, r.Stdout, r.Stderr)
			}
			if !slices.ContainsFunc(r.Calls, func(c inject.Call) bool { return c.Name != "fsync" }) {
				t.Errorf("nothing got a name: %v", r.Calls)
			}
			if diff := cmp.Diff([]string(nil), inject.Unsynced(r.Calls)); diff != "" {
				t.Errorf("what power loss could take away (-want +got):\n%s", diff)
			}
		})
	}
}
