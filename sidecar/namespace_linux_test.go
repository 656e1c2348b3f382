package sidecar

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/actor"
)

func init() { roles["locked"] = roleLocked }

// In a container, too, a lease that a child inherited is not free.
func TestInheritedLeaseIsNamedInAContainer(t *testing.T) {
	cmd := actor.InPIDNamespace(t, "", "-test.v", "-test.run=^TestInheritedLeaseIsNamed$")
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), "--- PASS") != 1 {
		t.Errorf("%v: %s", err, out)
	}
}

// A lock that is held in another PID namespace, as by another container with the
// same volume, is no free one, though the kernel does not list it here.
func TestLockHeldInAnotherNamespaceIsTaken(t *testing.T) {
	dir := newState(t)
	looked := func() string {
		out, err := actor.InPIDNamespace(t, "locked", dir).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return strings.TrimSpace(string(out))
	}
	w, release := holdLock(t, dir, "cost")
	held := looked()
	release()
	if free := looked(); held != "true" || free != "false" {
		t.Errorf("the lock is taken: %s while %v holds it, and %s when nobody does", held, w, free)
	}
}

// Hundreds that wait for a lock of commits in a container, where the kernel does
// not always name the holder, do not look at each other's descriptors, which would take
// them longer than the lock. Only a lease or a fence is passed to children.
func TestWhoIsRefusedALockOfCommitsLooksAtNobody(t *testing.T) {
	strace := stracePath(t)
	dir, trace := newState(t), filepath.Join(t.TempDir(), "trace")
	_, release := holdLock(t, dir, "cost")
	defer release()
	cmd := actor.InPIDNamespace(t, "late", dir, "-1ns") // which does not wait
	at := slices.Index(cmd.Args, os.Args[0])
	cmd.Args = slices.Insert(cmd.Args, at, strace, "-f", "-o", trace, "-e", "trace=openat,readlinkat,readlink")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "another process holds the lock") {
		t.Fatalf("%v: %s", err, out)
	}
	calls := readFile(t, trace)
	if !strings.Contains(calls, `"/proc/locks"`) {
		t.Errorf("the trace shows nothing:\n%s", calls)
	}
	if looked := regexp.MustCompile(`"/proc"|"/proc/\d+/fdinfo`).FindString(calls); looked != "" {
		t.Errorf("it has opened %s", looked)
	}
}

// roleLocked says whether an owner's lock is taken.
func roleLocked(args []string) error {
	d, err := statedir.Open(args[0])
	if err != nil {
		return err
	}
	defer d.Close()
	m, err := d.Manifest()
	if err != nil {
		return err
	}
	taken, err := d.Locked(m, "cost")
	fmt.Println(taken)
	return err
}
