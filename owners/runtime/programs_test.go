package runtime_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/owners/runtime"
	"github.com/freehold-dev/freehold/owners/runtime/runtimetest"
	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/freehold-dev/freehold/sidecar/scratch"
)

func init() { scratch.Guard() }

// programs builds the state's programs once and returns their directory.
func programs(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-w", "-o", bin+"/", "./reset/cmd/precompact", "./reset/cmd/sessionstart", "./cost/cmd/turnstart", "./cost/cmd/stop", "./watchdog/cmd/tick")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// run runs a program with a file as its standard input.
func run(t *testing.T, dir, stdin, program string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "FREEHOLD_DIR=")
	if stdin != "" {
		in, err := os.Open(filepath.Join("testdata", stdin))
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		cmd.Stdin = in
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

func TestProgramsDoTheirPartOnRealInput(t *testing.T) {
	bin := programs(t)
	dir := runtimetest.State(t)
	log, err := filepath.Abs("testdata/cost-log.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	tick := func(want string) {
		t.Helper()
		if out, errs, status := run(t, dir, "", bin+"/tick"); out != want+"\n" || errs != "" || status != 0 {
			t.Errorf("tick printed %q and %q and exited with %d, want %q", out, errs, status, want)
		}
	}
	hook := func(input, program string, args ...string) {
		t.Helper()
		if out, errs, status := run(t, dir, input, bin+"/"+program, args...); out+errs != "" || status != 0 {
			t.Errorf("%s printed %q and %q and exited with %d", program, out, errs, status)
		}
	}
	empty := filepath.Join(t.TempDir(), "log")
	tick("no-reset-stamp")
	before := time.Now()
	hook("hook-precompact.json", "precompact")
	tick("reset-under-way") // it may have taken place or not
	hook("hook-sessionstart-compact.json", "sessionstart")
	tick("no-entry")
	hook("hook-stop.json", "stop", "-log", log)
	tick("no-entry") // the rows were there before the turn that nobody saw start
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	hook("hook-userpromptsubmit.json", "turnstart", "-log", empty)
	if text, err := os.ReadFile(log); err != nil || os.WriteFile(empty, append(text, text...), 0o600) != nil {
		t.Fatal(err)
	}
	hook("hook-stop.json", "stop", "-log", empty)
	tick("below-threshold") // by the clocks of the log it is older than the reset
	hook("hook-precompact.json", "precompact")
	tick("reset-under-way")
	hook("hook-sessionstart-compact.json", "sessionstart")
	tick("stale-entry")

	r, err := runtime.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	v, err := r.View(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if at, err := v.LastContextResetAt().Get(); err != nil || at.Before(before) || at.After(time.Now()) {
		t.Errorf("stamped %v (%v), want between %v and now", at, err, before)
	}
	if by, ok := v.TotalUSD().Provenance(); !ok || by.Owner != "cost" || by.Program != "stop" {
		t.Errorf("the total's provenance is %+v", by)
	}
}

// A bad line costs its own row and nothing else, and does not stay unsaid.
func TestStopSaysWhatItSkipped(t *testing.T) {
	bin, dir := programs(t), runtimetest.State(t)
	log, err := os.ReadFile("testdata/cost-log.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, append([]byte(strings.Repeat("oops\n", 12)), log...), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs, status := run(t, dir, "hook-stop.json", bin+"/stop", "-log", path)
	if out != "" || status != 0 || !strings.HasPrefix(errs, "stop: skipped 12 lines: "+path+": the line at byte 0: ") {
		t.Errorf("stop printed %q and %q and exited with %d", out, errs, status)
	}
	if out, errs, status := run(t, dir, "hook-stop.json", bin+"/stop", "-log", path); out+errs != "" || status != 0 {
		t.Errorf("the second time stop printed %q and %q and exited with %d", out, errs, status)
	}
}

// A hook never stands in its agent's way.
func TestHooksExplainThemselvesAndExitWithZero(t *testing.T) {
	bin := programs(t)
	empty := t.TempDir()
	damaged := runtimetest.State(t, runtimetest.ContextCleared(true))
	statetest.Damaged(damaged, "sidecar-invalid")
	if err := os.Truncate(filepath.Join(damaged, "reset.json"), 5); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		dir, stdin string
		program    []string
		says       string
	}{
		"no state":          {empty, "hook-precompact.json", []string{"precompact"}, "not a state directory"},
		"no input":          {damaged, "", []string{"precompact"}, "standard input"},
		"another event":     {damaged, "hook-stop.json", []string{"precompact"}, `the event "Stop"`},
		"no log":            {runtimetest.State(t), "hook-stop.json", []string{"stop"}, "cost-log.jsonl"},
		"a damaged sidecar": {damaged, "hook-precompact.json", []string{"precompact"}, "remedy: mend the file; or quarantine reset"},
	} {
		t.Run(name, func(t *testing.T) {
			out, errs, status := run(t, tc.dir, tc.stdin, filepath.Join(bin, tc.program[0]), tc.program[1:]...)
			if out != "" || status != 0 || !strings.Contains(errs, tc.says) || !strings.HasPrefix(errs, tc.program[0]+": ") {
				t.Errorf("printed %q and %q and exited with %d, want 0 and %q", out, errs, status, tc.says)
			}
		})
	}
	if left, err := os.ReadDir(empty); err != nil || len(left) != 0 {
		t.Errorf("a hook made %v (%v) where there was no state", left, err)
	}
	if _, errs, status := run(t, empty, "hook-stop.json", bin+"/stop", "-nonsense"); status != 64 || errs == "" {
		t.Errorf("a wrong flag: status %d and %q, want 64", status, errs)
	}
	if _, errs, status := run(t, empty, "", bin+"/tick"); status != 1 || !strings.Contains(errs, "not a state directory") {
		t.Errorf("tick without a state: status %d and %q", status, errs)
	}
}
