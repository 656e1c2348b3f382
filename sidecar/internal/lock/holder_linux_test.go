package lock

import (
	"os"
	"os/exec"
	"testing"

	"github.com/freehold-dev/freehold/sidecar/internal/dir"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/scratch"
	"golang.org/x/sys/unix"
)

func init() { scratch.Guard() }

func TestLockIsHeldByTheProcessThatTookIt(t *testing.T) {
	lock := opener(t)()
	me, err := process.Open(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	defer me.Close()
	holds := func(p *process.Process) bool {
		t.Helper()
		ok, err := lock.HeldBy(p)
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	if holds(me) {
		t.Error("a free lock is held")
	}
	for take, want := range map[string]bool{"Try": true, "TryShared": false} {
		ok, err := map[string]func() (bool, error){"Try": lock.Try, "TryShared": lock.TryShared}[take]()
		if !ok || err != nil {
			t.Fatal(err)
		}
		if holds(me) != want || lock.Holder() != os.Getpid() {
			t.Errorf("after %s: holds %v, and the holder is %d", take, holds(me), lock.Holder())
		}
		lock.Release()
	}
	if ok, err := lock.Try(); !ok || err != nil {
		t.Fatal(err)
	}
	// A child that inherited the descriptor carries the lock, and is not the
	// process that took it.
	child := exec.Command("sleep", "600")
	child.ExtraFiles = []*os.File{lock.File()}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { child.Process.Kill(); child.Wait() }()
	inheritor, err := process.Open(child.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	defer inheritor.Close()
	if holds(inheritor) || !holds(me) {
		t.Error("an inheritor counts as the holder")
	}
	if got := lock.Inheritors(); len(got) != 2 {
		t.Errorf("carried by %v, want %d and %d", got, os.Getpid(), child.Process.Pid)
	}
}

// The name that the kernel has for a lock is asked for in the same way, and says
// nothing of the waiters.
func TestAWaiterIsNoHolder(t *testing.T) {
	open := opener(t)
	l, other := open(), open()
	SetWaiting(l.fd, true)
	if pid := other.Holder(); pid != 0 {
		t.Errorf("process %d is said to hold a lock that a process waits for", pid)
	}
	if name, err := kernelName(int(other.file.Fd())); name == "" || err != nil {
		t.Errorf("%q (%v)", name, err)
	}
	if free, err := dir.Flock(int(other.file.Fd()), unix.LOCK_EX); !free || err != nil {
		t.Errorf("free %v (%v)", free, err)
	}
}
