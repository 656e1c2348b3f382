package scratch

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// played makes the test binary a run of tests that starts processes and does not
// end.
const played = "SCRATCH_TEST_RUN"

func init() {
	if os.Getenv(played) == "" {
		return
	}
	Guard()
	sh := exec.Command("sh", "-c", "sleep 600 & echo $!; setsid sleep 600 & echo $!; echo $$; echo whole; kill -STOP $$")
	sh.Stdout = os.Stdout
	if err := sh.Start(); err != nil {
		panic(err)
	}
	time.Sleep(time.Hour)
}

// Whatever a run of tests has started ends with the run, also if the run is
// killed: a grandchild, a process in another session, a stopped process.
func TestWhatATestStartsEndsWithIt(t *testing.T) {
	run := exec.Command(os.Args[0])
	run.Env = []string{played + "=1", "PATH=" + os.Getenv("PATH")}
	out, err := run.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	defer run.Process.Kill()
	var started []int
	for lines := bufio.NewScanner(out); lines.Scan() && lines.Text() != "whole"; {
		var pid int
		if _, err := fmt.Sscan(lines.Text(), &pid); err != nil {
			t.Fatal(lines.Text())
		}
		started = append(started, pid)
	}
	if len(started) != 3 {
		t.Fatalf("the run has started %d", started)
	}
	run.Process.Kill()
	for end := time.Now().Add(time.Minute); len(started) > 0; time.Sleep(time.Millisecond) {
		if state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", started[0])); err != nil || strings.Contains(string(state), ") Z ") {
			started = started[1:]
		} else if time.Now().After(end) {
			for _, pid := range started {
				unix.Kill(pid, unix.SIGKILL)
			}
			t.Fatalf("the processes %d are there a minute after the run was killed", started)
		}
	}
}

func init() { Guard() } // after the other, which is a run of its own

func TestWhoeverNamesADirectoryGetsIt(t *testing.T) {
	t.Setenv(Variable, "/some/where")
	if got := Dir(Small); got != "/some/where" {
		t.Errorf("the directory is %q", got)
	}
	t.Setenv(Variable, "")
	t.Setenv("TMPDIR", "/on/the/disk")
	if Main(Small); os.TempDir() != "/on/the/disk" {
		t.Errorf("told to use no memory, tests write to %s", os.TempDir())
	}
}

func TestADirectoryThatDoesNotDoIsNotUsed(t *testing.T) {
	if fit(usual, Use{Room: 1 << 60}) {
		t.Error("there is room for an exabyte")
	}
	if fit("/proc", Use{}) || fit("/nowhere", Use{}) {
		t.Error("what is no directory in memory is used as one")
	}
}
