package sidecar

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
	"github.com/google/go-cmp/cmp"
)

func init() { roles["tag"] = roleTag }

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

// shown returns what a view has of a field: pending patches on top of the
// sidecar.
func shown(t *testing.T, w *Writer, field string) string {
	t.Helper()
	a, err := w.dir.OpenPending(w.owner)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	names, err := ListPending(a, w.manifest.StateID)
	if err != nil {
		t.Fatal(err)
	}
	patches := make([]*PendingPatch, len(names))
	for i, name := range names {
		raw, err := a.ReadFile(name, nil, MaxPatch)
		if err == nil {
			patches[i], err = DecodePendingPatch(raw, name, w.owner, w.manifest.StateID)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	mine := w.lookAt(w.owner, new(decider))
	if mine.err != nil {
		t.Fatal(mine.err)
	}
	patches = slices.DeleteFunc(patches, func(p *PendingPatch) bool { return mine.doc.HasPassed(p.Number) || mine.doc.HasFolded(p.ID) })
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
		element, verb := fmt.Sprintf(`"%d"`, rng.IntN(3)), []Verb{VerbInsert, VerbRemove}[rng.IntN(2)]
		there[element] = verb == VerbInsert
		play := func(want Outcome) {
			t.Helper()
			ahead := time.Duration(rng.IntN(7)-3) * time.Hour
			out, err := roleProcess(t, "tag", dir, ahead.String(), string(verb), element).Output()
			if err != nil || string(out) != want.String() && string(out) != Unchanged.String() {
				t.Fatalf("%s %s: %q (%v), want %v", verb, element, out, err, want)
			}
		}
		if rng.IntN(4) == 0 {
			play(Applied)
		} else {
			locked(t, w, func() { play(Deferred) })
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

// A commit comes after all that was deferred before it began, also if that is
// more than one version of the sidecar folds.
func TestCommitComesAfterWhatWasSetPendingBefore(t *testing.T) {
	dir, _ := newPile(t)
	w := openSetter(t, dir, "tool", &Options{Wait: time.Minute})
	c := update(t, w, ops(op("tags", VerbRemove, `"last"`)))
	if c.Outcome != Applied || c.Folded != severalVersions {
		t.Errorf("the commit is %+v", c)
	}
	if diff := cmp.Diff(map[string]string{"n": fmt.Sprint(severalVersions), "tags": "[]"}, values(t, w, "n", "tags")); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

// A patch that this declaration does not know is folded once, after those that
// came later, when one does; and nothing of it is lost when they are folded.
func TestPatchThatWasLeftIsFoldedOnceLater(t *testing.T) {
	dir, w := newSetters(t)
	p := &PendingPatch{ID: "0000000000001", At: time.Now(), Ops: Patch{op("more", VerbAdd, "3"), op("tags", VerbInsert, `"x"`)}, Name: pendingName(w.manifest.StateID, 1)}
	raw, err := p.encode("tool", w.manifest.StateID)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, ".freehold", "tool.pending", p.Name), raw, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	deferUpdate(t, w, op("n", VerbAdd, "1"), op("tags", VerbRemove, `"x"`))
	for range 2 {
		update(t, w, ops(op("n", VerbAdd, "10")))
		deferUpdate(t, w, op("n", VerbAdd, "100"))
	}
	update(t, w, ops())
	if diff := cmp.Diff([]string{p.Name}, pendingNames(t, w)); diff != "" {
		t.Errorf("deferred (-want +got):\n%s", diff)
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
	nonePending(t, newer)
}

// Patches that a release deferred which gave them no numbers come first, by the
// clocks of its processes.
func TestPatchesWithoutNumbersComeFirst(t *testing.T) {
	dir, w := newSetters(t)
	deferUpdate(t, w, op("tags", VerbInsert, `"a"`), op("tags", VerbRemove, `"b"`))
	for i, op := range []Op{op("tags", VerbRemove, `"a"`), op("tags", VerbInsert, `"b"`), op("tags", VerbInsert, `"c"`), op("tags", VerbRemove, `"c"`)} {
		p := &PendingPatch{ID: fmt.Sprintf("%013d", i), At: time.Now().Add(time.Duration(-i) * time.Hour), Ops: Patch{op}, Name: fmt.Sprintf("00000000000ab.%d.json", i)}
		raw, err := p.encode("tool", w.manifest.StateID)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, ".freehold", "tool.pending", p.Name), raw, 0o600)
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

// Whoever lists pending patches, while others add to it, sees all up to one
// number.
func TestListOfPatchesHasNoGaps(t *testing.T) {
	_, w := newSetters(t)
	a := openPending(t, w)
	const most = 3000
	added := make(chan error, 1)
	go func() {
		for n := range uint64(most) {
			if err := os.WriteFile(a.Path(pendingName(w.manifest.StateID, n+1)), nil, 0o600); err != nil {
				added <- err
				return
			}
		}
		added <- nil
	}()
	other, err := w.dir.OpenPending("tool") // with a place in the directory of its own
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for n := 0; n < most; {
		names, err := ListPending(other, w.manifest.StateID)
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

// putBack sets two patches pending, of which the first is moved away while a
// commit folds the second, and put back. It returns the patch that came back,
// and what the next commit is told.
func putBack(t *testing.T) (w *Writer, id string, told error) {
	t.Helper()
	dir, _ := newSetters(t)
	w = openSetter(t, dir, "tool", &Options{Notice: func(err error) { told = errors.Join(told, err) }})
	first := deferUpdate(t, w, op("n", VerbAdd, "1"))
	file := filepath.Join(dir, ".freehold", "tool.pending", pendingNames(t, w)[0])
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(file, moved); err != nil {
		t.Fatal(err)
	}
	text := readFile(t, moved)
	update(t, w, ops(op("n", VerbAdd, "100"))) // nothing is there: no number passes
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	deferUpdate(t, w, op("n", VerbAdd, "10"))
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	update(t, w, ops()) // folds the second
	if err := os.Rename(moved, file); err != nil {
		t.Fatal(err)
	}
	update(t, w, ops())
	return w, first.Nonce, told
}

// Pending patches, moved away and put back is not destroyed: it is kept where
// its owner is told to look.
func TestPatchThatIsPutBackTooLateIsKept(t *testing.T) {
	w, id, told := putBack(t)
	wantError(t, told, errPassed, "rejected")
	kept := readFile(t, filepath.Join(w.dir.Path(), ".freehold", "quarantine", keptName("tool", id)))
	if !strings.Contains(kept, id) {
		t.Errorf("what is kept is %q", kept)
	}
	if names := pendingNames(t, w); len(names) > 0 {
		t.Errorf("deferred still: %q", names)
	}
	if diff := cmp.Diff(map[string]string{"n": "110"}, values(t, w, "n")); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

// A meet is where a goroutine waits, once it has come, until it may go on.
type meet struct{ came, goOn chan struct{} }

func newMeet() meet { return meet{make(chan struct{}), make(chan struct{})} }

func (m meet) wait() {
	m.came <- struct{}{}
	<-m.goOn
}

// Of two writers that get the name of the same number after it has passed, one
// after the other, a fold may have read the patch of the first, who withdraws it.
// It leaves that of the second alone: else that one takes it for folded.
func TestFoldRemovesNoPatchThatFollowsAWithdrawnOne(t *testing.T) {
	dir, w := newSetters(t)
	holder := openSetter(t, dir, "tool", nil)
	if err := holder.lock.Acquire(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	atStep := func(step string, f func()) {
		failpoint.Set(func(hit string) {
			if hit == step {
				failpoint.Set(nil)
				f()
			}
		})
	}
	defer failpoint.Set(nil)
	late := func(value string) (numbered meet, ended chan error) { // its number is chosen, and it waits
		w := openSetter(t, dir, "tool", &Options{Wait: -1})
		numbered, ended = newMeet(), make(chan error, 1)
		atStep(failpoint.PendingNumbered, numbered.wait)
		go func() {
			_, err := w.Update(context.Background(), ops(op("n", VerbAdd, value)))
			ended <- err
		}()
		<-numbered.came
		return numbered, ended
	}
	first, firstEnded := late("1000")
	second, secondEnded := late("5000")
	update(t, openSetter(t, dir, "tool", &Options{Wait: -1}), ops(op("n", VerbAdd, "10")))
	if err := holder.lock.Release(); err != nil {
		t.Fatal(err)
	}
	update(t, w, ops()) // and their number passes
	firstPut, secondPut := newMeet(), newMeet()
	atStep(failpoint.PendingPut, firstPut.wait)
	close(first.goOn)
	<-firstPut.came
	atStep(failpoint.FoldPassed, func() {
		close(firstPut.goOn)
		if err := <-firstEnded; err != nil {
			t.Error(err)
		}
		atStep(failpoint.FoldListed, func() {
			atStep(failpoint.PendingPut, secondPut.wait)
			close(second.goOn)
			<-secondPut.came
		})
	})
	update(t, w, ops()) // reads what the first withdraws
	close(secondPut.goOn)
	if err := <-secondEnded; err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(map[string]string{"n": "6010"}, values(t, w, "n")); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}
