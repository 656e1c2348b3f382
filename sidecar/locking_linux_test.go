package sidecar

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/store"
)

func init() { roles["late"] = roleLate }

// roleLate adds 1 to cost's turns, waits for the lock as long as it is told to,
// and prints what came of it.
func roleLate(args []string) error {
	wait, err := time.ParseDuration(args[1])
	if err != nil {
		return err
	}
	w, err := Open(context.Background(), args[0], declaration(), "cost", &Options{Wait: wait})
	if err != nil {
		return err
	}
	defer w.Close()
	_, err = w.Update(context.Background(), addTurns(1))
	fmt.Println(err)
	return nil
}

func stracePath(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("needs strace")
	}
	return path
}

// traced returns the system calls of one commit that are about files and locks,
// with the paths of descriptors.
func traced(t *testing.T, dir string) []string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "trace")
	cmd := exec.Command(stracePath(t), "-f", "-y", "-qq", "-e", "trace=flock,fcntl,openat,openat2", "-o", out, os.Args[0], dir, "1")
	cmd.Env = append(os.Environ(), roleVar+"=add")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return strings.Split(readFile(t, out), "\n")
}

// Cases 33 and 115: what a commit builds on is read after the lock was taken,
// never before; and the lock is on a file of its own, not on the one that the
// commit replaces.
func TestCommitReadsUnderALockOnAFileOfItsOwn(t *testing.T) {
	dir := newState(t)
	update(t, openOwner(t, dir, "cost", nil), addTurns(1))
	locked := regexp.MustCompile(`flock\(\d+<[^>]*/\.freehold/cost\.lock>, LOCK_EX\|LOCK_NB\) += 0`)
	read := regexp.MustCompile(`openat2?\(.*"(cost\.json|[^"]*/cost\.json)".* = \d+<`)
	onData := regexp.MustCompile(`(flock|fcntl)\(\d+<[^>]*cost\.json[^>]*>, (LOCK_|F_OFD_|F_SETLK)`)
	has, reads := false, 0
	for _, call := range traced(t, dir) {
		switch {
		case onData.MatchString(call):
			t.Errorf("a lock on the data: %s", call)
		case locked.MatchString(call):
			has = true
		case read.MatchString(call):
			if reads++; !has {
				t.Errorf("read before the lock: %s", call)
			}
		}
	}
	if !has || reads == 0 {
		t.Errorf("locked: %v; %d times read: the trace shows nothing", has, reads)
	}
}

// Case 115: who keeps the sidecar open, and even locks it, is in nobody's way
// and lets nobody in.
func TestALockOnTheSidecarIsNone(t *testing.T) {
	dir := newState(t)
	update(t, openOwner(t, dir, "cost", nil), addTurns(1))
	f, err := os.Open(sidecarPath(dir, "cost"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	before, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	addTogether(t, dir, 3, 20)
	if got := stored(t, dir, "turns"); got != "61" {
		t.Errorf("turns is %s, want 61", got)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if after, err := io.ReadAll(f); err != nil || string(after) != string(before) {
		t.Errorf("the file that was open has changed (%v)", err)
	}
}

// Case 117: a child that a program starts, in the middle of an Update too,
// inherits no lock, nor anything else of the state.
func TestAChildInheritsNothingOfTheState(t *testing.T) {
	dir := newState(t)
	boss, cost := openOwner(t, dir, "watchdog", nil), openOwner(t, dir, "cost", nil)
	for _, w := range []*Writer{boss, cost} {
		update(t, w, func(*Tx) error {
			out, err := exec.Command("ls", "-l", "/proc/self/fd").Output()
			if err != nil || strings.Contains(string(out), dir) {
				t.Errorf("a child has (%v):\n%s", err, out)
			}
			return nil
		})
	}
}

// Case 119: to open, read and close a lock file, to ask who has the lease, and
// to have a second handle loses nobody the lock that this process has.
func TestLookingAtALockLosesNone(t *testing.T) {
	dir := newState(t)
	boss := mustOpen(t, dir)
	w, second := openOwner(t, dir, "cost", nil), openOwner(t, dir, "cost", &Options{Wait: -1})
	update(t, w, func(tx *Tx) error {
		for _, lock := range []string{"cost.lock", "watchdog.lease", "watchdog.lock"} {
			if _, err := os.ReadFile(metaPath(dir, lock)); err != nil {
				t.Error(err)
			}
		}
		if _, err := LeaseStatus(dir, "watchdog"); err != nil {
			t.Error(err)
		}
		_, err := second.Update(t.Context(), addTurns(1)) // in the same process
		wantError(t, err, ErrBusy, "this process")
		out, err := roleProcess(t, "late", dir, "1ns").Output() // and in another
		if err != nil || !strings.Contains(string(out), ErrBusy.Error()) {
			t.Errorf("another process said %q (%v)", out, err)
		}
		return addTurns(1)(tx)
	})
	if said := newActor(t, dir).Ask("open"); !strings.HasPrefix(said, "busy") {
		t.Errorf("of the lease, another process said %q", said)
	}
	update(t, boss, beat)
	if got := stored(t, dir, "turns"); got != "1" {
		t.Errorf("turns is %s, want 1", got)
	}
}

// Cases 32 and 121: a lock that is not to be had ends the wait with an error
// that names who has it, changes nothing, and is not waited for by trying
// without a pause.
func TestAWaitForALockIsNoSpin(t *testing.T) {
	dir := newState(t)
	update(t, openOwner(t, dir, "cost", nil), addTurns(1))
	before := readFile(t, sidecarPath(dir, "cost"))
	holder := exec.Command("flock", metaPath(dir, "cost.lock"), "sh", "-c", "echo held; exec sleep 600")
	holder.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // flock and what it runs
	out, err := holder.StdoutPipe()
	if err == nil {
		err = holder.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Wait()
	defer syscall.Kill(-holder.Process.Pid, syscall.SIGKILL)
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("flock said %q (%v)", line, err)
	}
	const wait = time.Second
	late := func(wait time.Duration) (said []byte, took, busy time.Duration) {
		cmd := roleProcess(t, "late", dir, wait.String())
		start := time.Now()
		said, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return said, time.Since(start), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	_, _, usual := late(time.Nanosecond) // what it computes on this machine but for waiting
	said, took, busy := late(wait)
	if took < wait || took > wait+30*time.Second {
		t.Errorf("it took %v, want about %v", took, wait)
	}
	if busy-usual > wait/2 {
		t.Errorf("it computed for %v, of them %v while it waited for %v", busy, busy-usual, wait)
	}
	if !strings.Contains(string(said), ErrBusy.Error()) || !regexp.MustCompile(`process \d+ holds the lock`).Match(said) {
		t.Errorf("it said %q", said)
	}
	if after := readFile(t, sidecarPath(dir, "cost")); after != before {
		t.Error("the sidecar has changed")
	}
}

// Case 121 too, and row FE5: a lock file that is missing is not put back by
// whoever misses it.
func TestNobodyPutsALockFileBack(t *testing.T) {
	dir := newState(t)
	w := openOwner(t, dir, "cost", nil)
	Damaged(dir, "lock-lost")
	remove(t, metaPath(dir, statedir.OwnerLock("cost")))
	_, err := w.Update(t.Context(), addTurns(1))
	wantError(t, err, store.Lost, "state repair")
	_, err = Open(t.Context(), dir, declaration(), "cost", nil)
	wantError(t, err, store.Lost)
	if _, err := os.Lstat(metaPath(dir, statedir.OwnerLock("cost"))); err == nil {
		t.Error("somebody made it anew")
	}
}
