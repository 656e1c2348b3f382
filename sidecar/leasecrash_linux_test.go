package sidecar

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/actor"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/inject"
	"github.com/freehold-dev/freehold/sidecar/retire"
	"github.com/freehold-dev/freehold/sidecar/store"
)

func init() {
	roles["lease"] = roleLease
	roles["beats"] = roleBeats
	roles["retire"] = roleRetire
}

// roleLease takes watchdog's lease, commits and gives it back.
func roleLease(args []string) error {
	c, err := leaseOnce(args[0])
	fmt.Print(c.Outcome, " ", c.Version)
	return err
}

func leaseOnce(dir string) (c Commit, err error) {
	inject.Begin()
	defer inject.End()
	w, err := Open(context.Background(), dir, declaration(), "watchdog", nil)
	if err != nil {
		return Commit{}, err
	}
	if c, err = w.Update(context.Background(), beat); err != nil {
		return Commit{}, errors.Join(err, w.Close())
	}
	return c, w.Close()
}

// everyLeaseCall runs a role once for each of its system calls.
func everyLeaseCall(t *testing.T, role string, plan inject.Plan, prepare func(dir string), check func(dir string, r inject.Result)) {
	t.Helper()
	if err := inject.Available(); err != nil {
		t.Skipf("system calls cannot be intercepted: %v", err)
	}
	plan.Marked = true
	var dir string
	for k, r := range inject.EveryCall(t, func(k int) (inject.Command, inject.Plan) {
		dir = filepath.Join(t.TempDir(), fmt.Sprint(k))
		if err := Create(dir, declaration()); err != nil {
			t.Fatal(err)
		}
		prepare(dir)
		return inject.Command{Path: os.Args[0], Args: []string{dir}, Env: append(os.Environ(), roleVar+"="+role)}, plan
	}) {
		check(dir, r)
		if t.Failed() {
			t.Fatalf("at call %d, %v; stdout %q, stderr %q", k, r, r.Stdout, r.Stderr)
		}
	}
}

// Wherever a process is killed, or a call of it fails, while it takes a lease,
// uses it and gives it back, the next one gets the lease and a later epoch.
func TestLeaseSurvivesEveryCall(t *testing.T) {
	for name, plan := range map[string]inject.Plan{
		"killed": {Action: inject.KillBefore}, "EIO": {Action: inject.Fail, Errno: syscall.EIO},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan = plan.Among("flock", "renameat", "fsync", "unlinkat", "fchmod", "write")
			var before Version
			everyLeaseCall(t, "lease", plan, func(dir string) {
				w, err := Open(t.Context(), dir, nil, "watchdog", nil)
				if err != nil {
					t.Fatal(err)
				}
				before = update(t, w, beat).Version
				w.Close()
			}, func(dir string, r inject.Result) {
				w, err := Open(t.Context(), dir, nil, "watchdog", nil)
				if err != nil {
					t.Error(err)
					return
				}
				defer w.Close()
				v := update(t, w, beat).Version
				var acked Version
				if text, ok := strings.CutPrefix(string(r.Stdout), "applied "); ok {
					if err := acked.UnmarshalText([]byte(text)); err != nil {
						t.Error(err)
					}
				}
				if v.Epoch <= before.Epoch || v.Epoch <= acked.Epoch {
					t.Errorf("version %v after %v and %v", v, before, acked)
				}
				left, err := filepath.Glob(metaPath(dir, ".*"))
				if err != nil || len(left) > 0 {
					t.Errorf("left behind: %v (%v)", left, err)
				}
			})
		})
	}
}

// roleBeats commits twice. What goes wrong in the first does not end a lease.
func roleBeats(args []string) error {
	w, err := Open(context.Background(), args[0], declaration(), "watchdog", nil)
	if err != nil {
		return err
	}
	inject.Begin()
	_, first := w.Update(context.Background(), beat)
	inject.End()
	_, second := w.Update(context.Background(), beat)
	if errors.Is(first, ErrIndeterminate) {
		second = nil // it asks for a new Writer
	}
	if errors.Is(first, ErrFenced) {
		second = fmt.Errorf("a lease was declared lost: %w", first)
	}
	return errors.Join(second, w.Close())
}

// An error that passes is not the loss of a lease (C-41).
func TestPassingErrorLosesNoLease(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.EIO, syscall.EMFILE} {
		t.Run(errno.Error(), func(t *testing.T) {
			t.Parallel()
			everyLeaseCall(t, "beats", inject.Plan{Action: inject.Fail, Errno: errno}, func(string) {}, func(dir string, r inject.Result) {
				if r.State.ExitCode() != 0 {
					t.Error("the lease was lost")
				}
			})
		})
	}
}

// roleRetire retires watchdog's holder.
func roleRetire(args []string) error {
	inject.Begin()
	defer inject.End()
	p, err := retire.Prepare(args[0], "watchdog")
	if err != nil {
		return err
	}
	r, err := p.Run(context.Background(), nil)
	fmt.Print(r.Outcome)
	return err
}

// A retirement that is killed wherever, or fails, leaves no fence shut, and run
// again it does what is left to do.
func TestRetireSurvivesEveryCall(t *testing.T) {
	for name, plan := range map[string]inject.Plan{
		"killed": {Action: inject.KillBefore}, "EIO": {Action: inject.Fail, Errno: syscall.EIO},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan = plan.Among("flock", "pidfd_open", "pidfd_send_signal", "renameat", "fsync")
			if inject.Thorough() { // every call on files, and these
				plan.Calls = []string{"pidfd_open", "pidfd_send_signal", "openat", "close", "flock", "read", "write", "fcntl", "fsync", "renameat",
					"unlinkat", "mkdirat", "fchmod", "fstat", "newfstatat", "statx", "statfs", "fstatfs", "getdents64", "readlinkat"}
			}
			var target *actor.Actor
			everyLeaseCall(t, "retire", plan, func(dir string) {
				target = newActor(t, dir)
				target.Open()
			}, func(dir string, r inject.Result) {
				defer target.Kill()
				s := leaseState(t, dir)
				if s.Fence != 0 {
					t.Errorf("process %d keeps the fence shut", s.Fence)
				}
				p, err := retire.Prepare(dir, "watchdog")
				if errors.Is(err, store.NoHolder) && s.PID == 0 {
					return // it had come to its end
				}
				if err != nil {
					t.Error(err)
					return
				}
				again, err := p.Run(t.Context(), &retire.Options{Grace: time.Minute})
				if err != nil || again.Outcome == retire.NotRetired {
					t.Errorf("run again: %v (%v)", again, err)
				}
				if l := record(t, dir); l.Holder != nil || len(l.Retired) != 1 {
					t.Errorf("the record is %+v", l)
				}
				if verdict, _ := p.Holder.Identity.Judge(); verdict != process.Gone {
					t.Errorf("the process is %v", verdict)
				}
			})
		})
	}
}
