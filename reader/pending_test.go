package reader

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/scratch/document"
	"github.com/freehold-dev/freehold/sidecar/scratch/statedir"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/google/go-cmp/cmp"
)

func TestViewShowsWhatIsSetPending(t *testing.T) {
	s := newSpooling(t)
	r := s.reader()
	first := s.pending(add("n", "5"), use("deploy"))
	v := s.view(r)
	if got := raw(v, "n"); got != "5" {
		t.Errorf("n is %s before anything was committed", got)
	}
	if o, _ := v.Owner("tool"); o.Status != store.Missing || o.Pending != 1 || o.PendingErr != nil {
		t.Errorf("the owner is %+v", o)
	}
	s.commit(s.worker, add("n", "10"))
	id := s.pending(add("n", "100"), use("deploy"))
	before := s.view(r)
	if got := []string{raw(before, "n"), raw(before, "skills")}; !cmp.Equal(got, []string{"115", `{"deploy":{"uses":2}}`}) {
		t.Errorf("the view shows %v", got)
	}
	if o, _ := before.Owner("tool"); o.Status != store.OK || o.Pending != 1 {
		t.Errorf("the owner is %+v", o)
	}
	p, ok := before.Field("n").Provenance()
	if !ok || p.Program != "hook" || !p.Version.IsPending() || p.Version.Nonce != id {
		t.Errorf("n comes from %+v, want patch %s of hook", p, id)
	}
	if again := s.view(r); again != before {
		t.Error("an unchanged view is made anew")
	}
	if other := s.view(s.reader()); other.ID() != before.ID() {
		t.Errorf("two readers of one cut name it %s and %s", other.ID(), before.ID())
	}
	text, err := before.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Provenance map[string]struct {
			Deferred string `json:"pending_patch"`
		}
		Owners map[string]struct{ Pending *int }
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if got.Provenance["n"].Deferred != id || got.Owners["tool"].Pending == nil || *got.Owners["tool"].Pending != 1 || got.Owners["maker"].Pending != nil {
		t.Errorf("the view as JSON does not say pending patches:\n%s", text)
	}
	s.commit(s.worker)
	after := s.view(r)
	if raw(after, "n") != "115" || raw(after, "skills") != raw(before, "skills") || after.ID() == before.ID() {
		t.Errorf("after the fold n is %s, skills %s", raw(after, "n"), raw(after, "skills"))
	}
	if p, _ := after.Field("n").Provenance(); p.Program != "hook" || p.Version.IsPending() {
		t.Errorf("n comes from %+v", p)
	}
	if got, err := sidecar.Resolve(t.Context(), s.dir, "tool", sidecar.Version{Nonce: first}); got != sidecar.Applied || err != nil {
		t.Errorf("%v (%v)", got, err)
	}
}

func TestViewSaysWhichPatchesItDoesNotShow(t *testing.T) {
	s := newSpooling(t)
	s.commit(s.worker, add("small", "9223372036854775807"), add("n", "1"))
	s.hold(func() {
		s.busy(add("small", "1"), add("n", "10"))
		s.busy(add("n", "100"))
	})
	path := filepath.Join(s.dir, ".freehold", "tool.pending")
	if err := os.WriteFile(filepath.Join(path, "zz.1.json"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := s.reader()
	v := s.view(r)
	if got := raw(v, "n"); got != "101" {
		t.Errorf("n is %s", got)
	}
	o, _ := v.Owner("tool")
	if o.Pending != 3 || o.Status != store.OK || o.PendingErr == nil || !strings.Contains(o.PendingErr.Error(), "does not fit") || !strings.Contains(o.PendingErr.Error(), "zz.1.json") {
		t.Errorf("the owner is %+v", o)
	}
	if err := os.Rename(path, path+".moved"); err != nil {
		t.Fatal(err)
	}
	v = s.view(r)
	if o, _ := v.Owner("tool"); o.Status != store.Unreadable || !strings.Contains(o.Err.Error(), "tool.pending") {
		t.Errorf("the owner is %+v", o)
	}
	if got := raw(v, "n"); !strings.Contains(got, "unreadable") {
		t.Errorf("n is %s", got)
	}
}

// During the view, after the reader has read pending patches, one commit folds the
// patch and another one drops its id.
func TestViewCountsAPatchOnceThatIsFoldedMeanwhile(t *testing.T) {
	s := newSpooling(t)
	r := s.reader()
	s.view(r)
	s.pending(add("n", "1"))
	statedir.OnPatchesRead(func() {
		statedir.OnPatchesRead(nil)
		s.commit(s.worker, add("n", "10"))
		s.commit(s.worker, add("n", "100"))
	})
	if got := raw(s.view(r), "n"); got != "111" {
		t.Errorf("n is %s, want 111", got)
	}
}

// Two views agree on what came first, a patch or the commit during which it was
// deferred, whatever happens between the readings of the two.
func TestViewsAgreeOnWhatCameFirst(t *testing.T) {
	s := newSpooling(t)
	r, other := s.reader(), s.reader()
	s.view(r)
	statedir.OnPatchesRead(func() {
		statedir.OnPatchesRead(nil)
		_, err := s.worker.Update(t.Context(), func(tx *sidecar.Tx) error {
			s.busy(add("n", "1"))
			if got := raw(s.view(other), "n"); got != "1" {
				t.Errorf("before the commit n is %s", got)
			}
			tx.Apply(add("n", "100"))
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	v := s.view(r)
	if got := raw(v, "n"); got != "101" || v.Consistency() != Atomic {
		t.Errorf("n is %s, of a view that is %s; want 101, atomic", got, v.Consistency())
	}
}

// What is missing in a state that is removed while it is read is no view of it.
func TestAStateThatIsRemovedWhileItIsReadGivesNoView(t *testing.T) {
	s := newSpooling(t)
	s.commit(s.worker, add("n", "1"))
	r := s.reader()
	statedir.OnPatchesRead(func() {
		statedir.OnPatchesRead(nil)
		if err := os.Rename(s.dir, s.dir+".removed"); err != nil {
			t.Error(err)
		}
		if err := os.Remove(filepath.Join(s.dir+".removed", "tool.json")); err != nil {
			t.Error(err)
		}
	})
	if v, err := r.View(t.Context()); !errors.Is(err, store.Moved) {
		t.Errorf("the view is %v (%v)", v, err)
	}
}

// Pending patches has no version that stays, and one that could not be folded
// may come before it. So nothing that was computed from it counts as
// fresh, and nobody's sidecar is older than it.
func TestNothingComputedFromWhatIsSetPendingIsFresh(t *testing.T) {
	peak := schema.Field{Type: schema.TypeUint, Kind: schema.Max}
	d := &schema.Declaration{State: "usage", Owners: map[string]schema.Owner{
		"tool":  {Busy: schema.Busy{Wait: "1ms", Then: schema.Defer}, Fields: map[string]schema.Field{"n": {Type: schema.TypeUint, Kind: schema.Counter}, "peak": peak}},
		"judge": {Fields: map[string]schema.Field{"verdict": {Type: schema.TypeString, DependsOn: []string{"n"}}}},
	}}
	s := &spooling{TB: t, dir: filepath.Join(t.TempDir(), "state")}
	open := func(owner string, clock func() time.Time) *sidecar.Writer {
		w, err := sidecar.Open(context.Background(), s.dir, d, owner, &sidecar.Options{Create: true, Program: "hook", Clock: clock})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { w.Close() })
		return w
	}
	s.worker, s.hook = open("tool", nil), open("tool", nil)
	judge := open("judge", nil)
	r := s.reader()
	decide := func() *View {
		t.Helper()
		seen, err := s.view(r).ObserveFor("verdict")
		if err != nil {
			t.Fatal(err)
		}
		s.commit(judge, sidecar.Op{Field: "verdict", Verb: schema.VerbSet, Value: []byte(`"ok"`), Seen: seen})
		return s.view(r)
	}
	want := func(v *View, verdict Verdict, says ...string) {
		t.Helper()
		f := v.Field("verdict").Freshness()
		if f.Verdict != verdict {
			t.Errorf("%s (%s), want %s", f.Verdict, f.Says, verdict)
		}
		for _, text := range says {
			if !strings.Contains(f.Says, text) {
				t.Errorf("%q does not say %q", f.Says, text)
			}
		}
		for _, o := range v.Owners() {
			if o.Status != store.OK && o.Status != store.Missing {
				t.Errorf("owner %s is %s: %v", o.Name, o.Status, o.Err)
			}
		}
	}
	id := s.pending(add("n", "1")) // of an owner that has no sidecar yet
	want(decide(), Stale, "patch "+id, "deferred")
	s.hook = open("tool", func() time.Time { return time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC) })
	s.pending(add("n", "10")) // by a clock that is behind
	if v := s.view(r); raw(v, "n") != "11" {
		t.Errorf("n is %s", raw(v, "n"))
	} else {
		want(v, Stale)
	}
	s.commit(s.worker, sidecar.Op{Field: "peak", Verb: schema.VerbRaise, Value: []byte("1")})
	want(s.view(r), Stale, "patch "+id+", which was deferred")
	want(decide(), Fresh)

	// Whoever cannot be shown may be what changes it.
	lost := filepath.Join(s.dir, ".freehold", "tool.pending", "zz.1.json")
	if err := os.WriteFile(lost, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	v := s.view(r)
	want(v, Unknown, "may have changed", "tool")
	if f := v.Field("verdict").Freshness(); f.Reason != "dependency-unreadable" || f.Field != "n" {
		t.Errorf("it is %s because of %q", f.Reason, f.Field)
	}
	want(decide(), Unknown) // what was seen was not all
	s.commit(s.worker, add("n", "1"))
	want(s.view(r), Stale) // a change that is certain outweighs it
	if err := os.Remove(lost); err != nil {
		t.Fatal(err)
	}
	want(decide(), Fresh)
}

// A file that a stranger puts among pending patches is read up to a bound, and
// hides nothing but this owner's fields.
func TestFloodOfFilesSetPendingIsNamedAndHidesNobodyElse(t *testing.T) {
	for name, flood := range map[string]func(path string) error{
		"files": func(path string) error {
			for n := range statedir.MostPending + 1 {
				if err := os.Symlink("nowhere", fmt.Sprintf("%s/.%d", path, n)); err != nil {
					return err
				}
			}
			return nil
		},
		"bytes": func(path string) error {
			for n := range statedir.MostPendingBytes/document.MaxPatch + 1 {
				at := fmt.Sprintf("%s/%d", path, n)
				if err := errors.Join(os.WriteFile(at, nil, 0o600), os.Truncate(at, document.MaxPatch)); err != nil {
					return err
				}
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSpooling(t)
			if err := flood(filepath.Join(s.dir, ".freehold", "tool.pending")); err != nil {
				t.Fatal(err)
			}
			v := s.view(s.reader())
			status, _ := v.Owner("tool")
			if status.Status != store.Unreadable || !errors.Is(status.Err, store.ErrFlooded) {
				t.Errorf("the owner is %v: %v", status.Status, status.Err)
			}
			if status, _ := v.Owner("maker"); status.Status != store.OK {
				t.Errorf("another owner is %v: %v", status.Status, status.Err)
			}
			_, err := s.worker.Update(context.Background(), func(tx *sidecar.Tx) error { return nil })
			if !errors.Is(err, store.Unreadable) || !errors.Is(err, store.ErrFlooded) {
				t.Errorf("a commit: %v", err)
			}
		})
	}
}

// A patch that a commit folds while a causal view is read counts once, though the
// sidecar has dropped its id by then.
func TestCausalViewCountsAPatchThatIsFoldedMeanwhileOnce(t *testing.T) {
	s := newSpooling(t)
	r := s.reader()
	r.rounds = 0
	s.pending(add("n", "1"))
	if v := s.view(r); raw(v, "n") != "1" || v.Consistency() != Causal {
		t.Fatalf("before it is folded, n is %s, of a view that is %s", raw(v, "n"), v.Consistency())
	}
	statedir.OnPatchesRead(func() {
		statedir.OnPatchesRead(nil)
		s.commit(s.worker, add("n", "10"))
		s.commit(s.worker, add("n", "100"))
	})
	if got := raw(s.view(r), "n"); got != "111" {
		t.Errorf("n is %s, want 111", got)
	}
}
