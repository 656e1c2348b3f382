package sidecar

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
)

func init() {
	roles["adds"] = roleAdds
	roles["idle"] = roleIdle
}

// roleAdds opens owner and adds 1 to field n times; it prints the outcome of
// each and the longest that one took, in milliseconds.
func roleAdds(args []string) error {
	n, err := strconv.Atoi(args[3])
	if err != nil {
		return err
	}
	w, err := Open(context.Background(), args[0], setters(), args[1], nil)
	if err != nil {
		return err
	}
	var longest time.Duration
	for range n {
		start := time.Now()
		c, err := w.Update(context.Background(), ops(op(args[2], schema.VerbAdd, "1")))
		longest = max(longest, time.Since(start))
		if err != nil {
			return err
		}
		fmt.Println(c.Outcome)
	}
	fmt.Println("longest", longest.Milliseconds())
	return w.Close()
}

// roleIdle opens an owner, says so, and holds no lock.
func roleIdle(args []string) error {
	w, err := Open(context.Background(), args[0], nil, args[1], nil)
	if err != nil {
		return err
	}
	fmt.Println("held")
	os.Stdin.Read(make([]byte, 1))
	return w.Close()
}

// stop stops a process and waits until it is.
func stop(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", cmd.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		if after := stat[bytes.LastIndexByte(stat, ')')+1:]; bytes.HasPrefix(after, []byte(" T")) {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// A holder that is stopped inside the lock for the whole test makes nobody else
// wait for longer than the owner's wait and loses nobody's count.
func TestStoppedHolderStopsNobody(t *testing.T) {
	dir, w := newSetters(t)
	holder, release := holdLock(t, dir, "tool")
	stop(t, holder)
	const processes, each = 6, 10
	var wg sync.WaitGroup
	for range processes {
		wg.Go(func() {
			out, err := roleProcess(t, "adds", dir, "tool", "n", fmt.Sprint(each)).Output()
			if err != nil {
				t.Error(err)
			}
			if got := strings.Count(string(out), "deferred\n"); got != each {
				t.Errorf("of %d, %d were deferred:\n%s", each, got, out)
			}
		})
	}
	wg.Wait()
	if names := pendingNames(t, w); len(names) != processes*each {
		t.Errorf("%d pending patches, want %d", len(names), processes*each)
	}
	if err := holder.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	release()
	if got := values(t, w, "n")["n"]; got != fmt.Sprint(processes*each) {
		t.Errorf("n is %s, want %d", got, processes*each)
	}
}

// lockFates are what may become of the lock or of who holds it, and what a call
// gets then, in time, from an owner that fails and from one that defers.
var lockFates = map[string]struct {
	spoil         func(t *testing.T, lock string, holder *exec.Cmd) error
	idle          bool // the other process holds no lock
	fail, pending error
	outcome       Outcome // of the owner that defers
}{
	"stopped inside": {func(t *testing.T, _ string, h *exec.Cmd) error { stop(t, h); return nil }, false, ErrBusy, nil, Deferred},
	"stopped outside": {func(t *testing.T, _ string, h *exec.Cmd) error {
		stop(t, h)
		return nil
	}, true, nil, nil, Applied},
	"killed": {func(_ *testing.T, _ string, h *exec.Cmd) error {
		err := h.Process.Kill()
		h.Wait()
		return err
	}, false, nil, nil, Applied},
	"unlinked": {func(_ *testing.T, lock string, _ *exec.Cmd) error { return os.Remove(lock) }, true, store.Lost, store.Lost, NotApplied},
	"replaced": {func(_ *testing.T, lock string, _ *exec.Cmd) error {
		return replaceBy(lock, os.WriteFile(lock+"2", nil, 0o600))
	}, true, store.Lost, store.Lost, NotApplied},
	"a second name": {func(_ *testing.T, lock string, _ *exec.Cmd) error { return os.Link(lock, lock+"2") }, true, store.Lost, store.Lost, NotApplied},
	"a directory":   {func(_ *testing.T, lock string, _ *exec.Cmd) error { return replaceBy(lock, os.Mkdir(lock+"2", 0o700)) }, true, store.Lost, store.Lost, NotApplied},
	"a pipe": {func(_ *testing.T, lock string, _ *exec.Cmd) error {
		return replaceBy(lock, unix.Mkfifo(lock+"2", 0o600))
	}, true, store.Lost, store.Lost, NotApplied},
	"a link": {func(_ *testing.T, lock string, _ *exec.Cmd) error {
		return replaceBy(lock, os.Symlink(filepath.Base(lock)+"1", lock+"2"))
	}, true, store.Lost, store.Lost, NotApplied},
	"unlinked, held": {func(_ *testing.T, lock string, _ *exec.Cmd) error { return os.Remove(lock) }, false, ErrBusy, nil, Deferred},
}

// replaceBy puts what stands at lock+"2" in the place of lock.
func replaceBy(lock string, err error) error {
	return errors.Join(err, os.Rename(lock, lock+"1"), os.Rename(lock+"2", lock))
}

// Whatever another process or hand does: no call waits for longer than its
// owner's wait, nobody goes on without the lock, and nobody breaks it.
func TestNoCallWaitsLonger(t *testing.T) {
	for name, fate := range lockFates {
		for _, owner := range []string{"maker", "tool"} {
			t.Run(name+"/"+owner, func(t *testing.T) {
				t.Parallel()
				dir, _ := newSetters(t)
				w := openSetter(t, dir, owner, nil)
				role := "hold"
				if fate.idle {
					role = "idle"
				}
				holder, release := holdAs(t, role, dir, owner)
				if err := fate.spoil(t, filepath.Join(dir, ".freehold", owner+".lock"), holder); err != nil {
					t.Fatal(err)
				}
				want, change := fate.fail, Op{Field: "skills", Verb: schema.VerbInsert, Key: "k"}
				if owner == "tool" {
					want, change = fate.pending, op("n", schema.VerbAdd, "1")
				}
				start := time.Now()
				c, err := w.Update(t.Context(), ops(change))
				if took := time.Since(start); took > 10*time.Second {
					t.Errorf("it took %v", took)
				}
				switch {
				case !errors.Is(err, want):
					t.Errorf("got %v, want %v", err, want)
				case owner == "tool" && c.Outcome != fate.outcome:
					t.Errorf("the outcome is %v, want %v", c.Outcome, fate.outcome)
				case err != nil && !same(c, Commit{}):
					t.Errorf("the commit is %+v (%v)", c, err)
				}
				if _, err := os.Stat(sidecarPath(dir, owner)); (err == nil) != (c.Outcome == Applied) {
					t.Errorf("after %v the sidecar is there: %v", c.Outcome, err == nil)
				}
				holder.Process.Signal(syscall.SIGCONT)
				release()
			})
		}
	}
}

// holdAs starts a process of a role that says "held".
func holdAs(t *testing.T, role, dir, owner string) (cmd *exec.Cmd, release func()) {
	t.Helper()
	cmd = roleProcess(t, role, dir, owner)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("it said %q (%v)", line, err)
	}
	return cmd, sync.OnceFunc(func() { in.Close(); cmd.Wait() })
}

// A process that another one's commit keeps waiting defers; neither is lost.
func TestUpdatesThatOverlapLoseNothing(t *testing.T) {
	dir, w := newSetters(t)
	update(t, w, func(tx *Tx) error {
		tx.Apply(op("n", schema.VerbAdd, "1"))
		if out, err := roleProcess(t, "set", dir, "tool", "n").Output(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return nil
	})
	if got := values(t, w, "n")["n"]; got != "1001" {
		t.Errorf("n is %s of 1001", got)
	}
}

// A patch whose file was left over is folded once: the sidecar lists its id.
func TestLeftOverPatchIsFoldedOnce(t *testing.T) {
	_, w := newSetters(t)
	threePending(t, w)
	leaveOver(t, w)
	update(t, w, ops())
	if got := values(t, w, "n")["n"]; got != "111" {
		t.Errorf("n is %s, of 111", got)
	}
}
