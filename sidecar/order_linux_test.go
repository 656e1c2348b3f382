package sidecar

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
	"github.com/freehold-dev/freehold/sidecar/internal/inject"
	"github.com/google/go-cmp/cmp"
)

func init() { roles["tag"], roles["overtaken"] = roleTag, roleOvertaken }

// roleTag inserts or removes an element of tool's tags by a clock that is ahead
// of this machine's, and says the outcome.
func roleTag(args []string) error {
	ahead, err := time.ParseDuration(args[1])
	if err != nil {
		return err
	}
	w, err := Open(context.Background(), args[0], setters(), "tool", &Options{Wait: -1, Clock: func() time.Time { return time.Now().Add(ahead) }})
	if err != nil {
		return err
	}
	c, err := w.Update(context.Background(), ops(op("tags", Verb(args[2]), args[3])))
	fmt.Print(c.Outcome)
	return errors.Join(err, w.Close())
}

// shown returns what a view has of a field: what is set aside on top of the
// sidecar.
func shown(t *testing.T, w *Writer, field string) string {
	t.Helper()
	a, err := w.dir.OpenAside(w.owner)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	names, err := ListAside(a, w.manifest.StateID)
	if err != nil {
		t.Fatal(err)
	}
	patches := make([]*PatchAside, len(names))
	for i, name := range names {
		raw, err := a.ReadFile(name, nil, MaxPatch)
		if err == nil {
			patches[i], err = DecodePatchAside(raw, name, w.owner, w.manifest.StateID)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	mine := w.lookAt(w.owner, new(decider))
	if mine.err != nil {
		t.Fatal(mine.err)
	}
	patches = slices.DeleteFunc(patches, func(p *PatchAside) bool { return mine.doc.HasPassed(p.Number) || mine.doc.HasFolded(p.ID) })
	whole, outs := Overlay(w.manifest, w.dir.Path(), w.owner, mine.doc, patches)
	if len(outs) > 0 {
		t.Error(outs)
	}
	return string(whole.Value(field))
}

// What processes insert and remove one after another is there in that order,
// whatever their clocks say: in each view, after each fold, and where some
// waited for the lock and some did not.
func TestLaterUpdateWinsWhateverClocksSay(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	dir, w := newSetters(t)
	there := map[string]bool{}
	for range 40 {
		element, verb := fmt.Sprintf(`"%d"`, rng.IntN(3)), []Verb{Insert, Remove}[rng.IntN(2)]
		there[element] = verb == Insert
		play := func(want Outcome) {
			t.Helper()
			ahead := time.Duration(rng.IntN(7)-3) * time.Hour
			out, err := process(t, "tag", dir, ahead.String(), string(verb), element).Output()
			if err != nil || string(out) != want.String() && string(out) != Unchanged.String() {
				t.Fatalf("%s %s: %q (%v), want %v", verb, element, out, err, want)
			}
		}
		if rng.IntN(4) == 0 {
			play(Applied)
		} else {
			locked(t, w, func() { play(SetAside) })
		}
		var want []string
		for element, is := range there {
			if is {
				want = append(want, element)
			}
		}
		slices.Sort(want)
		list := "[" + strings.Join(want, ",") + "]"
		if got := shown(t, w, "tags"); got != list && (got != "" || len(want) > 0) {
			t.Fatalf("after %s %s the view shows %s, want %s", verb, element, got, list)
		}
		if rng.IntN(5) > 0 {
			continue
		}
		if got := values(t, w, "tags")["tags"]; got != list && (got != "" || len(want) > 0) {
			t.Fatalf("after %s %s and a fold there is %s, want %s", verb, element, got, list)
		}
	}
}

// A commit comes after all that was set aside before it began, also if that is
// more than one version of the sidecar takes in.
func TestCommitComesAfterWhatWasSetAsideBefore(t *testing.T) {
	_, w := newSetters(t)
	large := strings.Repeat("x", 20_000)
	locked(t, w, func() {
		for range 40 {
			update(t, w, ops(op("n", Add, "1"), op("tags", Remove, `"`+large+`"`), op("tags", Insert, `"last"`)))
		}
	})
	c := update(t, w, ops(op("tags", Remove, `"last"`)))
	if c.Outcome != Applied || c.Folded != 40 {
		t.Errorf("the commit is %+v", c)
	}
	if diff := cmp.Diff(map[string]string{"n": "40", "tags": "[]"}, values(t, w, "n", "tags")); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

// overtake lets another process set a patch aside that adds 10, and a fold take it
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
		if step != failpoint.AsideNumbered {
			return
		}
		failpoint.Set(nil)
		_, err := other.Update(ctx, ops(op("n", Add, "10")))
		holder.lock.Release()
		_, folded := other.Update(ctx, ops())
		if err = errors.Join(err, folded, holder.lock.Acquire(ctx, time.Minute), other.Close()); err != nil {
			panic(err)
		}
		after()
	})
	return nil
}

// roleOvertaken sets a patch aside that adds 1000 and whose number passes before it
// has its name.
func roleOvertaken(args []string) error {
	w, err := Open(context.Background(), args[0], setters(), "tool", &Options{Wait: -1})
	if err == nil {
		err = overtake(context.Background(), w, inject.Begin)
	}
	if err != nil {
		return err
	}
	c, err := w.Update(context.Background(), ops(op("n", Add, "1000")))
	inject.End()
	return printOutcome(c, err)
}

// A patch whose number has passed counts for nobody, so it is set aside again;
// without that, it is lost.
func TestPatchWhoseNumberHasPassedIsSetAsideAgain(t *testing.T) {
	for _, rule := range []string{"", failpoint.RulePassed} {
		t.Run("without "+rule, func(t *testing.T) {
			dir, w := newSetters(t)
			failpoint.Omit(rule)
			defer failpoint.Omit("")
			if err := overtake(t.Context(), w, func() {}); err != nil {
				t.Fatal(err)
			}
			defer failpoint.Set(nil)
			c := update(t, w, ops(op("n", Add, "1000")))
			if c.Outcome != SetAside {
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
			if diff := cmp.Diff([]string{asideName(w.manifest.StateID, 2)}, asideNames(t, w)); diff != "" {
				t.Errorf("set aside (-want +got):\n%s", diff)
			}
			if outcome, err := Resolve(t.Context(), dir, "tool", c.Version); outcome != SetAside || err != nil {
				t.Errorf("resolved as %v (%v)", outcome, err)
			}
		})
	}
}

// Whoever is killed while his number passes has set all aside or nothing, and
// leaves nothing behind that the next commit does not clear.
func TestSettingAsideLateStoppedAtEveryCallIsAllOrNothing(t *testing.T) {
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
				if r.Hit == nil && !strings.HasPrefix(string(r.Stdout), "set aside ") {
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
func passedJunk(t *testing.T, w *Writer) {
	t.Helper()
	setAside(t, w, op("n", Add, "10"))
	update(t, w, ops())
	p := &PatchAside{ID: "0000000000001", At: time.Now(), Ops: Patch{op("n", Add, "1000")}, Name: asideName(w.manifest.StateID, 1)}
	raw, err := p.encode("tool", w.manifest.StateID)
	if err == nil {
		err = os.WriteFile(filepath.Join(w.dir.Path(), ".freehold", "tool.aside", p.Name), raw, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// What counts for no view is never taken in: not by a fold, and not after the
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
			if names := asideNames(t, w); len(names) > 0 {
				t.Errorf("still set aside: %v", names)
			}
		})
	}
	t.Run("quarantine", func(t *testing.T) {
		dir, w := newSetters(t)
		passedJunk(t, w)
		setAside(t, w, op("peak", Raise, "7"))
		if _, err := Quarantine(t.Context(), dir, "tool", nil); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]string{"peak": "7"}, values(t, w, "n", "peak")); diff != "" {
			t.Errorf("values (-want +got):\n%s", diff)
		}
	})
}

// As long as its writer lives, who alone knows whether it is to be set aside
// again, nobody else removes a patch whose number has passed.
func TestPassedPatchStaysWhileItsWriterLives(t *testing.T) {
	_, w := newSetters(t)
	passedJunk(t, w)
	a, err := w.dir.OpenAside("tool")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	name := asideNames(t, w)[0]
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
	update(t, w, ops(op("peak", Raise, "1")))
	if gone, err := draft.Gone(); gone || err != nil {
		t.Errorf("it is gone: %t (%v)", gone, err)
	}
	if err := draft.Close(); err != nil {
		t.Fatal(err)
	}
	update(t, w, ops())
	if _, err := os.Lstat(a.Path(name)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

// A patch that this declaration does not know is taken in once, after those that
// came later, when one does; and nothing of it is lost when they are taken in.
func TestPatchThatWasLeftIsTakenInOnceLater(t *testing.T) {
	dir, w := newSetters(t)
	p := &PatchAside{ID: "0000000000001", At: time.Now(), Ops: Patch{op("more", Add, "3"), op("tags", Insert, `"x"`)}, Name: asideName(w.manifest.StateID, 1)}
	raw, err := p.encode("tool", w.manifest.StateID)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, ".freehold", "tool.aside", p.Name), raw, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	setAside(t, w, op("n", Add, "1"), op("tags", Remove, `"x"`))
	for range 2 {
		update(t, w, ops(op("n", Add, "10")))
		setAside(t, w, op("n", Add, "100"))
	}
	update(t, w, ops())
	if diff := cmp.Diff([]string{p.Name}, asideNames(t, w)); diff != "" {
		t.Errorf("set aside (-want +got):\n%s", diff)
	}
	more := setters()
	more.Owners["tool"].Fields["more"] = schema.Field{Type: schema.TypeUint, Kind: schema.Counter}
	newer, err := Open(t.Context(), dir, more, "tool", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer newer.Close()
	for range 2 {
		if diff := cmp.Diff(map[string]string{"n": "221", "more": "3", "tags": `["x"]`}, values(t, newer, "n", "more", "tags")); diff != "" {
			t.Errorf("values (-want +got):\n%s", diff)
		}
	}
	if names := asideNames(t, newer); len(names) > 0 {
		t.Errorf("still set aside: %v", names)
	}
}

// Patches that a release set aside which gave them no numbers come first, by the
// clocks of its processes.
func TestPatchesWithoutNumbersComeFirst(t *testing.T) {
	dir, w := newSetters(t)
	setAside(t, w, op("tags", Insert, `"a"`), op("tags", Remove, `"b"`))
	for i, op := range []Op{op("tags", Remove, `"a"`), op("tags", Insert, `"b"`), op("tags", Insert, `"c"`), op("tags", Remove, `"c"`)} {
		p := &PatchAside{ID: fmt.Sprintf("%013d", i), At: time.Now().Add(time.Duration(-i) * time.Hour), Ops: Patch{op}, Name: fmt.Sprintf("00000000000ab.%d.json", i)}
		raw, err := p.encode("tool", w.manifest.StateID)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, ".freehold", "tool.aside", p.Name), raw, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := shown(t, w, "tags"); got != `["a","c"]` {
		t.Errorf("a view shows %s", got)
	}
	if diff := cmp.Diff(map[string]string{"tags": `["a","c"]`}, values(t, w, "tags")); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

// Whoever lists what is set aside, while others add to it, sees all up to one
// number.
func TestListOfPatchesHasNoGaps(t *testing.T) {
	_, w := newSetters(t)
	a, err := w.dir.OpenAside("tool")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	const most = 3000
	added := make(chan error, 1)
	go func() {
		for n := range uint64(most) {
			if err := os.WriteFile(a.Path(asideName(w.manifest.StateID, n+1)), nil, 0o600); err != nil {
				added <- err
				return
			}
		}
		added <- nil
	}()
	other, err := w.dir.OpenAside("tool") // with a place in the directory of its own
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for n := 0; n < most; {
		names, err := ListAside(other, w.manifest.StateID)
		if err != nil {
			t.Fatal(err)
		}
		if last := lastOf(names, w.manifest.StateID); last != uint64(len(names)) {
			t.Fatalf("of %d patches listed, the last has the number %d", len(names), last)
		}
		n = len(names)
		select {
		case err := <-added:
			if added <- nil; err != nil {
				t.Fatal(err)
			}
		default:
		}
	}
}

// A patch means the incarnation of its owner's key that its writer saw, also if
// the key is deleted and created again before the patch has its number: then it
// is kept out. One whose writer saw none means the one that there is then, or
// creates it.
func TestPatchMeansTheIncarnationThatItsWriterSaw(t *testing.T) {
	use := Op{Field: "own", Verb: Add, Key: "k", Member: "uses", Value: []byte("1")}
	create, remove := Op{Field: "own", Verb: Add, Key: "k", Member: "uses", Value: []byte("10")}, Op{Field: "own", Verb: Delete, Key: "k"}
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
				if step == failpoint.AsideNumbered {
					failpoint.Set(nil)
					holder.lock.Release()
					commit(tc.meanwhile)
				}
			})
			defer failpoint.Set(nil)
			c := update(t, late, ops(use))
			if c.Outcome != SetAside {
				t.Fatalf("the commit is %+v", c)
			}
			if diff := cmp.Diff(map[string]string{"own": tc.want}, values(t, w, "own")); diff != "" {
				t.Errorf("values (-want +got):\n%s", diff)
			}
			outcome, err := Resolve(t.Context(), dir, "tool", c.Version)
			if kept := errors.Is(err, ErrKeptOut); outcome != Applied || kept != tc.kept || len(told) > 0 != tc.kept {
				t.Errorf("resolved as %v (%v), and told %v", outcome, err, told)
			}
			if names := asideNames(t, w); len(names) > 0 {
				t.Errorf("still set aside: %v", names)
			}
		})
	}
}
