package adopt

import (
	"fmt"
	"maps"
	"os"
	"syscall"
	"testing"

	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/inject"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/role"
	"github.com/google/go-cmp/cmp"
)

// everyCall adopts the file once for each system call that it takes, and
// interferes with that one.
func everyCall(t *testing.T, plan inject.Plan, check func(dir string, r inject.Result)) {
	t.Helper()
	if err := inject.Available(); err != nil {
		t.Skipf("system calls cannot be intercepted: %v", err)
	}
	plan.Marked = true
	path := legacyFile(t, mixedFile)
	var dir string
	for _, r := range inject.EveryCall(t, func(k int) (inject.Command, inject.Plan) {
		dir = fmt.Sprintf("%s/%d", t.TempDir(), k)
		if err := sidecar.Create(dir, mixed()); err != nil {
			t.Fatal(err)
		}
		return inject.Command{Path: os.Args[0], Args: []string{dir, path}, Env: role.Env("adopt")}, plan
	}) {
		check(dir, r)
		if t.Failed() {
			t.Fatalf("%v; stdout %q, stderr %q", r, r.Stdout, r.Stderr)
		}
	}
}

// resumes holds that a second run completes an interrupted one.
func resumes(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	before := map[string]string{}
	maps.Copy(before, contents(t, dir))
	for owner, fields := range before {
		if fields != want[owner] {
			t.Errorf("after the interruption %s has a part of it:\n%s", owner, fields)
		}
	}
	r := apply(t, planned(t, mixed(), mixedFile), dir)
	if diff := cmp.Diff(want, contents(t, dir)); diff != "" {
		t.Errorf("sidecars (-in one run +resumed):\n%s", diff)
	}
	for _, o := range r.Owners {
		if _, done := before[o.Owner]; done == (len(o.Imported) > 0) || len(o.Kept) > 0 {
			t.Errorf("owner %s was there: %v, and the second run says %+v", o.Owner, done, o)
		}
	}
	for _, owner := range []string{"creator", "tool"} {
		if sidecarOf(t, dir+"/"+owner+".json").Adopted("skills").IsZero() {
			t.Errorf("%s is not marked", owner)
		}
	}
}

// Case 85.
func TestKilledAtEveryCallItResumes(t *testing.T) {
	t.Parallel()
	want := inOneRun(t)
	everyCall(t, inject.Plan{Action: inject.KillBefore}.AtChanges(), func(dir string, r inject.Result) { resumes(t, dir, want) })
}

// failing are the calls whose failure is not one of the next in disguise.
var failing = []string{"openat", "read", "write", "fsync", "renameat", "unlinkat", "flock", "getdents64", "newfstatat", "fchmod", "close"}

// An error is never passed over: a run that says nothing has done all of it.
func TestFailedAtEveryCallItSaysSo(t *testing.T) {
	t.Parallel()
	want := inOneRun(t)
	everyCall(t, inject.Plan{Action: inject.Fail, Errno: syscall.EIO}.Among(failing...), func(dir string, r inject.Result) {
		if diff := cmp.Diff(want, contents(t, dir)); r.State.Success() && diff != "" {
			t.Errorf("it succeeded (-want +got):\n%s", diff)
		}
		resumes(t, dir, want)
	})
}
