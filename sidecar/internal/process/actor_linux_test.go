package process

import (
	"errors"
	"os"
	"os/exec"
	"testing"

	"github.com/freehold-dev/freehold/sidecar/internal/status"
)

// A command acts for its parent or for another ancestor, which is pinned, and for
// no other process.
func TestAnActorIsAnAncestor(t *testing.T) {
	for _, pid := range []int{Parent, os.Getppid()} {
		id, err := Actor(pid)
		if err != nil || id.PID != os.Getppid() || id.Nonce == "" {
			t.Fatalf("for %d: %+v (%v)", pid, id, err)
		}
		if verdict, why := id.Judge(); verdict != Alive {
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
		if id, err := Actor(pid); !errors.Is(err, status.NoAncestor) {
			t.Errorf("%s: %+v, %v", name, id, err)
		}
	}
}
