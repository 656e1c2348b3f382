package process

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/freehold-dev/freehold/sidecar/internal/status"
)

// A command acts for its parent or for another ancestor, which is pinned, and for
// no other process.
func TestAnActorIsAnAncestor(t *testing.T) {
	for _, pid := range []int{Parent, os.Getppid(), 1} {
		id, err := Actor(pid)
		if err != nil || pid > 1 && id.PID != pid || id.Nonce == "" || id.PIDNamespace != Self().PIDNamespace || id.Start == 0 {
			t.Fatalf("for %d: %+v (%v)", pid, id, err)
		}
		if verdict, why := id.Judge(); verdict != Alive && OwnProc() {
			t.Errorf("the parent is %v: %s", verdict, why)
		}
	}
	child := exec.Command("sleep", "60")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer child.Wait()
	defer child.Process.Kill()
	for name, pid := range map[string]int{"oneself": os.Getpid(), "a child": child.Process.Pid, "none": 1 << 30, "zero": 0, "a group": -5} {
		if id, err := Actor(pid); !errors.Is(err, status.NoAncestor) || errors.Is(err, status.Gone) {
			t.Errorf("%s: %+v, %v", name, id, err)
		}
	}
}

// The /proc of another PID namespace names other processes by the same numbers, and
// yet the parents are known.
func TestAnActorIsKnownByTheProcOfAnotherNamespace(t *testing.T) {
	const shells = `sh -c '"$0" -test.run=^TestAnActorIsAnAncestor$ -test.v; exit $?' "$0"; exit $?`
	cmd := exec.Command("sh", "-c", shells, os.Args[0])
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID, Pdeathsig: syscall.SIGKILL}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) {
		t.Skip("no right to make a PID namespace")
	}
	if err != nil || !bytes.Contains(out, []byte("--- PASS: TestAnActor")) {
		t.Errorf("%v: %s", err, out)
	}
}

// A parent that another user runs is refused, as is one that has ended, and process
// 1 is allowed by its number.
func TestAnActorIsThisUsers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can become another user")
	}
	errs := make(chan error, 2)
	asStranger(func() {
		_, err := Actor(os.Getppid())
		errs <- err
		_, err = Actor(1)
		errs <- err
	})
	if err := <-errs; !errors.Is(err, status.NoAncestor) {
		t.Errorf("another user's parent: %v", err)
	}
	if err := <-errs; err != nil {
		t.Errorf("process 1: %v", err)
	}
}
