package sidecar

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/retire"
	"golang.org/x/sys/unix"
)

// Looking at a lock does not let it go, and two handles in one process exclude
// each other.
func TestLookingAtALeaseKeepsIt(t *testing.T) {
	dir := newState(t)
	mustOpen(t, dir)
	_, err := openWatchdog(t, dir, nil)
	wantError(t, err, ErrBusy, "this process")
	for _, look := range []func() error{
		func() error { _, err := os.ReadFile(metaPath(dir, "watchdog.lease")); return err },
		func() error { _, err := LeaseStatus(dir, "watchdog"); return err },
		func() error { _, err := retire.Prepare(dir, "watchdog"); return err },
		func() error { _, err := openWatchdog(t, dir, nil); return ignore(err, ErrBusy) },
		func() error { _, err := Accept(t.Context(), dir, "watchdog", nil); return ignore(err, ErrBusy) },
	} {
		if err := look(); err != nil {
			t.Fatal(err)
		}
		a := newActor(t, dir)
		if said := a.Ask("open"); !strings.HasPrefix(said, "busy") {
			t.Fatalf("after a look another process said %q", said)
		}
	}
}

func TestChildInheritsNoDescriptor(t *testing.T) {
	dir := newState(t)
	w := mustOpen(t, dir)
	update(t, w, beat)
	out, err := exec.Command("ls", "-l", "/proc/self/fd").CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(out, []byte(dir)) {
		t.Errorf("a child has descriptors of the state:\n%s", out)
	}
	// A child that keeps running does not keep the lease.
	child := exec.Command("sleep", "600")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { child.Process.Kill(); child.Wait() }()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	newActor(t, dir).Open()
}

// A child that closes a descriptor which it was passed lets nothing go, and one
// that keeps it keeps no lease that its parent gave back.
func TestInheritedDescriptorDecidesNothing(t *testing.T) {
	dir := newState(t)
	w, err := Open(t.Context(), dir, nil, "watchdog", nil)
	if err != nil {
		t.Fatal(err)
	}
	closes := exec.Command("sh", "-c", "exec 3<&-")
	closes.ExtraFiles = []*os.File{w.lease.File()}
	if err := closes.Run(); err != nil {
		t.Fatal(err)
	}
	a := newActor(t, dir)
	if said := a.Ask("open"); !strings.HasPrefix(said, "busy") {
		t.Fatalf("after a child closed the descriptor another process said %q", said)
	}
	keeps := exec.Command("sleep", "600")
	keeps.ExtraFiles = []*os.File{w.lease.File()}
	if err := keeps.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { keeps.Process.Kill(); keeps.Wait() }()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	a.Must("open", "open")
}

// inContainer reports whether this process is in a PID namespace other than the
// machine's first, whose inode is the same everywhere. The kernel tells less
// there of processes that have ended.
func inContainer() bool { return process.Self().PIDNamespace != 0xeffffffc }

// A lease that outlives its holder, because a child inherited it, is refused,
// with the reason where the kernel's list of locks tells it. Its state names the
// child in a container too.
func TestInheritedLeaseIsNamed(t *testing.T) {
	dir := newState(t)
	a := newActor(t, dir)
	a.Open()
	child := mustAtoi(t, a.Must("leak", "leaked"))
	a.Kill()
	named, says := a.PID(), fmt.Sprintf("process %d holds the lock and has ended; a process that inherited the descriptor keeps the lock", a.PID())
	if inContainer() {
		named, says = child, "another process holds the lock"
	}
	_, err := openWatchdog(t, dir, nil)
	wantError(t, err, ErrBusy, says)
	if s := leaseState(t, dir); s.PID != named || s.Verdict != process.Gone || s.Disagreement == "" {
		t.Errorf("the state of the lease is %+v", s)
	}
	unix.Kill(child, unix.SIGKILL)
	if _, err := openWatchdog(t, dir, &Options{LeaseWait: time.Minute}); err != nil {
		t.Error(err)
	}
}
