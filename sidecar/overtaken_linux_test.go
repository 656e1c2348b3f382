package sidecar

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/inject"
	"github.com/google/go-cmp/cmp"
)

func init() { roles["overtaken"] = roleOvertaken }

// overtake lets another process deferred a patch that adds 10, and a fold take it
// in, when w has chosen the number of its own. The lock is held before and after.
func overtake(ctx context.Context, w *Writer, after func()) error {
	dir := w.dir.Path()
	holder, err1 := Open(ctx, dir, nil, "tool", nil)
	other, err2 := Open(ctx, dir, setters(), "tool", &Options{Wait: -1})
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if err := holder.lock.Acquire(ctx, time.Minute); err != nil {
		return err
	}
	failpoint.Set(func(step string) {
		if step != failpoint.PendingNumbered {
			return
		}
		failpoint.Set(nil)
		_, err := other.Update(ctx, ops(op("n", VerbAdd, "10")))
		holder.lock.Release()
		_, folded := other.Update(ctx, ops())
		if err = errors.Join(err, folded, holder.lock.Acquire(ctx, time.Minute), other.Close()); err != nil {
			panic(err)
		}
		after()
	})
	return nil
}

// roleOvertaken sets a patch pending that adds 1000 and whose number passes before it
// has its name.
func roleOvertaken(args []string) error {
	w, err := Open(context.Background(), args[0], setters(), "tool", &Options{Wait: -1})
	if err == nil {
		err = overtake(context.Background(), w, inject.Begin)
	}
	if err != nil {
		return err
	}
	c, err := w.Update(context.Background(), ops(op("n", VerbAdd, "1000")))
	inject.End()
	return printOutcome(c, err)
}

// A patch whose number has passed counts for nobody, so it is deferred again;
// without that, it is lost.
func TestPatchWhoseNumberHasPassedIsSetPendingAgain(t *testing.T) {
	for _, rule := range []string{"", failpoint.RulePassed} {
		t.Run("without "+rule, func(t *testing.T) {
			dir, w := newSetters(t)
			failpoint.Omit(rule)
			defer failpoint.Omit("")
			if err := overtake(t.Context(), w, func() {}); err != nil {
				t.Fatal(err)
			}
			defer failpoint.Set(nil)
			c := update(t, w, ops(op("n", VerbAdd, "1000")))
			if c.Outcome != Deferred {
				t.Fatalf("the commit is %+v", c)
			}
			failpoint.Omit("")
			got := shown(t, w, "n")
			if lost := got != "1010"; lost != (rule != "") {
				t.Errorf("without the rule %q, n is %s of 1010", rule, got)
			}
			if rule != "" {
				return
			}
			if diff := cmp.Diff([]string{pendingName(w.manifest.StateID, 2)}, pendingNames(t, w)); diff != "" {
				t.Errorf("deferred (-want +got):\n%s", diff)
			}
			if outcome, err := Resolve(t.Context(), dir, "tool", c.Version); outcome != Deferred || err != nil {
				t.Errorf("resolved as %v (%v)", outcome, err)
			}
		})
	}
}

// A writer whose number passes again and again gives up, and leaves nothing
// behind: its time was over before.
func TestWriterMissesItsNumberOnlySoOften(t *testing.T) {
	dir, w := newSetters(t)
	holder, other, late := openSetter(t, dir, "tool", nil), openSetter(t, dir, "tool", &Options{Wait: -1}), openSetter(t, dir, "tool", &Options{Wait: -1})
	if err := holder.lock.Acquire(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	missed := 0
	var overtakes func(step string)
	overtakes = func(step string) {
		if step != failpoint.PendingNumbered {
			return
		}
		failpoint.Set(nil)
		missed++
		update(t, other, ops(op("n", VerbAdd, "1")))
		if err := holder.lock.Release(); err != nil {
			t.Error(err)
		}
		update(t, w, ops())
		if err := holder.lock.Acquire(t.Context(), time.Minute); err != nil {
			t.Error(err)
		}
		failpoint.Set(overtakes)
	}
	failpoint.Set(overtakes)
	defer failpoint.Set(nil)
	c, err := late.Update(t.Context(), ops(op("n", VerbAdd, "1000")))
	failpoint.Set(nil)
	wantError(t, err, ErrBusy, "nothing was changed", "try again")
	said.Same(t, "deferred: a writer that misses its number each time", err, dir, "STATE")
	if missed != mostMissed || c != (Commit{}) {
		t.Errorf("it missed %d numbers, and the commit is %+v", missed, c)
	}
	if left, err := os.ReadDir(filepath.Join(dir, ".freehold", "tool.pending")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
	if err := holder.lock.Release(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"n": fmt.Sprint(mostMissed)}, values(t, w, "n")); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	deferUpdate(t, late, op("n", VerbAdd, "1000")) // who tries again gets on
}

// A writer that finds each number given, since others are faster, gives up, too.
func TestWriterFindsItsNumberGivenOnlySoOften(t *testing.T) {
	dir, w := newSetters(t)
	late := openSetter(t, dir, "tool", &Options{Wait: -1})
	in := filepath.Join(dir, ".freehold", "tool.pending")
	given := uint64(0)
	failpoint.Set(func(step string) {
		if step == failpoint.PendingNumbered {
			given++
			if err := os.WriteFile(filepath.Join(in, pendingName(w.manifest.StateID, given)), nil, 0o600); err != nil {
				t.Error(err)
			}
		}
	})
	defer failpoint.Set(nil)
	locked(t, w, func() {
		c, err := late.Update(t.Context(), ops(op("n", VerbAdd, "1")))
		wantError(t, err, ErrBusy, "nothing was changed", "try again")
		said.Same(t, "deferred: a writer that finds each number given", err, dir, "STATE")
		if given != MaxPending || c != (Commit{}) {
			t.Errorf("it tried %d numbers, and the commit is %+v", given, c)
		}
	})
	left, err := os.ReadDir(in)
	if err != nil || len(left) != MaxPending {
		t.Errorf("%d files are there (%v)", len(left), err)
	}
	for _, file := range left {
		if err := os.Remove(filepath.Join(in, file.Name())); err != nil {
			t.Fatal(err)
		}
	}
}

// Whoever is killed while his number passes has deferred all or nothing, and
// leaves nothing behind that the next commit does not clear.
func TestSettingPendingLateStoppedAtEveryCallIsAllOrNothing(t *testing.T) {
	if err := inject.Available(); err != nil {
		t.Skipf("system calls cannot be intercepted: %v", err)
	}
	for _, plan := range plans {
		if plan.Action == inject.Fail && !inject.Thorough() {
			continue
		}
		t.Run(planName(plan), func(t *testing.T) {
			t.Parallel()
			plan.Marked = true
			var dir string
			for k, r := range inject.EveryCall(t, func(int) (inject.Command, inject.Plan) {
				var w *Writer
				dir, w = newSetters(t)
				w.Close()
				return inject.Command{Path: os.Args[0], Args: []string{dir}, Env: append(os.Environ(), roleVar+"=overtaken")}, plan
			}) {
				if r.Hit == nil && !strings.HasPrefix(string(r.Stdout), "deferred ") {
					t.Errorf("undisturbed, it says %q", r.Stdout)
				}
				settles(t, dir, 10, r)
				if t.Failed() {
					t.Fatalf("at call %d, %v; stdout %q, stderr %q", k, r, r.Stdout, r.Stderr)
				}
			}
		})
	}
}

// passedJunk leaves what a writer leaves that is killed when it has the name of a
// number that has passed. It would add 1000.
func passedJunk(t *testing.T, w *Writer) { manyPassed(t, w, 1) }

// manyPassed is passedJunk of several writers, each with a number of its own.
func manyPassed(t *testing.T, w *Writer, several int) {
	t.Helper()
	locked(t, w, func() {
		for range several {
			update(t, w, ops(op("n", VerbAdd, "10")))
		}
	})
	update(t, w, ops())
	for i := range several {
		p := &PendingPatch{ID: fmt.Sprintf("%013d", i+1), At: time.Now(), Ops: Patch{op("n", VerbAdd, "1000")}, Name: pendingName(w.manifest.StateID, uint64(i+1))}
		raw, err := p.encode("tool", w.manifest.StateID)
		if err == nil {
			err = os.WriteFile(filepath.Join(w.dir.Path(), ".freehold", "tool.pending", p.Name), raw, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A commit moves away only so many patches whose numbers have passed, and still
// folds what counts: each is kept durably, and those who wait have deadlines.
func TestCommitMovesAwayOnlySoManyPassedPatches(t *testing.T) {
	_, w := newSetters(t)
	const more = 3
	manyPassed(t, w, mostKept+more)
	deferUpdate(t, w, op("peak", VerbRaise, "7"))
	for _, left := range []int{more, 0} {
		if diff := cmp.Diff(map[string]string{"n": fmt.Sprint(10 * (mostKept + more)), "peak": "7"}, values(t, w, "n", "peak")); diff != "" {
			t.Errorf("values (-want +got):\n%s", diff)
		}
		if names := pendingNames(t, w); len(names) != left {
			t.Errorf("%d are still there, want %d: %v", len(names), left, names)
		}
	}
}

// What counts for no view is never folded: not by a fold, and not after the
// sidecar was moved aside.
func TestPassedPatchCountsForNobody(t *testing.T) {
	for _, rule := range []string{"", failpoint.RulePassed} {
		t.Run("without "+rule, func(t *testing.T) {
			_, w := newSetters(t)
			passedJunk(t, w)
			if got := shown(t, w, "n"); got != "10" {
				t.Errorf("a view shows %s", got)
			}
			failpoint.Omit(rule)
			defer failpoint.Omit("")
			got := values(t, w, "n")["n"]
			if counted := got != "10"; counted != (rule != "") {
				t.Errorf("without the rule %q, n is %s, want 10", rule, got)
			}
			nonePending(t, w)
		})
	}
	t.Run("quarantine", func(t *testing.T) {
		dir, w := newSetters(t)
		passedJunk(t, w)
		deferUpdate(t, w, op("peak", VerbRaise, "7"))
		if _, err := Quarantine(t.Context(), dir, "tool", nil); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]string{"peak": "7"}, values(t, w, "n", "peak")); diff != "" {
			t.Errorf("values (-want +got):\n%s", diff)
		}
	})
}

// As long as its writer lives, who alone knows whether it is to be deferred
// again, nobody else removes a patch whose number has passed.
func TestPassedPatchStaysWhileItsWriterLives(t *testing.T) {
	_, w := newSetters(t)
	passedJunk(t, w)
	a := openPending(t, w)
	name := pendingNames(t, w)[0]
	raw := readFile(t, a.Path(name))
	if err := os.Remove(a.Path(name)); err != nil {
		t.Fatal(err)
	}
	draft, err := a.Draft([]byte(raw))
	if err == nil {
		err = draft.Put(name)
	}
	if err != nil {
		t.Fatal(err)
	}
	update(t, w, ops(op("peak", VerbRaise, "1")))
	if diff := cmp.Diff([]string{name}, pendingNames(t, w)); diff != "" {
		t.Errorf("deferred (-want +got):\n%s", diff)
	}
	if err := draft.Close(); err != nil {
		t.Fatal(err)
	}
	update(t, w, ops())
	if _, err := os.Lstat(a.Path(name)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

// A patch means the incarnation of its owner's key that its writer saw, also if
// the key is deleted and created again before the patch has its number: then it
// is rejected. One whose writer saw none means the one that there is then, or
// creates it.
func TestPatchMeansTheIncarnationThatItsWriterSaw(t *testing.T) {
	use := Op{Field: "own", Verb: VerbAdd, Key: "k", Member: "uses", Value: []byte("1")}
	create, remove := Op{Field: "own", Verb: VerbAdd, Key: "k", Member: "uses", Value: []byte("10")}, Op{Field: "own", Verb: VerbDelete, Key: "k"}
	for name, tc := range map[string]struct {
		before, meanwhile []Op // commits
		want              string
		kept              bool
	}{
		"deleted":                           {[]Op{create}, []Op{remove}, "{}", true},
		"deleted and created again":         {[]Op{create}, []Op{remove, create}, `{"k":{"uses":10}}`, true},
		"created":                           {nil, []Op{create}, `{"k":{"uses":11}}`, false},
		"created and deleted":               {nil, []Op{create, remove}, `{"k":{"uses":1}}`, false},
		"created, deleted and created anew": {nil, []Op{create, remove, create}, `{"k":{"uses":11}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir, _ := newSetters(t)
			var told []error
			w := openSetter(t, dir, "tool", &Options{Notice: func(err error) { told = append(told, err) }})
			commit := func(all []Op) {
				for _, op := range all {
					update(t, w, ops(op))
				}
			}
			commit(tc.before)
			late := openSetter(t, dir, "tool", &Options{Wait: -1})
			holder := openSetter(t, dir, "tool", nil)
			if err := holder.lock.Acquire(t.Context(), time.Minute); err != nil {
				t.Fatal(err)
			}
			failpoint.Set(func(step string) {
				if step == failpoint.PendingNumbered {
					failpoint.Set(nil)
					holder.lock.Release()
					commit(tc.meanwhile)
				}
			})
			defer failpoint.Set(nil)
			c := update(t, late, ops(use))
			if c.Outcome != Deferred {
				t.Fatalf("the commit is %+v", c)
			}
			if diff := cmp.Diff(map[string]string{"own": tc.want}, values(t, w, "own")); diff != "" {
				t.Errorf("values (-want +got):\n%s", diff)
			}
			outcome, err := Resolve(t.Context(), dir, "tool", c.Version)
			if kept := errors.Is(err, ErrRejected); outcome != Applied || kept != tc.kept || len(told) > 0 != tc.kept {
				t.Errorf("resolved as %v (%v), and told %v", outcome, err, told)
			}
			nonePending(t, w)
		})
	}
}
