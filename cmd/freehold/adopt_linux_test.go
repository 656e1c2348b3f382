package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
)

// Case 90: a legacy file without permission to read is not an absent one. Root
// always has it, so this takes another user.
func TestAnUnreadableLegacyFileIsNotAbsent(t *testing.T) {
	program, dir := nobodysState(t)
	legacy := filepath.Join(filepath.Dir(dir), "runtime.json")
	if err := os.WriteFile(legacy, []byte(`{"f": 1}`), 0); err != nil {
		t.Fatal(err)
	}
	before := listing(t, dir)
	got := asNobody(t, program, "adopt", legacy, "--dir", dir)
	if want := "freehold: error: " + legacy + ": unreadable: open: permission denied\nfreehold: hint: make the file readable, or name another one\n"; got != (result{failure.ExitState, "", want}) {
		t.Errorf("got %+v", got)
	}
	if diff := cmp.Diff(before, listing(t, dir)); diff != "" {
		t.Errorf("the state was touched (-before +after):\n%s", diff)
	}
}

// A dry run is a read: it needs no permission to write, and touches nothing.
func TestADryRunTouchesNothing(t *testing.T) {
	program, dir := nobodysState(t)
	legacy := filepath.Join(filepath.Dir(dir), "runtime.json")
	if err := os.WriteFile(legacy, []byte(`{"f": 2, "name": "x"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	before := listing(t, dir)
	got := asNobody(t, program, "adopt", legacy, "--dir", dir, "--dry-run")
	want := result{
		failure.ExitIO, "reset would be refused now; once it is not, it would import\n  name: x\n  kept: f is 1, by freehold.test; the file has 2\n",
		"freehold: error: owner reset: would be refused: write in " + dir + ": permission denied\n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, listing(t, dir)); diff != "" {
		t.Errorf("the state was touched (-before +after):\n%s", diff)
	}
}

// Case 130: an adoption that failed has changed nothing, so that the next one
// makes up for it.
func TestAFailedAdoptionIsMadeUpFor(t *testing.T) {
	program, dir := nobodysState(t)
	legacy := filepath.Join(filepath.Dir(dir), "runtime.json")
	if err := os.WriteFile(legacy, []byte(`{"name": "x", "total_usd": 12.5}`), 0o644); err != nil {
		t.Fatal(err)
	}
	before := listing(t, dir)
	got := asNobody(t, program, "adopt", legacy, "--dir", dir)
	if got.Status != failure.ExitIO || got.Stdout != "cost not imported\nreset not imported\n" || !strings.Contains(got.Stderr, "owner cost: ") || !strings.Contains(got.Stderr, "owner reset: ") {
		t.Errorf("got %+v", got)
	}
	if diff := cmp.Diff(before, listing(t, dir)); diff != "" {
		t.Errorf("the state was touched (-before +after):\n%s", diff)
	}
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return os.Chmod(path, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := asNobody(t, program, "adopt", legacy, "--dir", dir); got.Status != failure.ExitDone || !strings.Contains(got.Stdout, "  name: x\n") || !strings.Contains(got.Stdout, "  total_usd: 12.5\n") {
		t.Errorf("got %+v", got)
	}
}

// Case 131: whoever adopts a file sees its values at once, also if another
// process was first.
func TestEveryoneWhoAdoptsSeesTheValues(t *testing.T) {
	dir := freshState(t)
	legacy := filepath.Join(t.TempDir(), "runtime.json")
	if err := os.WriteFile(legacy, []byte(`{"f": 7, "total_usd": 12.5, "restart_reason": "pane-frozen"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, step := range []struct {
				args []string
				want string // in stdout
			}{{[]string{"adopt", legacy, "--wait", "1m"}, "reset "}, {[]string{"get", "f"}, "7\n"}, {[]string{"get", "restart_reason"}, "pane-frozen\n"}} {
				got := runProgram(append(step.args, "--dir", dir)...)
				if got.Status != failure.ExitDone || !strings.Contains(got.Stdout, step.want) {
					t.Errorf("%q: %+v", step.args, got)
				}
			}
		})
	}
	wg.Wait()
	view := must(t, "view", "--dir", dir)
	// Each version stands by its field and by its owner.
	if by := must(t, "view", "--json", "--dir", dir); strings.Count(by, `"program":"adopt runtime.json"`) != 3 || strings.Count(view, ".1.") != 6 {
		t.Errorf("not three commits, one for each owner:\n%s", view)
	}
}

// runProgram runs the program as a process of its own.
func runProgram(args ...string) result {
	var stdout, stderr strings.Builder
	cmd := exec.Command("freehold", args...) // which TestMain puts into the path
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		return result{-1, "", err.Error()}
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// Case 136: of a legacy file that is rewritten in place all the time, a dry run
// reports all of it or says why not.
func TestALegacyFileRewrittenInPlaceIsWholeOrNamed(t *testing.T) {
	dir := freshState(t)
	legacy := filepath.Join(t.TempDir(), "runtime.json")
	text := fmt.Appendf(nil, `{"f": 7, "padding": "%s", "name": "last"}`, strings.Repeat("x", 200<<10))
	done := make(chan struct{})
	var writer sync.WaitGroup
	defer writer.Wait()
	defer close(done)
	if err := os.WriteFile(legacy, text, 0o600); err != nil {
		t.Fatal(err)
	}
	writer.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			if err := os.WriteFile(legacy, text, 0o600); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for range 4 {
		got := call(t, "", "adopt", legacy, "--dir", dir, "--dry-run")
		whole := got.Status == failure.ExitDone && strings.Contains(got.Stdout, "  f: 7\n  name: last\n")
		named := got.Status == failure.ExitBusy && got.Stdout == "" && strings.Contains(got.Stderr, "a legacy writer is active: the file keeps changing")
		if !whole && !named {
			t.Errorf("got %+v", got)
		}
	}
}
