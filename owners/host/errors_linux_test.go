package host_test

import (
	"errors"
	"flag"
	"os/exec"
	"testing"

	"github.com/freehold-dev/freehold/owners/host/hosttest"
	"github.com/freehold-dev/freehold/schema/errorstest"
)

// said holds the output of the programs.
var said = errorstest.Golden{
	Update:  flag.Bool("update", false, "write the golden files anew"),
	Folders: []string{"host/cmd/retire", "host/cmd/hostd"},
	Wraps:   []string{"../../sidecar", "../../sidecar/retire"},
	Untold: map[string]string{
		"no heartbeat, trying again in %v: %w": "needs a disk that fails while the host lives; it is tried again by itself",
		"%w: the host was gone: nothing to do": "TestHostThatDoesNotAnswer kills a host",
	},
}

// TestErrorsSayWhatToDo provokes the errors of the programs.
func TestErrorsSayWhatToDo(t *testing.T) {
	dir := hosttest.State(t)
	bin := programs(t)
	text, _ := exec.Command(bin+"/hostd", "-dir", dir, "-beat", "0s").CombinedOutput()
	said.Same(t, "hostd: no beat", errors.New(string(text)))
	out, status := ended(t, bin, dir)
	if status != 9 {
		t.Errorf("with nobody to retire the status is %d, want 9", status)
	}
	said.Same(t, "retire: nobody is the host", errors.New(out), dir, "STATE")
}

// TestErrorsAreAllTold fails for an error that no test of the state provokes.
func TestErrorsAreAllTold(t *testing.T) { said.Complete(t) }
