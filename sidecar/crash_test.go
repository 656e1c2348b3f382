//go:build linux

package sidecar

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/testkit/inject"
	"github.com/google/go-cmp/cmp"
)

func init() { roles["commit"] = roleCommit }

// roleCommit opens cost, making the state if need be, adds 1 to its turns,
// and prints the outcome.
func roleCommit(args []string) error {
	c, err := commitOnce(args[0])
	if errors.Is(err, ErrIndeterminate) {
		fmt.Print("indeterminate ", c.Version)
		return nil
	}
	if err != nil {
		return err
	}
	fmt.Print(c.Outcome)
	return nil
}

// commitOnce is the stretch in which system calls are counted.
func commitOnce(dir string) (Commit, error) {
	inject.Begin()
	defer inject.End()
	w, err := Open(context.Background(), dir, declaration(), "cost", &Options{Create: true})
	if err != nil {
		return Commit{}, err
	}
	defer w.Close()
	return w.Update(context.Background(), addTurns(1))
}

// A start is a state in which a commit begins.
type start struct {
	name string
	make func(t *testing.T, dir string) (turns int)
}

var starts = []start{
	{"no state", func(t *testing.T, dir string) int { return 0 }},
	{"no sidecar", func(t *testing.T, dir string) int {
		if err := Create(dir, declaration()); err != nil {
			t.Fatal(err)
		}
		return 0
	}},
	{"a sidecar and litter", func(t *testing.T, dir string) int {
		if err := Create(dir, declaration()); err != nil {
			t.Fatal(err)
		}
		update(t, openOwner(t, dir, "cost", nil), addTurns(7))
		if err := os.WriteFile(dir+"/.cost.json990000000000000", []byte("{\n\"$sidecar\":{\"form"), 0o600); err != nil {
			t.Fatal(err)
		}
		return 7
	}},
}

// everyCall runs roleCommit from s once for each system call that it makes,
// and interferes with that one.
func everyCall(t *testing.T, s start, plan inject.Plan, check func(dir string, before int, r inject.Result)) {
	t.Helper()
	if err := inject.Available(); err != nil {
		t.Skipf("system calls cannot be intercepted: %v", err)
	}
	plan.Marked = true
	var dir string
	var before int
	for k, r := range inject.EveryCall(t, func(k int) (inject.Command, inject.Plan) {
		dir = fmt.Sprintf("%s/%d", t.TempDir(), k)
		before = s.make(t, dir)
		return inject.Command{Path: os.Args[0], Args: []string{dir}, Env: append(os.Environ(), roleVar+"=commit")}, plan
	}) {
		check(dir, before, r)
		if t.Failed() {
			t.Fatalf("at call %d, %v; stdout %q, stderr %q", k, r, r.Stdout, r.Stderr)
		}
	}
}

// recovers holds the law of a crash: what is there is the old version or the
// new one, whole; what was acknowledged is there; and the next commit works
// without repair and leaves nothing behind.
func recovers(t *testing.T, dir string, before int, r inject.Result) {
	t.Helper()
	w, err := Open(t.Context(), dir, declaration(), "cost", &Options{Create: true, Wait: 10 * time.Second})
	if err != nil {
		t.Errorf("open again: %v", err)
		return
	}
	defer w.Close()
	found := before
	c, err := w.Update(t.Context(), func(tx *Tx) error {
		if raw, ok := tx.Get("turns"); ok {
			found, err = strconv.Atoi(string(raw))
		}
		return errors.Join(err, addTurns(1)(tx))
	})
	if err != nil || c.Outcome != Applied {
		t.Errorf("the next commit: %v (%v)", c.Outcome, err)
	}
	want := []int{before, before + 1}
	switch out := string(r.Stdout); {
	case out == "applied":
		want = []int{before + 1}
	case out == "" && !r.Killed: // an error: nothing may have changed
		want = []int{before}
	}
	if found != want[0] && found != want[len(want)-1] {
		t.Errorf("turns is %d, want one of %v", found, want)
	}
	if diff := cmp.Diff([]string{"cost.json"}, names(t, dir)); diff != "" {
		t.Errorf("left behind (-want +got):\n%s", diff)
	}
	if got := stored(t, dir, "turns"); got != fmt.Sprint(found+1) {
		t.Errorf("turns is %s after the next commit, want %d", got, found+1)
	}
}

// Case 92. Wherever a commit is killed, the next one finds the old or the new
// version, and collects what the dead one left.
func TestKillAtEveryCallLeavesOldOrNew(t *testing.T) {
	for _, s := range starts {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			everyCall(t, s, inject.Plan{Action: inject.KillBefore}.AtChanges(), func(dir string, before int, r inject.Result) {
				recovers(t, dir, before, r)
			})
		})
	}
}

// publishing are the calls by which a commit could change anything.
var publishing = []string{"flock", "openat", "openat2", "getdents64", "unlinkat", "read", "write", "fchmod", "fsync", "renameat", "linkat", "mkdirat"}

// failures are the errors that are injected: each at every call from every start
// if there is time, else all of them at the calls that matter.
func failures() (plans []inject.Plan) {
	for _, errno := range []syscall.Errno{syscall.EIO, syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EMFILE, syscall.EINTR} {
		for _, persistent := range []bool{false, true} {
			plan := inject.Plan{Action: inject.Fail, Errno: errno, Persistent: persistent}
			if errno != syscall.EIO {
				plan = plan.Among(publishing...)
			}
			if errno != syscall.EINTR || !persistent { // a call that is always interrupted is tried for ever
				plans = append(plans, plan)
			}
		}
	}
	return plans
}

// Case 133. Whatever a call that could change anything fails with, what the
// commit says is so, nothing is left behind, and no sync that failed is tried
// again.
func TestErrorAtEveryCallHasItsOutcome(t *testing.T) {
	for _, plan := range failures() {
		for i, s := range starts {
			if !inject.Thorough() && (i == 0 || i == 1 && (plan.Errno != syscall.EIO || plan.Persistent)) {
				continue
			}
			t.Run(fmt.Sprintf("%v/persistent=%v/%s", plan.Errno, plan.Persistent, s.name), func(t *testing.T) {
				t.Parallel()
				everyCall(t, s, plan, func(dir string, before int, r inject.Result) {
					if !plan.Persistent && r.Hit != nil {
						keepsTheTable(t, dir, plan.Errno, r)
					}
					resolves(t, dir, before, r)
					recovers(t, dir, before, r)
				})
			})
		}
	}
}

// keepsTheTable holds that an error at a step of publishing leaves the commit
// indeterminate only if the directory could not be synced, says what to do, and leaves nothing staged.
func keepsTheTable(t *testing.T, dir string, errno syscall.Errno, r inject.Result) {
	t.Helper()
	s := publishStep(dir, r)
	if r.Hit.Name == "fsync" && errno != syscall.EINTR { // what failed to be written may be gone, and a second sync would not say so
		if slices.ContainsFunc(r.Calls, func(c inject.Call) bool {
			return c.N > r.Hit.N && c.Name == "fsync" && c.Paths[0] == r.Hit.Paths[0]
		}) {
			t.Errorf("%s is synced again", r.Hit.Paths[0])
		}
	}
	indeterminate := strings.HasPrefix(string(r.Stdout), "indeterminate")
	if want := s == "sync"; indeterminate != want {
		t.Errorf("step %q: indeterminate is %v, want %v", s, indeterminate, want)
	}
	retried := errno == syscall.EINTR // as the standard library does
	if s != "" && !indeterminate && !retried {
		if len(r.Stdout) > 0 {
			t.Errorf("step %q failed, and the commit is %s", s, r.Stdout)
		}
		if said := advised(errno).Error(); !strings.Contains(string(r.Stderr), said) {
			t.Errorf("the error does not say %q", said)
		}
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return // it was to be made
	}
	for _, name := range names(t, dir) {
		if strings.HasPrefix(name, ".cost.json") && name != ".cost.json990000000000000" && r.Hit.Name != "unlinkat" {
			t.Errorf("%s is left", name)
		}
	}
}

// publishStep returns the step of publishing that a call belongs to, if its
// failure must be one of the step.
func publishStep(dir string, r inject.Result) string {
	c := *r.Hit
	renamed := func(c inject.Call) bool {
		return c.Name == "renameat" && filepath.Base(c.Paths[len(c.Paths)-1]) == "cost.json"
	}
	staged := strings.HasPrefix(filepath.Base(c.Paths[0]), ".cost.json")
	switch {
	case c.Name == "fsync" && c.Paths[0] == dir && slices.ContainsFunc(r.Calls, renamed):
		return "sync"
	case c.Name == "renameat" && staged, c.Name == "fsync" && staged:
		return "replace"
	case c.Name == "openat" && staged:
		return "create"
	case (c.Name == "write" || c.Name == "fchmod") && staged:
		return "fill"
	}
	return ""
}

// A signal that interrupts a call that may wait is no error.
func TestInterruptedCallIsTriedAgain(t *testing.T) {
	plan := inject.Plan{Action: inject.Fail, Errno: syscall.EINTR, Calls: []string{"openat", "openat2", "getdents64", "read", "write", "flock"}}
	everyCall(t, starts[2], plan, func(dir string, before int, r inject.Result) {
		if string(r.Stdout) != "applied" {
			t.Error("an interrupted call was not tried again")
		}
	})
}

// resolves asks what became of an indeterminate commit.
func resolves(t *testing.T, dir string, before int, r inject.Result) {
	t.Helper()
	text, ok := strings.CutPrefix(string(r.Stdout), "indeterminate ")
	if !ok {
		return
	}
	var v Version
	if err := v.UnmarshalText([]byte(text)); err != nil {
		t.Fatal(err)
	}
	outcome, err := Resolve(t.Context(), dir, "cost", v)
	if err != nil {
		t.Error(err)
	}
	if got, applied := stored(t, dir, "turns"), outcome == Applied; (got == fmt.Sprint(before+1)) != applied {
		t.Errorf("resolved as %v, and turns is %s after %d", outcome, got, before)
	}
}
