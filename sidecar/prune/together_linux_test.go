package prune

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/testkit/inject"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/role"
)

// rounds returns the number of instances that each process opens.
// FREEHOLD_PRUNE_ROUNDS sets it.
func rounds(t *testing.T) int {
	t.Helper()
	n, err := strconv.Atoi(cmp.Or(os.Getenv("FREEHOLD_PRUNE_ROUNDS"), "40"))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// together runs workers in dir, and beside them prunes, each killed after a random
// while, until the workers are done. It returns the commits of the workers.
func together(t *testing.T, dir, age string) map[string]int {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv("FREEHOLD_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("FREEHOLD_SEED=%d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	const workers = 4
	var wg sync.WaitGroup
	var mu sync.Mutex
	total := map[string]int{}
	for i := range workers {
		cmd := role.Process(t, "work", dir, fmt.Sprint("worker ", i), fmt.Sprint(rounds(t)))
		wg.Go(func() {
			out, err := cmd.Output()
			if err != nil {
				t.Errorf("worker %d: %v", i, err)
				return
			}
			done := map[string]int{}
			if err := json.NewDecoder(bytes.NewReader(out)).Decode(&done); err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			for id, n := range done {
				total[id] += n
			}
		})
	}
	over := make(chan struct{})
	go func() { wg.Wait(); close(over) }()
	for {
		select {
		case <-over:
			return total
		default:
		}
		pruneAndKill(t, dir, age, time.Duration(random.IntN(30))*time.Millisecond)
	}
}

// pruneAndKill starts a prune and kills the process after a while.
func pruneAndKill(t *testing.T, dir, age string, after time.Duration) {
	t.Helper()
	cmd := role.Process(t, "prune", dir, age)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(after, func() { cmd.Process.Kill() })
	defer timer.Stop()
	err := cmd.Wait()
	if exit, ok := err.(*exec.ExitError); ok && exit.ExitCode() == -1 {
		return // killed
	}
	if err != nil {
		t.Errorf("prune: %v", err)
	}
}

// Beside a prune that takes whatever ended, and is killed again and again, a
// process that has an instance open loses nothing in it; case 126.
func TestNothingIsTakenFromUnderAWriter(t *testing.T) {
	t.Parallel()
	dir := newInstances(t)
	together(t, dir, "1ns")
	run(t, dir, &Options{OlderThan: 1})
	onlyWhole(t, dir)
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v is left (%v), want .freehold alone", entries, err)
	}
}

// Beside a prune of old instances, no acknowledged commit is lost.
func TestAYoungInstanceLosesNothing(t *testing.T) {
	t.Parallel()
	dir := newInstances(t)
	for id, want := range together(t, dir, "1h") {
		if n := turns(t, dir, id); n != uint64(want) {
			t.Errorf("%s has %d turns, and %d were acknowledged", id, n, want)
		}
	}
	run(t, dir, nil)
	onlyWhole(t, dir)
}

// Killed at any of its system calls, a prune has removed an instance or left it
// as it was, and the next one finishes.
func TestAKilledPruneIsFinishedByTheNext(t *testing.T) {
	t.Parallel()
	if err := inject.Available(); err != nil {
		t.Skipf("system calls cannot be intercepted: %v", err)
	}
	plan := inject.Plan{Action: inject.KillBefore, Marked: true}.AtChanges()
	var dir string
	for _, r := range inject.EveryCall(t, func(k int) (inject.Command, inject.Plan) {
		dir = newInstances(t, "old", "young")
		restamp(t, dir, "old", time.Now().Add(-9*day))
		for _, litter := range []string{".freehold-gone-0123456789abc/.freehold", ".freehold-new-0123456789abc"} {
			if err := os.MkdirAll(filepath.Join(dir, litter), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "young", ".hook.json700000000000000"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		return inject.Command{Path: os.Args[0], Args: []string{dir, "48h"}, Env: role.Env("prune")},
			plan
	}) {
		if exists(t, dir, "old") {
			if err := work(dir, "old", "after the kill"); err != nil {
				t.Errorf("it is there and cannot be used: %v", err)
			}
			restamp(t, dir, "old", time.Now().Add(-9*day))
		}
		report := run(t, dir, &Options{OlderThan: 48 * time.Hour})
		if exists(t, dir, "old") || !exists(t, dir, "young") {
			t.Errorf("the next prune says %v", reasons(report))
		}
		onlyWhole(t, dir)
		if _, err := os.Lstat(filepath.Join(dir, "young", ".hook.json700000000000000")); err == nil {
			t.Error("litter is left in a live instance")
		}
		if t.Failed() {
			t.Fatalf("%v; stderr %q", r, r.Stderr)
		}
	}
}
