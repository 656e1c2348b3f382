package sidecar

import (
	"os"
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/apply"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// observeAt writes cost's tokens as one that had seen reset's field at v.
func observeAt(t *testing.T, dir string, v Version) {
	t.Helper()
	w, err := Open(t.Context(), dir, happening(), "cost", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	seen := apply.SeenOf(w.manifest.StateID, map[string]Version{"at": v})
	update(t, w, func(tx *Tx) error {
		tx.Apply(Op{Field: "tokens", Verb: schema.VerbSet, Value: []byte("5"), Seen: seen})
		return nil
	})
}

func happen(t *testing.T, w *Writer) Version {
	t.Helper()
	return update(t, w, func(tx *Tx) error {
		tx.Apply(Op{Field: "at", Verb: schema.VerbDone, Value: []byte(`"2026-08-11T09:00:00Z"`)})
		return nil
	}).Version
}

func clearIt(tx *Tx) error {
	tx.Apply(Op{Field: "cleared", Verb: schema.VerbSet, Value: []byte("true")})
	return nil
}

// A commit over a sidecar that was put back is refused, by the Writer that saw
// the newer one and by one that did not, until somebody accepts it.
func TestRestoredBackupTakesNoCommit(t *testing.T) {
	dir, w := newHappening(t, nil)
	happen(t, w)
	backup := readFile(t, sidecarPath(dir, "reset"))
	seen := happen(t, w)
	observeAt(t, dir, seen)
	update(t, w, clearIt) // what was observed is there: nothing is wrong
	if err := os.WriteFile(sidecarPath(dir, "reset"), []byte(backup), 0o600); err != nil {
		t.Fatal(err)
	}
	unwitness(t, dir)
	for _, w := range []*Writer{w, openReset(t, dir, nil)} {
		_, err := w.Update(t.Context(), clearIt)
		wantError(t, err, store.Regressed, "reset.json: regressed: it is at version", "owner cost had observed version "+seen.String(), "accept reset")
		_, err = EventOf(w, "at").Begin(t.Context())
		wantError(t, err, store.Regressed)
	}
	if got := readFile(t, sidecarPath(dir, "reset")); got != backup {
		t.Errorf("the backup became\n%s", got)
	}
	c, err := Accept(t.Context(), dir, "reset", nil)
	if err != nil || c.Outcome != Applied || c.Version.Epoch <= seen.Epoch {
		t.Fatalf("accepted %+v (%v), and version %v had been seen", c, err, seen)
	}
	if again, err := Accept(t.Context(), dir, "reset", nil); err != nil || again.Outcome != Unchanged {
		t.Errorf("accepted again: %+v (%v)", again, err)
	}
	update(t, openReset(t, dir, nil), clearIt)
}

// A commit that folds many patches is no older copy of the one before, which
// others have seen.
func TestManyPatchesFoldedHideNoCommit(t *testing.T) {
	dir := t.TempDir() + "/state"
	d := &schema.Declaration{State: "usage", Owners: map[string]schema.Owner{
		"tool":  {Busy: schema.Busy{Wait: "1ms", Then: schema.Defer}, Fields: map[string]schema.Field{"n": {Type: schema.TypeUint, Kind: schema.Counter}}},
		"after": {Fields: map[string]schema.Field{"of": {Type: schema.TypeUint, DependsOn: []string{"n"}}}},
	}}
	if err := Create(dir, d); err != nil {
		t.Fatal(err)
	}
	open := func(owner string) *Writer {
		w, err := Open(t.Context(), dir, d, owner, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { w.Close() })
		return w
	}
	tool, after := open("tool"), open("after")
	add := func(tx *Tx) error { tx.Apply(Op{Field: "n", Verb: schema.VerbAdd, Value: []byte("1")}); return nil }
	seen := apply.SeenOf(tool.manifest.StateID, map[string]Version{"n": update(t, tool, add).Version})
	update(t, after, func(tx *Tx) error {
		tx.Apply(Op{Field: "of", Verb: schema.VerbSet, Value: []byte("1"), Seen: seen})
		return nil
	})
	locked(t, tool, func() {
		for range document.MaxRecent {
			if c, err := tool.Update(t.Context(), add); err != nil || c.Outcome != Deferred {
				t.Fatalf("%+v (%v)", c, err)
			}
		}
	})
	if c := update(t, tool, add); c.Folded != document.MaxRecent {
		t.Fatalf("%+v", c)
	}
	update(t, tool, add)
}

// A sidecar that is gone though somebody has seen it is not begun anew, until
// somebody accepts that it is gone. What others have seen counts for the next
// epoch, also if the clock went back by decades.
func TestRemovedSidecarIsNotBegunAnewUnasked(t *testing.T) {
	dir, w := newHappening(t, &Options{Clock: backThen})
	seen := happen(t, w)
	seen.Epoch += 1000
	observeAt(t, dir, seen)
	remove(t, sidecarPath(dir, "reset"))
	unwitness(t, dir)
	back := &Options{Clock: backThen}
	for _, w := range []*Writer{w, openReset(t, dir, back)} {
		_, err := w.Update(t.Context(), clearIt)
		wantError(t, err, store.Regressed, "reset.json: regressed: it is gone, and owner cost had observed version "+seen.String(), "accept reset")
	}
	c, err := Accept(t.Context(), dir, "reset", back)
	if err != nil || c.Outcome != Applied || c.Version.Epoch <= seen.Epoch {
		t.Fatalf("accepted %+v (%v), and version %v had been seen", c, err, seen)
	}
	happen(t, openReset(t, dir, back))
}

// A sidecar that nobody has seen may be removed, and one that was moved aside is
// not missed by those who have.
func TestWhatIsMovedPendingIsNotMissed(t *testing.T) {
	dir, w := newHappening(t, &Options{Clock: backThen})
	happen(t, w)
	remove(t, sidecarPath(dir, "reset"))
	unwitness(t, dir)
	seen := happen(t, w)
	observeAt(t, dir, seen)
	spare := readFile(t, sidecarPath(dir, "reset"))
	if _, err := Quarantine(t.Context(), dir, "reset", &Options{Clock: backThen}); err != nil {
		t.Fatal(err)
	}
	observeAt(t, dir, seen) // by a token that was taken before
	if next := happen(t, openReset(t, dir, &Options{Clock: backThen})); next.Epoch <= seen.Epoch {
		t.Errorf("epoch %d after %d had been seen", next.Epoch, seen.Epoch)
	}
	if readFile(t, sidecarPath(dir, "reset")) == spare {
		t.Error("it is there as it was")
	}
}
