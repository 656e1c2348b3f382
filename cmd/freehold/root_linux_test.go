package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
)

// Root may look at another user's state, as that user; to write there would lock
// the user out, and is refused.
func TestRootLooksAtAUsersState(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	dir := latchState(t)
	must(t, "claim", "hook", "a", "--dir", dir)
	program := commandFor(t, dir)
	giveAway(t, dir)
	for _, args := range [][]string{{"view"}, {"get", "a"}, {"explain", "a"}, {"doctor"}} {
		text, err := exec.Command(program, append(args, "--dir", dir)...).CombinedOutput()
		if strings.Contains(string(text), "unsafe") || err != nil && args[0] != "doctor" {
			t.Errorf("%q: %s (%v)", args, text, err)
		}
	}
	cmd := exec.Command(program, "claim", "hook", "b", "--dir", dir)
	if text, err := cmd.CombinedOutput(); err == nil || cmd.ProcessState.ExitCode() != failure.ExitState {
		t.Errorf("claim: %s (%v)", text, err)
	}
}
