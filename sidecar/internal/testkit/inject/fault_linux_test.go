//go:build amd64 || arm64

package inject_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/testkit/inject"
	"github.com/google/go-cmp/cmp"
)

// killAtEvery runs the writer with a kill at every call and returns the points where the file was neither old nor new.
func killAtEvery(t *testing.T, writer string, action inject.Action) (torn []string) {
	var file string
	prepare := func(int) (command inject.Command, plan inject.Plan) {
		command, file = target(t, writer)
		return command, inject.Plan{Marked: true, Action: action}
	}
	for k, result := range inject.EveryCall(t, prepare) {
		got := read(t, file)
		if got != oldText && got != newText {
			torn = append(torn, result.String())
		}
		if result.Killed != (result.Hit != nil) {
			t.Errorf("run %d: %v, killed: %v", k, result, result.Killed)
		}
		if result.Hit == nil && got != newText {
			t.Errorf("the run without a kill left %q", got)
		}
	}
	return torn
}

func TestKillsCatchAWriterThatTruncatesInPlace(t *testing.T) {
	t.Parallel()
	for action, last := range map[inject.Action]string{
		inject.KillBefore: "killed before #6 write(state.json)",
		inject.KillAfter:  "killed after #5 fcntl(state.json)",
	} {
		torn := killAtEvery(t, "truncate", action)
		if len(torn) == 0 || torn[len(torn)-1] != last {
			t.Errorf("torn when %q, want the last to be %q", torn, last)
		}
	}
}

func TestKillsFindNothingInAWriterThatRenames(t *testing.T) {
	t.Parallel()
	for _, action := range []inject.Action{inject.KillBefore, inject.KillAfter} {
		if torn := killAtEvery(t, "rename", action); len(torn) > 0 {
			t.Errorf("torn when %q", torn)
		}
	}
}

func TestKillBeforeDoesNotExecuteTheCallAndKillAfterDoes(t *testing.T) {
	t.Parallel()
	for action, want := range map[inject.Action]string{inject.KillBefore: oldText, inject.KillAfter: newText} {
		command, file := target(t, "rename")
		result := run(t, command, inject.Plan{Calls: []string{"renameat"}, Marked: true, At: 1, Action: action})
		if got := read(t, file); got != want || !result.Killed || result.State.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Errorf("%v: %v, file %q, want %q", result, result.State, got, want)
		}
	}
}

func TestTargetSeesTheErrnoAtEveryCall(t *testing.T) {
	t.Parallel()
	var file string
	prepare := func(int) (command inject.Command, plan inject.Plan) {
		command, file = target(t, "rename")
		notFcntl := func(c inject.Call) bool { return c.Name != "fcntl" } // os.OpenFile does not mind its failures
		return command, inject.Plan{Marked: true, Action: inject.Fail, Errno: syscall.EDQUOT, Only: notFcntl}
	}
	failures := make(map[string]bool)
	for _, result := range inject.EveryCall(t, prepare) {
		if got := read(t, file); got != oldText && got != newText {
			t.Errorf("%v: file %q", result, got)
		}
		if result.Hit != nil && result.State.ExitCode() == 3 && strings.Contains(string(result.Stdout), "quota exceeded") {
			failures[result.Hit.Name] = true
		}
	}
	want := map[string]bool{"openat": true, "write": true, "fsync": true, "close": true, "renameat": true}
	if diff := cmp.Diff(want, failures); diff != "" {
		t.Errorf("calls whose errno was reported (-want +got):\n%s", diff)
	}
}

func TestTransientFaultHitsOneCallAndPersistentAllFromThere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		persistent  bool
		calls, exit int
	}{{false, 2, 0}, {true, 3, 3}} {
		command, _ := target(t, "retry")
		plan := inject.Plan{Calls: []string{"mkdirat"}, Marked: true, At: 1, Action: inject.Fail, Errno: syscall.EIO, Persistent: c.persistent}
		result := run(t, command, plan)
		if len(result.Calls) != c.calls || result.State.ExitCode() != c.exit {
			t.Errorf("persistent %v: %v, calls %v, want %d and exit status %d", c.persistent, result.State, result.Calls, c.calls, c.exit)
		}
	}
}

func TestErrnoZeroClaimsSuccess(t *testing.T) {
	t.Parallel()
	command, file := target(t, "rename")
	result := run(t, command, inject.Plan{Calls: []string{"renameat"}, Marked: true, At: 1, Action: inject.Fail})
	if got := read(t, file); got != oldText || !result.State.Success() {
		t.Errorf("%v: %v, file %q, want success and the old text", result, result.State, got)
	}
}

func TestDelayHoldsTheCall(t *testing.T) {
	t.Parallel()
	const delay = 100 * time.Millisecond
	command, file := target(t, "rename")
	start := time.Now()
	result := run(t, command, inject.Plan{Calls: []string{"fsync"}, Marked: true, At: 1, Action: inject.Delay, Delay: delay, Persistent: true})
	if took := time.Since(start); took < 2*delay || read(t, file) != newText {
		t.Errorf("%v took %v, want both fsyncs held for %v", result, took, delay)
	}
}
