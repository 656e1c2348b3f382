package store

import (
	"os"
	"os/exec"
	"testing"

	"github.com/freehold-dev/freehold/sidecar/internal/process"
)

// sleeper starts a process that does nothing until the test ends.
func sleeper(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd
}

func TestHoldsIsTrueOfTheHolderAlone(t *testing.T) {
	d := newState(t)
	lock := openLock(t, d, OwnerLease("watchdog"))
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
	// A child that inherited the descriptor carries the lock, and is not who
	// took it.
	child := exec.Command("sleep", "600")
	child.ExtraFiles = []*os.File{lock.File()}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { child.Process.Kill(); child.Wait() }()
	heir, err := process.Open(child.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	defer heir.Close()
	if holds(heir) || !holds(me) {
		t.Error("an heir counts as the holder")
	}
	if got := lock.Carriers(); len(got) != 2 {
		t.Errorf("carried by %v, want %d and %d", got, os.Getpid(), child.Process.Pid)
	}
}
