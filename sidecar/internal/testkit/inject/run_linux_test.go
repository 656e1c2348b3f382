//go:build amd64 || arm64

package inject_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/testkit/inject"
)

func TestRunsThatProveNothingAreErrors(t *testing.T) {
	t.Parallel()
	sleep, file := target(t, "sleep")
	sleep.Timeout = 300 * time.Millisecond
	script := file + ".script"
	if err := os.WriteFile(script, []byte("not a program"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		command inject.Command
		plan    inject.Plan
		want    string
	}{
		"hangs":        {sleep, inject.Plan{Marked: true}, "deadline exceeded"},
		"never begins": {inject.Command{Path: "true"}, inject.Plan{Marked: true}, "without calling inject.Begin"},
		"missing":      {inject.Command{Path: "no-such-program"}, inject.Plan{}, "not found"},
		"no program":   {inject.Command{Path: script}, inject.Plan{}, "exec format error"},
		"unknown call": {sleep, inject.Plan{Calls: []string{"fsink"}}, `"fsink" is not in the table`},
	} {
		start := time.Now()
		_, err := inject.Run(t.Context(), c.command, c.plan)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
		if took := time.Since(start); took > 30*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
}

func TestNothingIsLeftBehind(t *testing.T) {
	count := func() (fds, goroutines int) {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries), runtime.NumGoroutine()
	}
	command, file := target(t, "rename")
	fds, goroutines := count()
	const script = `sleep 600 & echo $! >"$0"; while read name </proc/$!/comm && test $name != sleep; do :; done`
	lasting := inject.Command{Path: "sh", Args: []string{"-c", script, file + ".pid"}}
	for range 5 {
		run(t, command, inject.Plan{Marked: true, At: 3, Action: inject.KillBefore})
		run(t, command, inject.Plan{Marked: true, At: 3, Action: inject.Delay, Delay: time.Millisecond})
		run(t, lasting, inject.Plan{Calls: []string{"syncfs"}})
		inject.Run(t.Context(), inject.Command{Path: "true"}, inject.Plan{Marked: true})
	}
	for deadline := time.Now().Add(time.Minute); ; runtime.Gosched() { // a goroutine is counted until it is off its stack
		f, g := count()
		if f <= fds && g <= goroutines {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("descriptors %d, before %d; goroutines %d, before %d", f, fds, g, goroutines)
		}
	}
	if _, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); err != syscall.ECHILD {
		t.Errorf("wait4: %v, want no children", err)
	}
	var pid int
	fmt.Sscan(read(t, file+".pid"), &pid)
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && !strings.Contains(string(stat), ") Z ") {
		t.Errorf("the command's child still runs: %s", stat)
	}
}

func TestWorksWithoutPrivileges(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("all the other tests run without privileges already")
	}
	command, _ := target(t, "")
	dir, err := os.MkdirTemp("", "inject") // not t.TempDir: its parent is closed to other users
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	binary, err := os.ReadFile(command.Path)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "test")
	if err := errors.Join(os.WriteFile(name, binary, 0o700), os.Chmod(name, 0o755), os.Chmod(dir, 0o777)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), name, "-test.v", "-test.run=^TestKillsFindNothing|^TestTargetSees")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), "--- PASS") != 2 {
		t.Errorf("%v\n%s", err, out)
	}
}

func BenchmarkRun(b *testing.B) {
	command, _ := target(b, "rename")
	for b.Loop() {
		run(b, command, inject.Plan{Marked: true})
	}
}
