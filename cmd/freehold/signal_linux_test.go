package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
)

// Row FA13: a command that is asked to end, at a random moment, says with its
// exit status the truth: with 0 its increment is there, with any other it is not.
// Before it listens, the signal ends it, and it has done nothing.
func TestACommandThatIsAskedToEndDoesAllOrNothing(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("FREEHOLD_SEED"); text != "" {
		if _, err := fmt.Sscan(text, &seed); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("FREEHOLD_SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	dir := freshState(t)
	start := time.Now()
	must(t, "add", "cost", "n", "0", "--dir", dir)
	if got := runProgram("add", "cost", "n", "0", "--dir", dir); got.Status != failure.ExitDone {
		t.Fatal(got)
	}
	usual := time.Since(start)
	done, statuses := 0, map[int]int{}
	for range 40 {
		var stderr strings.Builder
		cmd := exec.Command("freehold", "add", "cost", "n", "1", "--dir", dir)
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rng.Int64N(int64(usual))))
		cmd.Process.Signal([]os.Signal{syscall.SIGTERM, os.Interrupt}[rng.IntN(2)])
		cmd.Wait()
		status := cmd.ProcessState.ExitCode()
		statuses[status]++
		switch status {
		case failure.ExitDone:
			done++
		case -1, failure.ExitBusy, failure.ExitIO: // -1: by the signal itself
		default:
			t.Errorf("status %d: %s", status, &stderr)
		}
	}
	t.Logf("of each status: %v", statuses)
	if got := must(t, "get", "n", "--dir", dir); got != fmt.Sprintln(done) {
		t.Errorf("n is %s, and %d were acknowledged", strings.TrimSpace(got), done)
	}
}
