package upgrade

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/inject"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/role"
	"github.com/google/go-cmp/cmp"
)

// everyCall upgrades a full state once for each system call that it takes, and
// interferes with that one.
func everyCall(t *testing.T, plan inject.Plan, check func(dir string, r inject.Result)) {
	t.Helper()
	if err := inject.Available(); err != nil {
		t.Skipf("system calls cannot be intercepted: %v", err)
	}
	plan.Marked = true
	var dir string
	for _, r := range inject.EveryCall(t, func(k int) (inject.Command, inject.Plan) {
		dir = fmt.Sprintf("%s/%d", t.TempDir(), k)
		fullState(t, dir)
		return inject.Command{Path: os.Args[0], Args: []string{dir}, Env: role.Env("upgrade")}, plan
	}) {
		check(dir, r)
		if t.Failed() {
			t.Fatalf("%v; stdout %q, stderr %q", r, r.Stdout, r.Stderr)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
}

// resumes holds that after an interruption readers see the state before or after
// the upgrade, no program writes a mixture, and the next run completes it.
func resumes(t *testing.T, dir string, r inject.Result) {
	t.Helper()
	before := sidecars(t, dir)
	got := viewed(t, dir)
	old, young := cmp.Equal(got, oldView), cmp.Equal(got, newView)
	switch {
	case !old && !young:
		t.Errorf("neither before nor after: %v", got)
	case r.State != nil && r.State.Success() && !young:
		t.Errorf("it succeeded, and the state is as before")
	case !r.Killed && r.State != nil && !r.State.Success() && young && !strings.Contains(string(r.Stderr), sidecar.ErrIndeterminate.Error()):
		t.Errorf("it says that nothing was changed, and the state is new")
	}
	w, err := sidecar.Open(t.Context(), dir, older(), "cost", nil)
	if err == nil {
		w.Close()
	}
	if old != (err == nil) || err != nil && !errors.Is(err, sidecar.ErrDeclaration) {
		t.Errorf("the state is as before: %v; the older build opens it: %v", old, err)
	}
	report := upgraded(t, dir, younger())
	if diff := cmp.Diff(newView, viewed(t, dir)); diff != "" {
		t.Errorf("resumed (-want +got):\n%s", diff)
	}
	if old && report.Resumed {
		t.Errorf("it had not taken effect, and was resumed")
	}
	statetest.CheckUp(t, dir)
	kept := quarantined(t, dir)
	for _, owner := range []string{"cost", "curator", "reset", "tool", "usage", "watchdog"} {
		if !strings.Contains(kept[owner+".json"], `"owner":"`+owner+`"`) {
			t.Errorf("the old sidecar of %s is not kept: %q", owner, kept[owner+".json"])
		}
		if text, ok := before[owner+".json"]; ok && old && kept[owner+".json"] != text {
			t.Errorf("what is kept of %s is not what was there", owner)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, ".freehold", "quarantine", "*"))
	if err != nil || len(files) != 6 {
		t.Errorf("the quarantine holds %v (%v), want one file of each owner", files, err)
	}
	commit(t, dir, "clock", set("cleared", "false"))
}

// failing are the calls whose failure is not one of the next in disguise.
var failing = []string{"mkdirat", "openat", "write", "fchmod", "fsync", "renameat", "unlinkat", "flock", "read", "getdents64", "newfstatat", "close"}

func TestKilledAtEveryCallItResumes(t *testing.T) {
	t.Parallel()
	everyCall(t, inject.Plan{Action: inject.KillBefore}.AtChanges(), func(dir string, r inject.Result) { resumes(t, dir, r) })
}

func TestFailedAtEveryCallItSaysSoAndResumes(t *testing.T) {
	for _, plan := range []inject.Plan{
		inject.Plan{Errno: syscall.EIO}.Among(failing...),
		inject.Plan{Errno: syscall.ENOSPC, Persistent: true}.AtChanges(),
	} {
		t.Run(fmt.Sprintf("%v/persistent=%v", plan.Errno, plan.Persistent), func(t *testing.T) {
			t.Parallel()
			plan.Action = inject.Fail
			everyCall(t, plan, func(dir string, r inject.Result) { resumes(t, dir, r) })
		})
	}
}

// Case 132: an upgrade that says that it is done is so after power loss as well.
func TestAnUpgradeIsSynced(t *testing.T) {
	if err := inject.Available(); err != nil {
		t.Skipf("system calls cannot be watched: %v", err)
	}
	dir := filepath.Join(t.TempDir(), "state")
	fullState(t, dir)
	command := inject.Command{Path: os.Args[0], Args: []string{dir}, Env: role.Env("upgrade")}
	r, err := inject.Run(t.Context(), command, inject.Plan{Marked: true, Calls: inject.Naming})
	if err != nil || !r.State.Success() || len(r.Calls) == 0 {
		t.Fatalf("%v; stdout %q, stderr %q", err, r.Stdout, r.Stderr)
	}
	if diff := cmp.Diff([]string(nil), inject.Unsynced(r.Calls)); diff != "" {
		t.Errorf("effects that power loss could undo (-want +got):\n%s", diff)
	}
}
