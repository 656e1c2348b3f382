package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
)

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

// atOnce runs work in n goroutines and, until they are done, beside over and
// over.
func atOnce(n int, work func(i int), beside func()) {
	var workers, other sync.WaitGroup
	done := make(chan struct{})
	other.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				beside()
			}
		}
	})
	for i := range n {
		workers.Go(func() { work(i) })
	}
	workers.Wait()
	close(done)
	other.Wait()
}

// Cases 13 and 122: no lock file is ever removed in the normal course of things, so
// that prune beside writers lets no two of them in at once: none of their
// increments is lost, and each is told another sum.
func TestPruneBesideWritersLosesNoIncrement(t *testing.T) {
	dir := freshState(t)
	const processes, each = 4, 6
	sums := make(chan string, processes*each)
	atOnce(processes, func(int) {
		for range each {
			got := runProgram("add", "cost", "n", "1", "--json", "--wait", "1m", "--dir", dir)
			_, sum, found := strings.Cut(got.Stdout, `"after":`)
			if got.Status != failure.ExitDone || !found {
				t.Errorf("%+v", got)
			}
			sums <- sum
		}
	}, func() {
		if got := runProgram("prune", "--dir", dir); got.Status != failure.ExitDone {
			t.Errorf("prune: %+v", got)
		}
	})
	close(sums)
	told := map[string]bool{}
	for sum := range sums {
		told[sum] = true
	}
	if got := must(t, "get", "n", "--dir", dir); got != fmt.Sprintf("%d\n", processes*each) || len(told) != processes*each {
		t.Errorf("n is %s after %d increments, and %d different sums were told", got, processes*each, len(told))
	}
	if got := must(t, "state", "repair", "--dir", dir); got != "nothing to repair\n" {
		t.Error(got)
	}
}

// Case 3: writers of long and short values of one owner share no temporary file:
// every read value is whole, the last value counts, and
// nothing is left.
func TestWritersOfLongAndShortValuesShareNoFile(t *testing.T) {
	dir := freshState(t)
	values := []string{strings.Repeat("x", 4<<10), "y"}
	atOnce(4, func(i int) {
		for n := range 8 {
			if got := runProgram("set", "reset", "name="+values[(i+n)%2], "--wait", "1m", "--dir", dir); got.Status != failure.ExitDone {
				t.Errorf("%+v", got)
			}
		}
	}, func() {
		got := call(t, "", "view", "--json", "--dir", dir)
		var view struct{ Fields struct{ Name string } }
		if err := json.Unmarshal([]byte(got.Stdout), &view); err != nil || got.Status != failure.ExitDone {
			t.Errorf("%v, status %d: %s", err, got.Status, got.Stderr)
		}
		if name := view.Fields.Name; name != "" && name != values[0] && name != values[1] {
			t.Errorf("the name is %.100q", name)
		}
	})
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != "reset.json" && e.Name() != ".freehold" {
			t.Errorf("%s is left", e.Name())
		}
	}
}
