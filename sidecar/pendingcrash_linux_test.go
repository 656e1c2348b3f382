package sidecar

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/inject"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/google/go-cmp/cmp"
)

func init() { roles["set"], roles["settwice"] = roleSet, roleSetTwice }

// roleSet opens an owner of a state of setters and adds to a counter of it. It
// prints the outcome and the id.
func roleSet(args []string) error {
	return printOutcome(setOnce(args[0], args[1], op(args[2], schema.VerbAdd, "1000")))
}

// roleSetTwice commits twice as one process, and prints what came of each. With a
// second argument another Writer folds a patch in between.
func roleSetTwice(args []string) error {
	w, err := Open(context.Background(), args[0], setters(), "tool", nil)
	if err != nil {
		return err
	}
	defer w.Close()
	inject.Begin()
	first, err1 := w.Update(context.Background(), ops(op("n", schema.VerbAdd, "1000")))
	if len(args) > 1 {
		if err := deferAndFold(args[0]); err != nil {
			return err
		}
	}
	second, err2 := w.Update(context.Background(), ops(op("n", schema.VerbAdd, "1000")))
	inject.End()
	fmt.Printf("%v, %v; %v, %v", first.Outcome, err1, second.Outcome, err2)
	return nil
}

// deferAndFold defers a patch of tool and folds it.
func deferAndFold(dir string) error {
	w, err := Open(context.Background(), dir, setters(), "tool", &Options{Wait: -1})
	if err != nil {
		return err
	}
	defer w.Close()
	other, err := w.openLock(statedir.OwnerLock("tool"))
	if err != nil {
		return err
	}
	defer other.Close()
	_, err = other.Try()
	for _, want := range []Outcome{Deferred, Applied} {
		if err == nil {
			var c Commit
			if c, err = w.Update(context.Background(), ops(op("n", schema.VerbAdd, "1"))); err == nil && c.Outcome != want {
				err = fmt.Errorf("it is %v, want %v", c.Outcome, want)
			}
		}
		other.Release()
	}
	return err
}

func printOutcome(c Commit, err error) error {
	switch {
	case errors.Is(err, ErrIndeterminate):
		fmt.Print("indeterminate ", c.Version)
	case err != nil:
		return err
	default:
		fmt.Print(c.Outcome, " ", c.Version)
	}
	return nil
}

func setOnce(dir, owner string, op Op) (Commit, error) {
	inject.Begin()
	defer inject.End()
	w, err := Open(context.Background(), dir, setters(), owner, &Options{Wait: -1})
	if err != nil {
		return Commit{}, err
	}
	defer w.Close()
	return w.Update(context.Background(), ops(op))
}

// everySet runs roleSet for tool once for each of its system calls. prepare
// makes the state, check looks at it.
func everySet(t *testing.T, plan inject.Plan, prepare func(w *Writer), check func(dir string, r inject.Result)) {
	t.Helper()
	if err := inject.Available(); err != nil {
		t.Skipf("system calls cannot be intercepted: %v", err)
	}
	plan.Marked = true
	var dir string
	for k, r := range inject.EveryCall(t, func(k int) (inject.Command, inject.Plan) {
		var w *Writer
		dir, w = newSetters(t)
		prepare(w)
		return inject.Command{Path: os.Args[0], Args: []string{dir, "tool", "n"}, Env: append(os.Environ(), roleVar+"=set")}, plan
	}) {
		check(dir, r)
		if t.Failed() {
			t.Fatalf("at call %d, %v; stdout %q, stderr %q", k, r, r.Stdout, r.Stderr)
		}
	}
}

// settles holds the law of all crashes: of what the process was to add, all or
// nothing is there, and all if it said so; of the pending patches of others,
// everything is there, once; the next commit works and nothing is left behind.
func settles(t *testing.T, dir string, before int, r inject.Result) {
	t.Helper()
	w := openSetter(t, dir, "tool", nil)
	want := []int{before, before + 1000}
	switch out := string(r.Stdout); {
	case strings.HasPrefix(out, "indeterminate "):
		want = resolved(t, dir, before, out)
	case out != "":
		want = want[1:]
	case !r.Killed:
		want = want[:1] // an error: nothing may have changed
	}
	update(t, w, ops(op("peak", schema.VerbRaise, "1")))
	update(t, w, ops(op("peak", schema.VerbRaise, "2")))
	got := values(t, w, "n")["n"]
	if !slices.ContainsFunc(want, func(n int) bool { return got == fmt.Sprint(n) }) {
		t.Errorf("n is %s, want one of %v", got, want)
	}
	if all := namesIn(t, dir+"/.freehold/tool.pending"); len(all) > 0 {
		t.Errorf("still deferred: %v", all)
	}
	if folded := w.last.Folded(); len(folded) > 0 {
		t.Errorf("still listed: %v", folded)
	}
	if diff := cmp.Diff([]string{"tool.json"}, names(t, dir)); diff != "" {
		t.Errorf("left behind (-want +got):\n%s", diff)
	}
}

// resolved asks what became of an indeterminate commit.
func resolved(t *testing.T, dir string, before int, out string) []int {
	t.Helper()
	var v Version
	if err := v.UnmarshalText([]byte(strings.TrimPrefix(out, "indeterminate "))); err != nil {
		t.Fatal(err)
	}
	switch outcome, err := Resolve(t.Context(), dir, "tool", v); {
	case outcome == NotApplied && (err == nil || errors.Is(err, store.Unknown)):
		return []int{before}
	case err != nil:
		t.Fatal(err)
	}
	return []int{before + 1000}
}

// plans are what is done to one system call of a process. Errors find the same
// code as kills do, and take four times as long: they are for who has the time.
var plans = []inject.Plan{
	inject.Plan{Action: inject.KillBefore}.AtChanges(),
	{Action: inject.Fail, Errno: syscall.EIO},
	{Action: inject.Fail, Errno: syscall.ENOSPC},
	{Action: inject.Fail, Errno: syscall.EIO, Persistent: true},
}

func planName(p inject.Plan) string {
	if p.Action == inject.KillBefore {
		return "kill"
	}
	return fmt.Sprintf("%v/persistent=%v", p.Errno, p.Persistent)
}

func TestSettingPendingStoppedAtEveryCallIsAllOrNothing(t *testing.T) {
	for _, plan := range plans {
		if plan.Action == inject.Fail && !inject.Thorough() {
			continue
		}
		t.Run(planName(plan), func(t *testing.T) {
			t.Parallel()
			var other *Writer
			everySet(t, plan, func(w *Writer) {
				deferUpdate(t, w, op("n", schema.VerbAdd, "3"))
				other = w
				if err := w.lock.Acquire(t.Context(), time.Minute); err != nil {
					t.Fatal(err)
				}
			}, func(dir string, r inject.Result) {
				if r.Hit == nil && !strings.HasPrefix(string(r.Stdout), "deferred ") {
					t.Errorf("undisturbed, it says %q", r.Stdout)
				}
				other.lock.Release()
				settles(t, dir, 3, r)
				other.Close()
			})
		})
	}
}

// foldStarts are states in which a fold begins.
var foldStarts = map[string]func(t *testing.T, w *Writer){
	"three patches": threePending,
	"left over": func(t *testing.T, w *Writer) {
		threePending(t, w)
		leaveOver(t, w)
	},
	"left over, and a new one": func(t *testing.T, w *Writer) {
		locked(t, w, func() {
			update(t, w, ops(op("n", schema.VerbAdd, "1")))
			update(t, w, ops(op("n", schema.VerbAdd, "10")))
		})
		leaveOver(t, w)
		deferUpdate(t, w, op("n", schema.VerbAdd, "100"))
	},
}

func threePending(t *testing.T, w *Writer) {
	locked(t, w, func() {
		for _, n := range []string{"1", "10", "100"} {
			update(t, w, ops(op("n", schema.VerbAdd, n)))
		}
	})
}

// leaveOver folds pending patches and puts the files back, as if the
// process had been killed before it unlinked them.
func leaveOver(t *testing.T, w *Writer) {
	t.Helper()
	files := map[string]string{}
	for _, name := range pendingNames(t, w) {
		files[name] = readFile(t, w.dir.Path()+"/.freehold/tool.pending/"+name)
	}
	update(t, w, ops())
	for name, text := range files {
		if err := os.WriteFile(w.dir.Path()+"/.freehold/tool.pending/"+name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.cleared = Version{}
}

func TestFoldStoppedAtEveryCallTakesEachPatchInOnce(t *testing.T) {
	for name, prepare := range foldStarts {
		for _, plan := range plans {
			if plan.Action == inject.Fail && (!inject.Thorough() || name != "three patches" && !torture) {
				continue // nearly the same calls
			}
			t.Run(name+"/"+planName(plan), func(t *testing.T) {
				t.Parallel()
				everySet(t, plan, func(w *Writer) { prepare(t, w); w.Close() }, func(dir string, r inject.Result) {
					if r.Hit == nil && !strings.HasPrefix(string(r.Stdout), "applied ") {
						t.Errorf("undisturbed, it says %q", r.Stdout)
					}
					settles(t, dir, 111, r)
				})
			})
		}
	}
}

// The recovery from a kill may be killed too, at any step.
func TestFoldAndItsRecoveryMayBothBeKilled(t *testing.T) {
	t.Parallel()
	if err := inject.Available(); err != nil {
		t.Skipf("system calls cannot be intercepted: %v", err)
	}
	command := func(dir string) inject.Command {
		return inject.Command{Path: os.Args[0], Args: []string{dir, "tool", "small"}, Env: append(os.Environ(), roleVar+"=set")}
	}
	calls := []string{"renameat", "unlinkat", "fsync", "linkat", "ftruncate"}
	for first := 1; ; first++ {
		ended := false
		for second := 1; ; second++ {
			dir, w := newSetters(t)
			threePending(t, w)
			w.Close()
			a, err := inject.Run(t.Context(), command(dir), inject.Plan{Marked: true, Calls: calls, Action: inject.KillBefore, At: first})
			if err != nil {
				t.Fatal(err)
			}
			b, err := inject.Run(t.Context(), command(dir), inject.Plan{Marked: true, Calls: calls, Action: inject.KillBefore, At: second})
			if err != nil {
				t.Fatal(err)
			}
			w = openSetter(t, dir, "tool", nil)
			update(t, w, ops(op("peak", schema.VerbRaise, "1")))
			if got := values(t, w, "n")["n"]; got != "111" {
				t.Fatalf("n is %s, want 111, after a run that was %v and one that was %v", got, a, b)
			}
			w.Close()
			ended = a.Hit == nil
			if b.Hit == nil || ended {
				break
			}
		}
		if ended {
			return
		}
	}
}

// ordered returns the calls of a fold by another process, in order.
func ordered(t *testing.T, owner, field string, prepare func(t *testing.T, dir string)) (calls []inject.Call) {
	t.Helper()
	if err := inject.Available(); err != nil {
		t.Skipf("system calls cannot be intercepted: %v", err)
	}
	dir, w := newSetters(t)
	w.Close()
	prepare(t, dir)
	command := inject.Command{Path: os.Args[0], Args: []string{dir, owner, field}, Env: append(os.Environ(), roleVar+"=set")}
	r, err := inject.Run(t.Context(), command, inject.Plan{Marked: true, Calls: []string{"renameat", "renameat2", "unlinkat", "fsync", "linkat"}})
	if err != nil || len(r.Stdout) == 0 {
		t.Fatalf("%v; stderr %s", err, r.Stderr)
	}
	return r.Calls
}

// position returns where the first call of the name on a path that ends with
// path is, from the start on, or -1.
func position(calls []inject.Call, start int, name, path string) int {
	for i := max(start, 0); i < len(calls); i++ {
		if calls[i].Name == name && slices.ContainsFunc(calls[i].Paths, func(p string) bool { return strings.HasSuffix(p, path) }) {
			return i
		}
	}
	return -1
}

// After power loss a file may be what it was at any moment since its last sync.
// So the steps of a fold have an order, also for owners whose commits need not
// survive that.
func TestStepsAreSyncedInOrder(t *testing.T) {
	onePending := func(t *testing.T, dir string) {
		deferUpdate(t, openSetter(t, dir, "light", nil), op("ticks", schema.VerbAdd, "1"))
	}
	foldSynced := func(calls []inject.Call) bool {
		renamed := position(calls, 0, "renameat", "light.json")
		synced := position(calls, renamed, "fsync", "/state")
		return renamed >= 0 && synced > renamed && synced < position(calls, renamed, "unlinkat", ".json")
	}
	unlinkSynced := func(calls []inject.Call) bool {
		gone := position(calls, position(calls, 0, "renameat", "light.json"), "unlinkat", ".json")
		return gone >= 0 && position(calls, gone, "fsync", "light.pending") > gone
	}
	folded := func(t *testing.T, dir string) {
		onePending(t, dir)
		update(t, openSetter(t, dir, "light", nil), ops())
	}
	dropSynced := func(calls []inject.Call) bool {
		synced := position(calls, 0, "fsync", "light.pending")
		return synced >= 0 && synced < position(calls, 0, "renameat", "light.json")
	}
	left := func(t *testing.T, dir string) {
		w := openSetter(t, dir, "tool", nil)
		threePending(t, w)
		leaveOver(t, w)
	}
	leftPublished := func(calls []inject.Call) bool {
		renamed := position(calls, 0, "renameat", "tool.json")
		return renamed >= 0 && renamed < position(calls, 0, "unlinkat", ".json")
	}
	for _, law := range []struct {
		name, owner, field string
		prepare            func(*testing.T, string)
		holds              func([]inject.Call) bool
	}{
		{"a fold is synced before it unlinks", "light", "ticks", onePending, foldSynced},
		{"unlinking is synced", "light", "ticks", onePending, unlinkSynced},
		{"an id is dropped when its file cannot come back", "light", "ticks", folded, dropSynced},
		{"what is left over is published again before it is unlinked", "tool", "n", left, leftPublished},
	} {
		t.Run(law.name, func(t *testing.T) {
			if calls := ordered(t, law.owner, law.field, law.prepare); !law.holds(calls) {
				t.Errorf("it is not so: %v", calls)
			}
		})
	}
}

// A Writer that has made sure that the files of a fold are gone drops the ids
// without another sync, which would make each commit after a fold half as slow
// again; but not if another Writer has folded since.
func TestAWriterSyncsTheFilesOfAFoldOnce(t *testing.T) {
	if err := inject.Available(); err != nil {
		t.Skipf("system calls cannot be intercepted: %v", err)
	}
	for name, tc := range map[string]struct {
		args  []string
		syncs int // of the directory of patches
	}{
		"alone":          {nil, 1},                         // of its own fold
		"one in between": {[]string{"between"}, 1 + 3 + 1}, // of the other: to acknowledge the patch, to drop, to fold
	} {
		t.Run(name, func(t *testing.T) {
			dir, w := newSetters(t)
			deferUpdate(t, w, op("n", schema.VerbAdd, "3"))
			w.Close()
			command := inject.Command{Path: os.Args[0], Args: append([]string{dir}, tc.args...), Env: append(os.Environ(), roleVar+"=settwice")}
			r, err := inject.Run(t.Context(), command, inject.Plan{Marked: true, Calls: []string{"fsync"}})
			if err != nil || string(r.Stdout) != "applied, <nil>; applied, <nil>" {
				t.Fatalf("%v; %s%s", err, r.Stdout, r.Stderr)
			}
			syncs := 0
			for i := position(r.Calls, 0, "fsync", "tool.pending"); i >= 0; i = position(r.Calls, i+1, "fsync", "tool.pending") {
				syncs++
			}
			if syncs != tc.syncs {
				t.Errorf("%d syncs of the patches, want %d: %v", syncs, tc.syncs, r.Calls)
			}
		})
	}
}

// A process that cannot make sure that the files of what it folded stay gone
// commits no more: its next sync could say so, and that would be no answer about
// this one.
func TestNoCommitFollowsOneWhoseUnlinkingIsNotSynced(t *testing.T) {
	if err := inject.Available(); err != nil {
		t.Skipf("system calls cannot be intercepted: %v", err)
	}
	dir, w := newSetters(t)
	deferUpdate(t, w, op("n", schema.VerbAdd, "3"))
	w.Close()
	command := inject.Command{Path: os.Args[0], Args: []string{dir}, Env: append(os.Environ(), roleVar+"=settwice")}
	r, err := inject.Run(t.Context(), command, inject.Plan{Marked: true, Action: inject.Fail, Errno: syscall.EIO, At: 1, Calls: []string{"fsync"}, Only: func(c inject.Call) bool {
		return slices.ContainsFunc(c.Paths, func(p string) bool { return strings.HasSuffix(p, "tool.pending") })
	}})
	if err != nil || r.Hit == nil {
		t.Fatalf("%v (%v); stderr %s", r, err, r.Stderr)
	}
	first, second, _ := strings.Cut(string(r.Stdout), "; ")
	if first != "applied, <nil>" || !strings.Contains(second, "patches that are folded may come back after a crash") {
		t.Errorf("it says %q", r.Stdout)
	}
	if n := values(t, openSetter(t, dir, "tool", nil), "n")["n"]; n != "1003" {
		t.Errorf("n is %s", n)
	}
}

// A patch is on the disk, with its name, before anybody hears that it is set
// pending.
func TestPatchIsSyncedBeforeItIsAcknowledged(t *testing.T) {
	var other *Writer
	defer func() { other.lock.Release() }()
	calls := ordered(t, "tool", "n", func(t *testing.T, dir string) {
		other = openSetter(t, dir, "tool", nil)
		if err := other.lock.Acquire(t.Context(), time.Minute); err != nil {
			t.Fatal(err)
		}
	})
	linked := slices.IndexFunc(calls, func(c inject.Call) bool { return c.Name == "linkat" || c.Name == "renameat2" })
	if linked <= 0 || calls[linked-1].Name != "fsync" || position(calls, linked, "fsync", "tool.pending") < linked {
		t.Errorf("it is not so: %v", calls)
	}
}
