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

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/inject"
	"github.com/google/go-cmp/cmp"
)

func init() { roles["unlinkable"] = roleUnlinkable }

// roleUnlinkable defers two patches and claims a field, twice, and prints what
// becomes of it.
func roleUnlinkable(args []string) error {
	ctx := context.Background()
	holder, err1 := Open(ctx, args[0], nil, "tool", nil)
	tool, err2 := Open(ctx, args[0], crowd(), "tool", &Options{Wait: -1})
	hook, err3 := Open(ctx, args[0], crowd(), "hook", nil)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	if err := holder.lock.Acquire(ctx, time.Minute); err != nil {
		return err
	}
	inject.Begin()
	var said []string
	for range 2 {
		c, err := tool.Update(ctx, ops(op("n", schema.VerbAdd, "1")))
		if err != nil {
			return err
		}
		said = append(said, c.Outcome.String())
	}
	for range 2 {
		won, _, err := hook.Claim(ctx, "fired")
		if err != nil {
			return err
		}
		said = append(said, fmt.Sprint(won))
	}
	inject.End()
	fmt.Print(strings.Join(said, ", "))
	return errors.Join(holder.lock.Release(), holder.Close(), tool.Close(), hook.Close())
}

// Where a file without a name cannot get one by its descriptor, as without the
// right to do so, it gets it by way of /proc, and where there is no /proc, by way
// of a private name. What is promised is the same.
func TestWhatIsSetPendingAndClaimedNeedsNoProc(t *testing.T) {
	if err := inject.Available(); err != nil {
		t.Skipf("system calls cannot be intercepted: %v", err)
	}
	byDescriptor := func(c inject.Call) bool { return c.Args[4]&0x1000 != 0 } // AT_EMPTY_PATH
	for name, tc := range map[string]struct {
		errno syscall.Errno
		only  func(inject.Call) bool
		calls int // of those, in all
	}{
		"no right":                    {syscall.ENOENT, byDescriptor, 3},
		"no right and no proc":        {syscall.ENOENT, nil, 6},
		"no right, and a shut proc":   {syscall.EACCES, nil, 3},
		"forbidden by a sandbox, say": {syscall.EPERM, nil, 3},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			if err := Create(dir, crowd()); err != nil {
				t.Fatal(err)
			}
			r, err := inject.Run(t.Context(), inject.Command{Path: os.Args[0], Args: []string{dir}, Env: append(os.Environ(), roleVar+"=unlinkable")},
				inject.Plan{Marked: true, Calls: []string{"linkat"}, Only: tc.only, At: 1, Action: inject.Fail, Errno: tc.errno, Persistent: true})
			if err != nil {
				t.Fatal(err)
			}
			if string(r.Stdout) != "deferred, deferred, true, false" {
				t.Errorf("it says %q, and %q on standard error; %v", r.Stdout, r.Stderr, r)
			}
			if len(r.Calls) != tc.calls {
				t.Errorf("%d calls failed: %v", len(r.Calls), r.Calls)
			}
			w, err := Open(t.Context(), dir, crowd(), "tool", &Options{Wait: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			for _, in := range []string{"tool.pending", "claims/hook"} {
				entries, err := os.ReadDir(metaPath(dir, in))
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range entries {
					if e.Name() == ".id" {
						continue
					}
					if info, err := e.Info(); err != nil || strings.HasPrefix(e.Name(), ".") || info.Mode() != 0o600 || info.Sys().(*syscall.Stat_t).Nlink != 1 {
						t.Errorf("%s/%s is %v (%v)", in, e.Name(), info.Mode(), err)
					}
				}
			}
			if c := update(t, w, ops()); c.Folded != 2 {
				t.Errorf("the commit is %+v", c)
			}
			if diff := cmp.Diff(map[string]string{"n": "2"}, values(t, w, "n")); diff != "" {
				t.Errorf("values (-want +got):\n%s", diff)
			}
		})
	}
}
