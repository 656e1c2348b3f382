package sidecar

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/testkit/inject"
)

// aGroups is a start whose sidecar others may read, so that a commit gives the
// new file its mode.
var aGroups = start{"a group's sidecar", func(t *testing.T, dir string) int {
	turns := starts[2].make(t, dir)
	if err := os.Chmod(sidecarPath(dir, "cost"), 0o640); err != nil {
		t.Fatal(err)
	}
	return turns
}}

// Rows FB4, FB9 and FB11: errors that only one kind of call has, each at every
// call of that kind. None is taken for a lock, and none for a commit.
func TestOddErrorsHaveTheirOutcome(t *testing.T) {
	for call, errnos := range map[string][]syscall.Errno{
		"flock":    {syscall.ENOLCK, syscall.EBADF, syscall.EOPNOTSUPP},
		"renameat": {syscall.EPERM, syscall.EXDEV, syscall.ENOENT},
		"fchmod":   {syscall.EPERM},
		"close":    {syscall.EIO},
	} {
		for _, errno := range errnos {
			t.Run(fmt.Sprintf("%s/%v", call, errno), func(t *testing.T) {
				t.Parallel()
				hit := false
				plan := inject.Plan{Action: inject.Fail, Errno: errno, Calls: []string{call}}
				everyCall(t, aGroups, plan, func(dir string, before int, r inject.Result) {
					hit = hit || r.Hit != nil
					if r.Hit != nil && locks(*r.Hit) && len(r.Stdout) > 0 {
						t.Errorf("without the lock it is %s", r.Stdout)
					}
					if r.Hit != nil && call == "renameat" && len(r.Stdout) > 0 {
						t.Errorf("without its name it is %s", r.Stdout)
					}
					resolves(t, dir, before, r)
					recovers(t, dir, before, r)
				})
				if !hit {
					t.Errorf("no call of %s was hit: the test shows nothing", call)
				}
			})
		}
	}
}

// locks reports whether a call is to take a lock.
func locks(c inject.Call) bool { return c.Name == "flock" && c.Args[1] != syscall.LOCK_UN }

// Rows FB5 and FB6: a call that claims to have done what it has not done cannot
// be told from one that has. What it is said to have done may not be there; it is
// whole or as before, and the next commit works.
func TestALyingDiskTearsNothing(t *testing.T) {
	for _, call := range []string{"renameat", "fsync"} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			lied := 0
			everyCall(t, starts[2], inject.Plan{Action: inject.Fail, Calls: []string{call}}, func(dir string, before int, r inject.Result) {
				if r.Hit == nil {
					recovers(t, dir, before, r)
					return
				}
				lied++
				r.Stdout, r.Killed = nil, true // it may or may not be there
				unwitness(t, dir)              // which tells of a version that is not there
				recovers(t, dir, before, r)
			})
			if lied == 0 {
				t.Error("no call was hit: the test shows nothing")
			}
		})
	}
}

// A write that the kernel cuts short, at any length, changes nothing: what is
// there is not what it had written so far.
func TestAWriteCutShortAnywhereChangesNothing(t *testing.T) {
	dir := newState(t)
	w := openOwner(t, dir, "cost", nil)
	update(t, w, setNote(strings.Repeat("before ", 100)))
	before := readFile(t, sidecarPath(dir, "cost"))
	limits := []int{0, 1, 2, len(before) / 3, len(before) / 2, len(before) - 1}
	for _, limit := range limits {
		cmd := roleProcess(t, "cut short", dir, fmt.Sprint(limit))
		if out, err := cmd.Output(); err != nil || !strings.Contains(string(out), syscall.EFBIG.Error()) {
			t.Errorf("at %d bytes it said %q (%v)", limit, out, err)
		}
		if after := readFile(t, sidecarPath(dir, "cost")); after != before {
			t.Fatalf("at %d bytes the sidecar became\n%s", limit, after)
		}
		if left := names(t, dir); len(left) != 1 {
			t.Errorf("at %d bytes this is left: %v", limit, left)
		}
	}
	update(t, w, setNote("after"))
}

func init() { roles["cut short"] = roleCutShort }

// roleCutShort commits where no file may become longer than it is told, and
// prints the error.
func roleCutShort(args []string) error {
	var limit uint64
	if _, err := fmt.Sscan(args[1], &limit); err != nil {
		return err
	}
	w, err := Open(context.Background(), args[0], nil, "cost", &Options{Wait: time.Minute})
	if err != nil {
		return err
	}
	defer w.Close()
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
		return err
	}
	_, err = w.Update(context.Background(), setNote(strings.Repeat("after! ", 100)))
	fmt.Println(err)
	return nil
}

// Row FB8: signals that interrupt a process all the time make none of its commits
// fail, and none twice.
func TestAFloodOfSignalsLosesNothing(t *testing.T) {
	dir := newState(t)
	cmd := roleProcess(t, "add", dir, "50")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() { over <- cmd.Wait() }()
	for signals := 0; ; signals++ {
		select {
		case err := <-over:
			if got := stored(t, dir, "turns"); err != nil || got != "50" {
				t.Errorf("turns is %s (%v) after %d signals, want 50", got, err, signals)
			}
			return
		default:
			cmd.Process.Signal(syscall.SIGURG)
			time.Sleep(10 * time.Microsecond)
		}
	}
}
