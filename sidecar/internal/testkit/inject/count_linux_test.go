//go:build amd64 || arm64

package inject_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/testkit/inject"
	"github.com/google/go-cmp/cmp"
)

func TestCountIsTheSameInEveryRun(t *testing.T) {
	t.Parallel()
	command, file := target(t, "rename")
	var first []string
	for range 5 {
		var calls []string
		for _, call := range run(t, command, inject.Plan{Marked: true}).Calls {
			calls = append(calls, call.String())
		}
		if first == nil {
			first = calls
		}
		if diff := cmp.Diff(first, calls); diff != "" {
			t.Errorf("calls of two runs (-first +this):\n%s", diff)
		}
	}
	if want := "#15 renameat(state.json.tmp -> state.json)"; len(first) != 17 || first[14] != want {
		t.Errorf("calls %q, want 17 with %q", first, want)
	}
	call := run(t, command, inject.Plan{Marked: true, Calls: []string{"renameat"}}).Calls[0]
	if diff := cmp.Diff([]string{file + ".tmp", file}, call.Paths); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
}

func TestOneCounterForAllThreads(t *testing.T) {
	t.Parallel()
	command, file := target(t, "threads")
	plan := inject.Plan{Calls: []string{"mkdirat"}, Marked: true, At: 38, Action: inject.Fail, Errno: syscall.EIO, Persistent: true}
	result := run(t, command, plan)
	made, err := filepath.Glob(file + ".*.*")
	if err != nil {
		t.Fatal(err)
	}
	threads := make(map[int]bool)
	for i, call := range result.Calls {
		threads[call.PID] = true
		if call.N != i+1 {
			t.Errorf("call %d has number %d", i+1, call.N)
		}
	}
	if len(made) != 37 || len(result.Calls) != 80 || len(threads) != 8 {
		t.Errorf("%d directories, %d calls, %d threads; want 37, 80, 8", len(made), len(result.Calls), len(threads))
	}
}

func TestSignalsDoNotRepeatCounts(t *testing.T) {
	t.Parallel()
	command, _ := target(t, "signals")
	long := inject.Plan{Calls: []string{"mkdirat"}, Marked: true, At: 1, Action: inject.Delay, Delay: 2 * time.Millisecond, Persistent: true}
	if n := len(run(t, command, long).Calls); n != 10 {
		t.Errorf("%d calls counted, want 10", n)
	}
}

func TestRuntimeWakingItselfIsNotCounted(t *testing.T) {
	t.Parallel()
	command, _ := target(t, "timers")
	if calls := run(t, command, inject.Plan{Calls: []string{"write"}, Marked: true}).Calls; len(calls) > 0 {
		t.Errorf("counted %v, want nothing", calls)
	}
}

func TestChildrenAreCounted(t *testing.T) {
	t.Parallel()
	command, file := target(t, "child")
	ofChild := func(c inject.Call) bool { return c.Paths[0] == file+".child" && strings.HasPrefix(c.Name, "open") }
	result := run(t, command, inject.Plan{Marked: true, Only: ofChild, At: 1, Action: inject.KillBefore})
	if _, err := os.Stat(file + ".child"); result.Hit == nil || !result.Killed || !os.IsNotExist(err) {
		t.Errorf("%v: killed: %v, stat: %v", result, result.Killed, err)
	}
}

func TestAnyProgramIsCountedFromItsStartWithoutMarks(t *testing.T) {
	t.Parallel()
	_, file := target(t, "")
	command := inject.Command{Path: "cat", Dir: filepath.Dir(file), Args: []string{filepath.Base(file), "-"}, Stdin: strings.NewReader("in")}
	result := run(t, command, inject.Plan{})
	if got := string(result.Stdout); got != oldText+"in" || !result.State.Success() {
		t.Errorf("%v, stdout %q, stderr %q", result.State, got, result.Stderr)
	}
	opened := slices.ContainsFunc(result.Calls, func(c inject.Call) bool { return c.Name == "openat" && c.Paths[0] == "state.json" })
	if !opened || result.Calls[0].N != 1 {
		t.Errorf("no open of state.json in %v", result.Calls)
	}
}
