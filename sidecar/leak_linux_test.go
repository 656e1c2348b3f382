package sidecar

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/schema"
)

func init() { roles["forks"] = roleForks }

// roleForks does what a program does that lives long and starts many hooks: it
// starts a process, opens an owner, commits, claims, gets no lock, defers,
// and closes, again and again. It prints what it has open and how much memory it
// uses after some rounds and after all.
func roleForks(args []string) error {
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	for round := range n {
		if round == n/4 {
			fmt.Println(held())
		}
		if err := fork(args[0], round); err != nil {
			return err
		}
	}
	fmt.Println(held())
	return nil
}

func fork(dir string, round int) (err error) {
	ctx := context.Background()
	hook, err1 := Open(ctx, dir, nil, "hook", nil)
	tool, err2 := Open(ctx, dir, nil, "tool", &Options{Wait: -1})
	other, err3 := Open(ctx, dir, nil, "tool", nil)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, hook.Close(), tool.Close(), other.Close()) }()
	if err := exec.Command("true").Run(); err != nil {
		return err
	}
	if _, _, err := hook.Claim(ctx, "fired"); err != nil {
		return err
	}
	if _, err := hook.Update(ctx, ops(op("id", schema.VerbSet, strconv.Quote(fmt.Sprint(round))))); err != nil {
		return err
	}
	add := ops(op("n", schema.VerbAdd, "1"))
	if err := other.lock.Acquire(ctx, 0); err != nil {
		return err
	}
	if c, err := tool.Update(ctx, add); err != nil || c.Outcome != Deferred {
		return fmt.Errorf("%v: %w", c.Outcome, err)
	}
	if err := other.lock.Release(); err != nil {
		return err
	}
	_, err = tool.Update(ctx, add)
	return err
}

// held returns how many descriptors and goroutines the process has, and how many
// KiB of memory are in use.
func held() string {
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		panic(err)
	}
	runtime.GC()
	runtime.GC() // what the first one finalizes
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return fmt.Sprint(len(open), runtime.NumGoroutine(), m.HeapAlloc/1024)
}

// Row FE22: a program that opens owners and starts processes as long as it lives
// holds no more of anything after a hundred rounds than after some.
func TestNothingIsLeftOfManyRounds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	d := crowd()
	for name, o := range d.Owners {
		o.Durability = schema.Process // nothing here is about the disk
		d.Owners[name] = o
	}
	if err := Create(dir, d); err != nil {
		t.Fatal(err)
	}
	const rounds = 120
	out, err := roleProcess(t, "forks", dir, fmt.Sprint(rounds)).Output()
	if err != nil {
		t.Fatal(err)
	}
	var fds, goroutines, memory [2]int
	lines := strings.Split(string(out), "\n")
	for i := range 2 {
		if _, err := fmt.Sscan(lines[i], &fds[i], &goroutines[i], &memory[i]); err != nil {
			t.Fatalf("it says %q: %v", out, err)
		}
	}
	if fds[1] > fds[0] || goroutines[1] > goroutines[0] || memory[1] > memory[0]+256 {
		t.Errorf("descriptors, goroutines, KiB: %s after a quarter, %s after all", lines[0], lines[1])
	}
	w, err := Open(t.Context(), dir, nil, "tool", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if got := values(t, w, "n")["n"]; got != fmt.Sprint(2*rounds) {
		t.Errorf("n is %s, want %d", got, 2*rounds)
	}
}
