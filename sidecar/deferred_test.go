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
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
	"github.com/freehold-dev/freehold/sidecar/internal/pending"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/actor"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/google/go-cmp/cmp"
)

func TestPatchesSetPendingAreFoldedOnceByTheNextCommit(t *testing.T) {
	dir, w := newSetters(t)
	update(t, w, ops(op("n", schema.VerbAdd, "1"), op("tags", schema.VerbInsert, `"a"`)))
	first := deferUpdate(t, w, op("n", schema.VerbAdd, "10"), op("peak", schema.VerbRaise, "7"), op("tags", schema.VerbInsert, `"b"`), Op{Field: "own", Verb: schema.VerbAdd, Key: "k", Member: "uses", Value: []byte("2")})
	second := deferUpdate(t, w, op("n", schema.VerbAdd, "100"), op("peak", schema.VerbRaise, "5"), op("tags", schema.VerbInsert, `"c"`), Op{Field: "own", Verb: schema.VerbAdd, Key: "k", Member: "uses", Value: []byte("3")})
	for _, id := range []Version{first, second} {
		if got, err := Resolve(t.Context(), dir, "tool", id); got != Deferred || err != nil {
			t.Errorf("resolved as %v (%v), want deferred", got, err)
		}
	}
	c := update(t, w, ops(op("n", schema.VerbAdd, "1000")))
	if c.Outcome != Applied || c.Folded != 2 {
		t.Errorf("the next commit is %+v, want it to fold two patches", c)
	}
	want := map[string]string{"n": "1111", "peak": "7", "tags": `["a","b","c"]`, "own": `{"k":{"uses":5}}`}
	if diff := cmp.Diff(want, values(t, w, "n", "peak", "tags", "own")); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	nonePending(t, w)
	for _, id := range []Version{first, second} {
		if got, err := Resolve(t.Context(), dir, "tool", id); got != Applied || err != nil {
			t.Errorf("resolved as %v (%v), want applied", got, err)
		}
	}
	update(t, w, ops(op("n", schema.VerbAdd, "1")))
	if folded := w.last.Folded(); len(folded) > 0 {
		t.Errorf("the ids of files that are gone for good are still listed: %v", folded)
	}
}

func TestCommitThatChangesNothingFolds(t *testing.T) {
	_, w := newSetters(t)
	deferUpdate(t, w, op("n", schema.VerbAdd, "3"))
	c := update(t, w, ops())
	if c.Outcome != Unchanged || c.Folded != 1 || c.Version.IsZero() {
		t.Errorf("the commit is %+v", c)
	}
	if diff := cmp.Diff(map[string]string{"n": "3"}, values(t, w, "n")); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

// Pending patches by somebody is still that one's after the fold.
func TestFoldKeepsWhoSetPending(t *testing.T) {
	dir, w := newSetters(t)
	hook := openSetter(t, dir, "tool", &Options{Program: "hook"})
	deferUpdate(t, hook, op("n", schema.VerbAdd, "3"))
	c := update(t, w, ops(op("peak", schema.VerbRaise, "1")))
	_, by, _ := w.last.Field("n")
	if by.Program != "hook" || by.Version != c.Version {
		t.Errorf("n was written by %+v", by)
	}
	if _, by, _ := w.last.Field("peak"); by.Program == "hook" {
		t.Errorf("peak was written by %+v", by)
	}
}

func TestWriteOnlyTxRefusesToRead(t *testing.T) {
	_, w := newSetters(t)
	for name, read := range map[string]func(*Tx){
		"Get":       func(tx *Tx) { tx.Get("n") },
		"handle":    func(tx *Tx) { CounterOf(tx, "n", schema.Uint).Get() },
		"GetKey":    func(tx *Tx) { tx.GetKey("own", "k", "uses") },
		"Keys":      func(tx *Tx) { tx.Keys("own") },
		"Ref":       func(tx *Tx) { tx.Ref("own", "k") },
		"Has":       func(tx *Tx) { SetOf(tx, "tags", schema.String).Has("a") },
		"All":       func(tx *Tx) { SetOf(tx, "tags", schema.String).All() },
		"Version":   func(tx *Tx) { tx.Version() },
		"IfVersion": func(tx *Tx) { tx.IfVersion(Version{}) },
		"Adopted":   func(tx *Tx) { tx.Adopted("n") },
		"Adopt":     func(tx *Tx) { tx.Adopt("n") },
		"origin":    func(tx *Tx) { tx.Provenance("n") },
	} {
		t.Run(name, func(t *testing.T) {
			locked(t, w, func() {
				calls := 0
				_, err := w.Update(t.Context(), func(tx *Tx) error {
					calls++
					if !tx.WriteOnly() {
						t.Error("the Tx does not say that it only writes")
					}
					tx.Apply(op("n", schema.VerbAdd, "1"))
					read(tx)
					return nil
				})
				wantError(t, err, ErrBusy, "cannot depend")
				if calls != 1 {
					t.Errorf("the function was called %d times", calls)
				}
			})
		})
	}
	if names := pendingNames(t, w); len(names) > 0 {
		t.Errorf("deferred all the same: %v", names)
	}
	// The keys of others are read without a lock anyway.
	locked(t, w, func() {
		c := update(t, w, func(tx *Tx) error { tx.Keys("skills"); tx.Apply(op("n", schema.VerbAdd, "1")); return nil })
		if c.Outcome != Deferred {
			t.Errorf("the commit is %+v", c)
		}
	})
}

func TestMistakesAreRefusedWhenSetPending(t *testing.T) {
	_, w := newSetters(t)
	failed := errors.New("the function's own")
	for name, tc := range map[string]struct {
		fn   func(*Tx) error
		want error
	}{
		"value":      {ops(op("n", schema.VerbAdd, "-1")), ErrValue},
		"verb":       {ops(op("n", schema.VerbRaise, "1")), ErrValue},
		"type":       {ops(op("tags", schema.VerbInsert, "1")), ErrValue},
		"foreign":    {ops(op("by", schema.VerbAdd, "1")), ErrNotOwner},
		"no key":     {ops(Op{Field: "skills", Verb: schema.VerbAdd, Key: "gone", Member: "uses", Value: []byte("1")}), ErrNoKey},
		"a deletion": {ops(Op{Field: "own", Verb: schema.VerbDelete, Key: "k"}), ErrBusy},
		"a removal":  {ops(op("tags", schema.VerbRemove, `"a"`)), ErrBusy},
		"a version":  {func(tx *Tx) error { tx.Apply(op("n", schema.VerbAdd, "1")); tx.IfVersion(Version{}); return nil }, ErrBusy},
		"member":     {ops(Op{Field: "own", Verb: schema.VerbAdd, Key: "k", Member: "by", Value: []byte("1")}), ErrNotOwner},
		"gone":       {ops(Op{Field: "own", Verb: schema.VerbAdd, Key: "k", Member: "uses", At: Version{Epoch: 1, Revision: 1, Nonce: "0123456789abc"}, Value: []byte("1")}), ErrConflict},
		"own":        {func(*Tx) error { return failed }, failed},
	} {
		t.Run(name, func(t *testing.T) {
			locked(t, w, func() {
				c, err := w.Update(t.Context(), tc.fn)
				wantError(t, err, tc.want)
				if !same(c, Commit{}) {
					t.Errorf("the commit is %+v", c)
				}
			})
		})
	}
	locked(t, w, func() {
		if c := update(t, w, ops()); !same(c, Commit{Outcome: Unchanged}) {
			t.Errorf("a patch of nothing, before anything was written, is %+v", c)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Millisecond, cancel)
		_, err := w.Update(ctx, ops(op("n", schema.VerbAdd, "1")))
		wantError(t, err, context.Canceled)
	})
	if names := pendingNames(t, w); len(names) > 0 {
		t.Errorf("deferred: %v", names)
	}
	there := Op{Field: "own", Verb: schema.VerbInsert, Key: "k"}
	c := update(t, w, ops(there))
	locked(t, w, func() { // a key that is there need not be created
		if again := update(t, w, ops(there)); !same(again, Commit{Outcome: Unchanged, Version: c.Version}) {
			t.Errorf("a patch of nothing is %+v, and the sidecar at %v", again, c.Version)
		}
	})
}

func TestFullSpoolIsBusyAndLosesNothing(t *testing.T) {
	_, w := newSetters(t)
	deferUpdate(t, w, op("n", schema.VerbAdd, "1"))
	a := openPending(t, w)
	for n := range MaxPending - 1 {
		if err := os.WriteFile(a.Path(fmt.Sprintf("x.%d.json", n)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	locked(t, w, func() {
		c, err := w.Update(t.Context(), ops(op("n", schema.VerbAdd, "1")))
		wantError(t, err, ErrBusy, "4096 pending patches already")
		if !same(c, Commit{}) {
			t.Errorf("the commit is %+v", c)
		}
	})
	for n := range MaxPending - 1 {
		a.Remove(fmt.Sprintf("x.%d.json", n))
	}
	locked(t, w, func() {
		_, err := w.Update(t.Context(), ops(op("tags", schema.VerbInsert, `"`+strings.Repeat("x", pending.MaxSize)+`"`)))
		wantError(t, err, ErrBusy, "more than the 65536 bytes")
	})
	if diff := cmp.Diff(map[string]string{"n": "1"}, values(t, w, "n")); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

func TestOverflowAtTheFoldIsRejectedAndReported(t *testing.T) {
	dir, _ := newSetters(t)
	var told []error
	w := openSetter(t, dir, "tool", &Options{Notice: func(err error) { told = append(told, err) }})
	update(t, w, ops(op("small", schema.VerbAdd, "9223372036854775807")))
	id := deferUpdate(t, w, op("n", schema.VerbAdd, "5"))
	deferUpdate(t, w, op("n", schema.VerbAdd, "1"), op("small", schema.VerbAdd, "1"))
	c := update(t, w, ops(op("peak", schema.VerbRaise, "1")))
	if c.Folded != 1 {
		t.Errorf("the commit is %+v", c)
	}
	if diff := cmp.Diff(map[string]string{"n": "5", "small": "9223372036854775807"}, values(t, w, "n", "small")); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	if len(told) != 1 {
		t.Fatalf("told %v", told)
	}
	wantError(t, told[0], schema.ErrOverflow, "rejected", filepath.Join(dir, ".freehold", "quarantine"))
	nonePending(t, w)
	if got, err := Resolve(t.Context(), dir, "tool", id); got != Applied || err != nil {
		t.Errorf("the other one resolved as %v (%v)", got, err)
	}
	kept, err := filepath.Glob(filepath.Join(dir, ".freehold", "quarantine", "tool.pending.*.json"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept %v (%v)", kept, err)
	}
	lost := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(kept[0]), "tool.pending."), ".json")
	got, err := Resolve(t.Context(), dir, "tool", Version{Nonce: lost})
	if got != NotApplied {
		t.Errorf("resolved as %v", got)
	}
	wantError(t, err, store.Rejected, "does not fit")
}

// A commit that needs several versions of the sidecar publishes no other one once
// the Writer has come to its end, as after a failed sync of the patches.
func TestNoVersionFollowsTheEndOfTheWriter(t *testing.T) {
	dir, _ := newSetters(t)
	w := openSetter(t, dir, "tool", nil)
	update(t, w, ops(op("small", schema.VerbAdd, "9223372036854775807")))
	for range mostKept + 1 { // each is rejected
		deferUpdate(t, w, op("small", schema.VerbAdd, "1"))
	}
	deferUpdate(t, w, op("n", schema.VerbAdd, "1"))
	end, published := errors.New("the end"), 0
	failpoint.Set(func(step string) {
		switch step {
		case failpoint.FoldUnlinked:
			w.queue.poison(end)
		case failpoint.CommitPublished:
			published++
		}
	})
	defer failpoint.Set(nil)
	_, err := w.Update(t.Context(), ops(op("n", schema.VerbAdd, "1")))
	if wantError(t, err, end); published > 1 {
		t.Errorf("%d versions were published", published)
	}
}

// A patch is deferred if its file is there before and after the reading of the
// sidecar: a commit may take the patch in between.
func TestResolveLooksForThePatchTwice(t *testing.T) {
	dir, w := newSetters(t)
	id := deferUpdate(t, w, op("n", schema.VerbAdd, "5"))
	actor.At(t, failpoint.ResolveRead, func() { update(t, w, ops()) })
	if got, err := Resolve(t.Context(), dir, "tool", id); got != Applied || err != nil {
		t.Errorf("resolved as %v (%v), want applied", got, err)
	}
}

// A patch that an earlier commit has rejected, and was killed before it was gone,
// is not folded though it fits by now: whoever was told may have added by hand
// what is to count.
func TestWhatWasRejectedStaysOut(t *testing.T) {
	_, w := newSetters(t)
	id := deferUpdate(t, w, op("n", schema.VerbAdd, "5")).Nonce
	raw := readFile(t, openPending(t, w).Path(pendingNames(t, w)[0]))
	if _, err := w.dir.Quarantine().Reject(keptName("tool", id), []byte(raw), "it did not fit"); err != nil {
		t.Fatal(err)
	}
	if c := update(t, w, ops(op("n", schema.VerbAdd, "1"))); c.Folded != 0 {
		t.Errorf("the commit is %+v", c)
	}
	if diff := cmp.Diff(map[string]string{"n": "1"}, values(t, w, "n")); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	nonePending(t, w)
}

// An operation on an incarnation that was deleted meanwhile is left out: it came
// before the deletion. The others of its patch count.
func TestPatchMeansTheIncarnationThatThereWas(t *testing.T) {
	dir, _ := newSetters(t)
	var told []error
	w := openSetter(t, dir, "tool", &Options{Notice: func(err error) { told = append(told, err) }})
	maker := openSetter(t, dir, "maker", nil)
	create := func(key string) {
		update(t, maker, ops(Op{Field: "skills", Verb: schema.VerbSet, Key: key, Member: "by", Value: []byte(`"me"`)}))
	}
	use := func(key string) Op {
		return Op{Field: "skills", Verb: schema.VerbAdd, Key: key, Member: "uses", Value: []byte("1")}
	}
	create("a")
	create("b")
	id := deferUpdate(t, w, use("a"), use("b"))
	update(t, maker, ops(Op{Field: "skills", Verb: schema.VerbDelete, Key: "a"}))
	create("a")
	deferUpdate(t, w, use("a"))
	update(t, w, ops())
	update(t, w, func(tx *Tx) error {
		for key, want := range map[string]string{"a": "1", "b": "1"} {
			if raw, _ := tx.GetKey("skills", key, "uses"); string(raw) != want {
				t.Errorf("%s has %s uses, want %s", key, raw, want)
			}
		}
		return nil
	})
	if got, err := Resolve(t.Context(), dir, "tool", id); got != Applied || err != nil {
		t.Errorf("resolved as %v (%v)", got, err)
	}
	if kept, err := w.dir.Quarantine().Rejected(statedir.OwnerPending("tool")); kept != 0 || err != nil {
		t.Errorf("%d patches are rejected (%v)", kept, err)
	}
	if len(told) != 1 {
		t.Fatalf("told %v, want the operation that was left out", told)
	}
	wantError(t, told[0], ErrConflict, `key "a"`, "before the deletion")
}

// An owner's own keys: patches on one that is absent join the incarnation which
// the first of them, by id, creates.
func TestPatchesOnAnAbsentKeyShareItsIncarnation(t *testing.T) {
	dir, w := newSetters(t)
	use := Op{Field: "own", Verb: schema.VerbAdd, Key: "k", Member: "uses", Value: []byte("1")}
	first, second := deferUpdate(t, w, use), deferUpdate(t, w, use)
	if second.Nonce < first.Nonce { // patches are folded in the order of their ids
		first = second
	}
	update(t, w, ops(use))
	var ref Ref
	update(t, w, func(tx *Tx) error { ref, _ = tx.Ref("own", "k"); return nil })
	if ref.Incarnation.Nonce != first.Nonce {
		t.Errorf("the incarnation is %v, want that of patch %v", ref.Incarnation, first)
	}
	if diff := cmp.Diff(map[string]string{"own": `{"k":{"uses":3}}`}, values(t, w, "own")); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	// What a view showed before the fold is the same incarnation.
	use.At = first
	update(t, w, ops(use))
	use.At = Version{}
	late := deferUpdate(t, w, use)
	update(t, openSetter(t, dir, "tool", nil), ops(Op{Field: "own", Verb: schema.VerbDelete, Key: "k"}))
	if got, err := Resolve(t.Context(), dir, "tool", late); got != Applied || err != nil {
		t.Errorf("pending patches before the key was deleted: %v (%v)", got, err)
	}
	update(t, w, ops(Op{Field: "own", Verb: schema.VerbInsert, Key: "k"}))
	if diff := cmp.Diff(map[string]string{"own": `{"k":{}}`}, values(t, w, "own")); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

func TestLostPendingDirectoryIsRefusedUntilRepaired(t *testing.T) {
	dir, w := newSetters(t)
	path := filepath.Join(dir, ".freehold", "tool.pending")
	if err := os.Rename(path, path+".moved"); err != nil {
		t.Fatal(err)
	}
	_, err := w.Update(t.Context(), ops(op("n", schema.VerbAdd, "1")))
	wantError(t, err, store.Unreadable, "tool.pending", "state repair")
	if c := update(t, openSetter(t, dir, "light", nil), ops(op("ticks", schema.VerbAdd, "1"))); c.Outcome != Applied {
		t.Errorf("another owner's commit: %v", c.Outcome)
	}
}

// A patch that was put where nobody looks, since a directory was moved away, and
// perhaps another one stands there, is not said to be deferred. It counts if that
// is put back.
func TestAPatchWhereNobodyLooksIsNotAcknowledged(t *testing.T) {
	for what, moved := range map[string]struct {
		name  string
		again func(path string) error // what takes its place
		want  error
	}{
		"lost":                  {".freehold/tool.pending", func(string) error { return nil }, store.Lost},
		"replaced":              {".freehold/tool.pending", func(path string) error { return os.Mkdir(path, 0o700) }, store.Lost},
		"with all of its state": {"", func(path string) error { return Create(path, setters()) }, store.Moved},
	} {
		dir, w := newSetters(t)
		path := filepath.Join(dir, moved.name)
		locked(t, w, func() {
			failpoint.Set(func(step string) {
				if step != failpoint.PendingPut {
					return
				}
				failpoint.Set(nil)
				if err := errors.Join(os.Rename(path, path+".moved"), moved.again(path)); err != nil {
					t.Error(err)
				}
			})
			defer failpoint.Set(nil)
			c, err := w.Update(t.Context(), ops(op("n", schema.VerbAdd, "1")))
			wantError(t, err, ErrIndeterminate, path)
			wantError(t, err, moved.want)
			if c.Outcome != NotApplied || !c.Version.IsPending() {
				t.Errorf("%s: %+v", what, c)
			}
		})
		if err := errors.Join(os.RemoveAll(path), os.Rename(path+".moved", path)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]string{"n": "1"}, values(t, w, "n")); diff != "" {
			t.Errorf("%s, and put back (-want +got):\n%s", what, diff)
		}
	}
}

func TestWriterClosesAfterWhatIsBeingSetPending(t *testing.T) {
	_, w := newSetters(t)
	locked(t, w, func() {
		began, result := make(chan struct{}), make(chan error)
		go func() {
			_, err := w.Update(t.Context(), func(tx *Tx) error {
				close(began)
				tx.Apply(op("n", schema.VerbAdd, "1"))
				return nil
			})
			result <- err
		}()
		<-began
		go w.Close()
		if err := <-result; err != nil {
			t.Error(err)
		}
	})
}

// While the sidecar of the keys' owner cannot be used, a patch on one of its keys
// stays where it is; removals and deletions wait for it.
func TestPatchStaysWhileItsKeysCannotBeRead(t *testing.T) {
	dir, w := newSetters(t)
	maker := openSetter(t, dir, "maker", nil)
	update(t, maker, ops(Op{Field: "skills", Verb: schema.VerbSet, Key: "a", Member: "by", Value: []byte(`"me"`)}))
	update(t, w, ops(op("tags", schema.VerbInsert, `"x"`), Op{Field: "own", Verb: schema.VerbInsert, Key: "k"}))
	deferUpdate(t, w, Op{Field: "skills", Verb: schema.VerbAdd, Key: "a", Member: "uses", Value: []byte("1")})
	path := sidecarPath(dir, "maker")
	text := readFile(t, path)
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	update(t, w, ops(op("n", schema.VerbAdd, "1")))
	name := pendingNames(t, w)[0]
	for _, waits := range []Op{op("tags", schema.VerbRemove, `"x"`), {Field: "own", Verb: schema.VerbDelete, Key: "k"}} {
		_, err := w.Update(t.Context(), ops(waits))
		wantError(t, err, store.Unreadable, name)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	update(t, w, ops(op("tags", schema.VerbRemove, `"x"`)))
	nonePending(t, w)
	if diff := cmp.Diff(map[string]string{"skills": `{"a":{"uses":1}}`, "tags": "[]"}, values(t, w, "skills", "tags")); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

// A fold and a view go by the ids of patches, so that both reject the same one.
func TestFoldAndViewRejectTheSamePatch(t *testing.T) {
	for range 8 { // ids are random
		dir, w := newSetters(t)
		var patches []*pending.Patch
		for range 3 {
			deferUpdate(t, w, op("small", schema.VerbAdd, "9223372036854775807"))
		}
		for _, name := range pendingNames(t, w) {
			p, err := pending.Decode([]byte(readFile(t, openPending(t, w).Path(name))), name, "tool", w.manifest.StateID)
			if err != nil {
				t.Fatal(err)
			}
			patches = append(patches, p)
		}
		_, outs := pending.Overlay(w.manifest, "tool", document.New("tool", w.manifest.StateID), patches)
		update(t, w, ops())
		for _, p := range patches {
			outcome, _ := Resolve(t.Context(), dir, "tool", Version{Nonce: p.ID})
			if out := outs[p.ID] != nil; out != (outcome == NotApplied) {
				t.Errorf("patch %s: a view rejects it: %t, and it resolved as %v", p.ID, out, outcome)
			}
		}
	}
}
