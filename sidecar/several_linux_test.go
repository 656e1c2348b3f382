package sidecar

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
	"github.com/freehold-dev/freehold/sidecar/internal/pending"
	"github.com/google/go-cmp/cmp"
)

// severalVersions is how many large patches are more than two versions of a
// sidecar fold.
const severalVersions = 45

// large is an operation of which one version has room for few; only the first
// changes anything.
var large = op("tags", schema.VerbInsert, `"`+strings.Repeat("x", 20_000)+`"`)

// inserted is the value of tags with last and the element of large.
var inserted = `["last",` + string(large.Value) + `]`

// newPile makes a state in which tool has deferred more than one version takes
// in: severalVersions patches that add 1 to n and insert last into its tags.
func newPile(t *testing.T) (dir string, w *Writer) {
	t.Helper()
	dir, w = newSetters(t)
	quick := openSetter(t, dir, "tool", &Options{Wait: -1})
	locked(t, w, func() {
		for range severalVersions {
			update(t, quick, ops(op("n", schema.VerbAdd, "1"), large, op("tags", schema.VerbInsert, `"last"`)))
		}
	})
	return dir, w
}

// A commit whose time is over folds what one version of the sidecar can, and
// then ends: what it folded stays so, its own changes are not applied, and the
// next goes on.
func TestCommitFoldsNoLongerThanItsTime(t *testing.T) {
	dir, _ := newPile(t)
	w := openSetter(t, dir, "tool", &Options{Wait: -1})
	folded, busy := 0, 0
	for {
		before := len(pendingNames(t, w))
		c, err := w.Update(t.Context(), func(tx *Tx) error {
			tx.Get("n") // which cannot be deferred
			tx.Apply(op("n", schema.VerbAdd, "1000"))
			return nil
		})
		if folded += c.Folded; c.Folded == 0 || len(pendingNames(t, w)) != before-c.Folded {
			t.Fatalf("with %d pending patches, %+v and %d are left (%v)", before, c, len(pendingNames(t, w)), err)
		}
		if err == nil {
			break
		}
		busy++
		wantError(t, err, ErrBusy, fmt.Sprintf("patches, %d are folded", c.Folded))
		if busy == 1 {
			said.Same(t, "deferred: more than there is time for", err, dir, "STATE")
		}
		if !same(c, Commit{Folded: c.Folded}) {
			t.Errorf("the commit is %+v", c)
		}
	}
	if folded != severalVersions || busy < 2 {
		t.Errorf("%d patches were folded, and %d calls were busy", folded, busy)
	}
	if diff := cmp.Diff(map[string]string{"n": fmt.Sprint(1000 + severalVersions), "tags": inserted}, values(t, w, "n", "tags")); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

// Fold goes on after a version of the sidecar whose time is over, until the limit,
// and without a limit until all patches are folded.
func TestFoldGoesOnUntilItsLimit(t *testing.T) {
	dir, _ := newPile(t)
	w := openSetter(t, dir, "tool", &Options{Wait: -1})
	first, err := w.Fold(t.Context(), 0)
	if wantError(t, err, ErrBusy); first.Folded == 0 || first.Folded == severalVersions {
		t.Errorf("with no time, %d patches were folded", first.Folded)
	}
	rest, err := w.Fold(t.Context(), -1)
	if err != nil || rest.Folded != severalVersions-first.Folded || len(pendingNames(t, w)) != 0 {
		t.Errorf("after %d, %+v, and %d are pending (%v)", first.Folded, rest, len(pendingNames(t, w)), err)
	}
	if none, err := w.Fold(t.Context(), -1); err != nil || none.Outcome != Unchanged || none.Version != w.last.Version {
		t.Errorf("with nothing to fold, %+v (%v)", none, err)
	}
	locked(t, w, func() {
		c, err := openSetter(t, dir, "tool", &Options{Wait: -1}).Fold(t.Context(), -1)
		if wantError(t, err, ErrBusy); !same(c, Commit{}) {
			t.Errorf("behind another holder of the lock, %+v", c)
		}
	})
}

// Of an owner that defers, a commit whose time is over is deferred, and
func TestCommitThatFoldsTooLongIsSetPendingItself(t *testing.T) {
	dir, w := newPile(t)
	c := update(t, openSetter(t, dir, "tool", &Options{Wait: -1}), ops(op("tags", schema.VerbInsert, `"last"`)))
	if c.Outcome != Deferred || !c.Version.IsPending() || c.Folded == 0 || c.Folded == severalVersions {
		t.Errorf("the commit is %+v", c)
	}
	if left := len(pendingNames(t, w)); left != severalVersions-c.Folded+1 {
		t.Errorf("%d are deferred after %+v", left, c)
	}
	want := map[string]string{"n": fmt.Sprint(severalVersions), "tags": inserted}
	if diff := cmp.Diff(want, map[string]string{"n": shown(t, w, "n"), "tags": shown(t, w, "tags")}); diff != "" {
		t.Errorf("a view (-want +got):\n%s", diff)
	}
	long := openSetter(t, dir, "tool", &Options{Wait: time.Minute})
	if diff := cmp.Diff(want, values(t, long, "n", "tags")); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	if outcome, err := Resolve(t.Context(), dir, "tool", c.Version); outcome != Applied || err != nil {
		t.Errorf("it resolved as %v (%v)", outcome, err)
	}
}

// Who calls a commit off while it folds pending patches ends it alone: those
// who share its Writer go on, and what they do comes after all of it.
func TestOthersGoOnWhenACommitIsCalledOff(t *testing.T) {
	dir, w := newPile(t)
	long := openSetter(t, dir, "tool", &Options{Wait: time.Minute})
	ctx, callOff := context.WithCancel(t.Context())
	type answer struct {
		Commit
		err error
	}
	first, second := make(chan answer, 1), make(chan answer, 1)
	locked(t, w, func() {
		for i, said := range []chan answer{first, second} {
			ctx := map[int]context.Context{0: ctx, 1: t.Context()}[i]
			go func() {
				c, err := long.Update(ctx, ops(op("n", schema.VerbAdd, "1000"), op("tags", schema.VerbInsert, `"last"`)))
				said <- answer{c, err}
			}()
			for in := 0; in != i+1; time.Sleep(time.Millisecond) {
				long.queue.mu.Lock()
				in = len(long.queue.waiting)
				long.queue.mu.Unlock()
			}
		}
		failpoint.Set(func(step string) {
			if step == failpoint.FoldUnlinked {
				callOff()
			}
		})
	})
	defer failpoint.Set(nil)
	off, on := <-first, <-second
	wantError(t, off.err, ErrBusy, "are folded, and the next commit goes on")
	wantError(t, off.err, context.Canceled)
	said.Same(t, "deferred: called off while more is folded", off.err, dir, "STATE")
	if off.Folded == 0 || !same(off.Commit, Commit{Folded: off.Folded}) {
		t.Errorf("what was called off is %+v", off.Commit)
	}
	if on.err != nil || on.Outcome != Applied || on.Folded != severalVersions-off.Folded {
		t.Errorf("the other is %+v (%v), after %+v", on.Commit, on.err, off.Commit)
	}
	if diff := cmp.Diff(map[string]string{"n": fmt.Sprint(1000 + severalVersions), "tags": inserted}, values(t, w, "n", "tags")); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

// What is rejected is kept durably, one patch after the other, so that this has
// its bound, too.
func TestCommitKeepsOutNoLongerThanItsTime(t *testing.T) {
	dir, w := newSetters(t)
	var told []error
	quick := openSetter(t, dir, "tool", &Options{Wait: -1, Notice: func(err error) { told = append(told, err) }})
	update(t, w, ops(op("small", schema.VerbAdd, "9223372036854775807")))
	locked(t, w, func() {
		for range mostKept + 3 {
			update(t, quick, ops(op("small", schema.VerbAdd, "1")))
		}
	})
	c := update(t, quick, ops(op("n", schema.VerbAdd, "1")))
	if left := len(pendingNames(t, w)); c.Outcome != Deferred || left != 4 || len(told) != mostKept {
		t.Errorf("the commit is %+v; %d are deferred, and %d were told", c, left, len(told))
	}
	update(t, quick, ops())
	if diff := cmp.Diff(map[string]string{"n": "1", "small": "9223372036854775807"}, values(t, w, "n", "small")); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	if names := pendingNames(t, w); len(names) > 0 || len(told) != mostKept+3 {
		t.Errorf("deferred still: %v; told %d", names, len(told))
	}
}

// Patches that this declaration does not know do not stand in the way of the
// others, however many they are and however little time there is.
func TestUnknownPatchesTakeNoTime(t *testing.T) {
	dir, w := newSetters(t)
	for n := range uint64(severalVersions) {
		p := &pending.Patch{ID: fmt.Sprintf("%013d", n), At: time.Now(), Ops: Patch{op("more", schema.VerbAdd, "3"), large}}
		raw, err := p.Encode("tool", w.manifest.StateID)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, ".freehold", "tool.pending", pending.Name(p.ID)), raw, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	deferUpdate(t, w, op("n", schema.VerbAdd, "1"))
	quick := openSetter(t, dir, "tool", &Options{Wait: -1})
	if c := update(t, quick, ops(op("n", schema.VerbAdd, "10"))); c.Outcome != Applied || c.Folded != 1 {
		t.Errorf("the commit is %+v", c)
	}
	more := setters()
	more.Owners["tool"].Fields["more"] = schema.Field{Type: schema.TypeUint, Kind: schema.Counter}
	newer, err := Open(t.Context(), dir, more, "tool", &Options{Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer newer.Close()
	if diff := cmp.Diff(map[string]string{"n": "11", "more": fmt.Sprint(3 * severalVersions)}, values(t, newer, "n", "more")); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

// Where files of the first version's patches cannot be removed, the next says
// still that it has them.
func TestPatchesThatCannotBeRemovedAreListedByEachVersion(t *testing.T) {
	dir, _ := newPile(t)
	var told []error
	w := openSetter(t, dir, "tool", &Options{Wait: time.Minute, Notice: func(err error) { told = append(told, err) }})
	file := filepath.Join(dir, ".freehold", "tool.pending", pendingNames(t, w)[0])
	text := readFile(t, file)
	failpoint.Set(func(step string) {
		if step == failpoint.FoldPublished {
			failpoint.Set(nil)
			if err := errors.Join(os.Remove(file), os.Mkdir(file, 0o700)); err != nil {
				t.Error(err)
			}
		}
	})
	defer failpoint.Set(nil)
	c := update(t, w, ops(op("n", schema.VerbAdd, "1000")))
	if c.Folded != severalVersions || len(told) == 0 {
		t.Errorf("the commit is %+v, and told %v", c, told)
	}
	if folded := w.last.Folded(); len(folded) != severalVersions {
		t.Errorf("the sidecar lists %d patches", len(folded))
	}
	if err := errors.Join(os.Remove(file), os.WriteFile(file, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	told = nil
	w = openSetter(t, dir, "tool", &Options{Notice: func(err error) { told = append(told, err) }})
	if diff := cmp.Diff(map[string]string{"n": fmt.Sprint(1000 + severalVersions)}, values(t, w, "n")); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	if names := pendingNames(t, w); len(names) > 0 || len(told) > 0 {
		t.Errorf("deferred still: %v; told %v", names, told)
	}
}
