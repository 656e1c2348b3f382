package sidecar

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/inject"
	"github.com/freehold-dev/freehold/sidecar/store"
)

func init() {
	roles["makeinstance"] = roleMakeInstance
	roles["make"] = roleMake
}

// roleMake makes the state args[0], or the instance Eins of it.
func roleMake(args []string) (err error) {
	inject.Begin()
	if args[1] == "plain" {
		err = Create(args[0], usage())
	} else {
		err = CreateInstance(args[0], "Eins", instanced())
	}
	inject.End()
	if err == nil {
		fmt.Print("done")
	}
	return err
}

// A creation that fails, at whatever system call and for whatever reason, leaves no
// file and no directory; the next one succeeds, also after one that was killed, of
// which nothing stays then.
func TestAFailedCreationLeavesNothing(t *testing.T) {
	t.Parallel()
	if err := inject.Available(); err != nil {
		t.Skipf("system calls cannot be intercepted: %v", err)
	}
	for _, kind := range []string{"plain", "instance"} {
		for name, plan := range map[string]inject.Plan{
			"killed": inject.Plan{Action: inject.KillBefore, Marked: true}.AtChanges(),
			"full":   inject.Plan{Action: inject.Fail, Errno: syscall.ENOSPC, Marked: true}.AtChanges(),
		} {
			t.Run(kind+" "+name, func(t *testing.T) {
				var root string
				for _, r := range inject.EveryCall(t, func(k int) (inject.Command, inject.Plan) {
					root = fmt.Sprintf("%s/%d", t.TempDir(), k)
					if err := os.Mkdir(root, 0o700); err != nil {
						t.Fatal(err)
					}
					return inject.Command{Path: os.Args[0], Args: []string{root + "/a/b", kind}, Env: append(os.Environ(), roleVar+"=make")}, plan
				}) {
					done := string(r.Stdout) == "done"
					left, err := os.ReadDir(root)
					if err != nil {
						t.Fatal(err)
					}
					if name == "full" && !done && len(left) > 0 {
						t.Errorf("%v: it left %v; stdout %q, stderr %q", r, left, r.Stdout, r.Stderr)
					}
					next := roleMake([]string{root + "/a/b", kind})
					if exists := errors.Is(next, store.Exists); next != nil && (!exists || name == "full" && !done) {
						t.Errorf("%v: the next one: %v (stdout %q)", r, next, r.Stdout)
					}
					if t.Failed() {
						t.FailNow()
					}
				}
			})
		}
	}
}

func roleMakeInstance(args []string) error {
	inject.Begin()
	w, err := OpenInstance(context.Background(), args[0], "Eins", instanced(), "cost", &Options{Create: true})
	inject.End() // what a commit does is tested elsewhere
	if err != nil {
		return err
	}
	if _, err := w.Update(context.Background(), addTurns(1)); err != nil {
		return err
	}
	fmt.Print("done")
	return w.Close()
}

// Stopped or failed at any system call, whoever makes an instance leaves it
// whole or not there at all, and the next one makes it.
func TestAnInstanceIsMadeWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	if err := inject.Available(); err != nil {
		t.Skipf("system calls cannot be intercepted: %v", err)
	}
	for name, plan := range map[string]inject.Plan{
		"killed": inject.Plan{Action: inject.KillBefore, Marked: true}.AtChanges(),
		"failed": {Action: inject.Fail, Errno: syscall.EIO, Marked: true},
	} {
		t.Run(name, func(t *testing.T) {
			var dir string
			for _, r := range inject.EveryCall(t, func(k int) (inject.Command, inject.Plan) {
				dir = fmt.Sprintf("%s/%d", t.TempDir(), k)
				return inject.Command{Path: os.Args[0], Args: []string{dir}, Env: append(os.Environ(), roleVar+"=makeinstance")}, plan
			}) {
				path := instancePath(t, dir, "Eins")
				if _, err := os.Lstat(path); err == nil {
					if d, err := statedir.OpenInstance(dir, "Eins"); err != nil {
						t.Errorf("half an instance: %v", err)
					} else if _, err := d.Manifest(); err != nil {
						t.Errorf("half an instance: %v", err)
					}
				}
				w, err := OpenInstance(t.Context(), dir, "Eins", instanced(), "cost", &Options{Create: true, Wait: time.Minute})
				if err != nil {
					t.Fatalf("%v: the next one: %v", r, err)
				}
				update(t, w, addTurns(1))
				w.Close()
				got := stored(t, path, "turns")
				if done := string(r.Stdout) == "done"; got != "2" && (done || got != "1") {
					t.Errorf("turns is %s, and the first one said %q", got, r.Stdout)
				}
				if t.Failed() {
					t.Fatalf("%v; stderr %q", r, r.Stderr)
				}
			}
		})
	}
}
