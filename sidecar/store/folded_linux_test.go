package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/apply"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
	"github.com/freehold-dev/freehold/sidecar/internal/pending"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
)

// deferringState makes a state whose owner cost defers.
func deferringState(t *testing.T) (*Store, *schema.Manifest) {
	t.Helper()
	d := &schema.Declaration{State: "agent", Owners: map[string]schema.Owner{"cost": {
		Busy:   schema.Busy{Then: schema.Defer},
		Fields: map[string]schema.Field{"turns": {Type: schema.TypeUint, Kind: schema.Counter}},
	}}}
	return stateOf(t, d)
}

// deferTurns defers a patch that adds n turns and returns it.
func deferTurns(t *testing.T, d *Store, m *schema.Manifest, n string) *pending.Patch {
	t.Helper()
	p := &pending.Patch{ID: process.NewNonce(), At: time.Unix(1e9, 0).UTC(), Writer: Writer{Program: "test", Identity: process.Self()}, Ops: apply.Patch{{Verb: apply.VerbAdd, Field: "turns", Value: []byte(n)}}}
	text, err := p.Encode("cost", m.StateID)
	if err != nil {
		t.Fatal(err)
	}
	write(t, d, filepath.Join(".freehold", FilesOf("cost").Pending, pending.Name(p.ID)), text)
	return p
}

func withTurns(n string, folded ...string) func(*document.Document, Provenance) {
	return func(doc *document.Document, by Provenance) {
		doc.Set("turns", []byte(n), by)
		doc.SetFolded(folded, folded)
	}
}

func TestFoldedOwnerHasThePendingPatchesOnce(t *testing.T) {
	d, m := deferringState(t)
	one := deferTurns(t, d, m, "1")
	deferTurns(t, d, m, "10")
	if o := d.Folded(m, "cost"); o.Status != Missing || string(o.Value("turns")) != "11" || o.Pending != 2 || len(o.Patches) != 2 || o.PendingErr != nil {
		t.Errorf("got %s: %s with %d pending (%v)", o.Status, o.Value("turns"), o.Pending, o.PendingErr)
	}
	write(t, d, "cost.json", sidecarText(t, "cost", m.StateID, 1, withTurns("101", one.ID)))
	o := d.Folded(m, "cost")
	if string(o.Value("turns")) != "111" || o.Pending != 1 || string(o.Document().Value("turns")) != "101" {
		t.Errorf("got %s with %d pending, in the sidecar %s", o.Value("turns"), o.Pending, o.Document().Value("turns"))
	}
	if alone := d.Owner(m, "cost"); string(alone.Value("turns")) != "101" || alone.Pending != 0 {
		t.Errorf("the sidecar alone has %s", alone.Value("turns"))
	}
}

// A commit that folds a patch between the two readings does not count it twice,
// nor lose it.
func TestFoldedOwnerNoticesAFoldBetweenItsReadings(t *testing.T) {
	d, m := deferringState(t)
	p := deferTurns(t, d, m, "1")
	write(t, d, "cost.json", sidecarText(t, "cost", m.StateID, 1, withTurns("10")))
	failpoint.PatchesRead = func() { // the sidecar has dropped the id already
		write(t, d, "cost.json", sidecarText(t, "cost", m.StateID, 3, withTurns("11")))
		if err := os.Remove(filepath.Join(d.Path(), ".freehold", FilesOf("cost").Pending, pending.Name(p.ID))); err != nil {
			t.Fatal(err)
		}
		failpoint.PatchesRead = nil
	}
	defer func() { failpoint.PatchesRead = nil }()
	if o := d.Folded(m, "cost"); string(o.Value("turns")) != "11" || o.Pending != 0 {
		t.Errorf("got %s with %d pending", o.Value("turns"), o.Pending)
	}
}

func TestBadPatchesAreNamedAndNotFolded(t *testing.T) {
	d, m := deferringState(t)
	deferTurns(t, d, m, "1")
	deferTurns(t, d, m, "18446744073709551615")
	write(t, d, filepath.Join(".freehold", FilesOf("cost").Pending, "notes.json"), []byte("{}\n"))
	o := d.Folded(m, "cost")
	if len(o.BadPatches) != 1 || status.Of(o.BadPatches[0].Err) != Foreign || RemedyOf(o.BadPatches[0].Err).IsZero() || o.Pending != 3 {
		t.Errorf("got %+v of %d pending", o.BadPatches, o.Pending)
	}
	if o.Err != nil || o.PendingErr == nil || !strings.Contains(o.PendingErr.Error(), "notes.json") || !strings.Contains(o.PendingErr.Error(), "does not fit") {
		t.Errorf("got %v, pending %v", o.Err, o.PendingErr)
	}
	write(t, d, "cost.json", []byte("{"))
	if o := d.Folded(m, "cost"); o.Status != Invalid || o.Pending != 3 || len(o.Patches) > 0 {
		t.Errorf("got %s with %d pending", o.Status, o.Pending)
	}
}

func TestOwnerOfLostPatchesIsUnreadable(t *testing.T) {
	d, m := deferringState(t)
	write(t, d, "cost.json", sidecarText(t, "cost", m.StateID, 1, withTurns("1")))
	if err := os.RemoveAll(filepath.Join(d.Path(), ".freehold", FilesOf("cost").Pending)); err != nil {
		t.Fatal(err)
	}
	o := d.Folded(m, "cost")
	if o.Status != Unreadable || o.Value("turns") != nil || !o.Version.IsZero() || RemedyOf(o.Err).Verb != status.Repair {
		t.Errorf("got %s: %v", o.Status, o.Err)
	}
}

// An owner with "then: fail" has no pending patches, even if
// there is a directory of them.
func TestOwnerThatDoesNotDeferHasNoPatchesRead(t *testing.T) {
	d, m := deferringState(t)
	write(t, d, "cost.json", sidecarText(t, "cost", m.StateID, 1, withTurns("1")))
	deferTurns(t, d, m, "10")
	fails := *m
	fails.Declaration.Owners = map[string]schema.Owner{"cost": {Fields: m.Declaration.Owners["cost"].Fields}}
	s := d.FoldedSource(m, "cost")
	if s.Look(); string(s.Owner().Value("turns")) != "11" {
		t.Fatalf("a deferring owner has %s", s.Owner().Value("turns"))
	}
	s.Follow(&fails)
	for range 2 {
		s.Look()
		if o := s.Owner(); o.Status != OK || string(o.Value("turns")) != "1" || o.Pending != 0 || s.Confirm() {
			t.Errorf("got %s: %s with %d pending", o.Status, o.Value("turns"), o.Pending)
		}
		if err := os.RemoveAll(filepath.Join(d.Path(), ".freehold", FilesOf("cost").Pending)); err != nil { // nor is it missed
			t.Fatal(err)
		}
	}
}

func TestFoldedSourceLooksAtPatchesToo(t *testing.T) {
	d, m := deferringState(t)
	s := d.FoldedSource(m, "cost")
	if !s.Look() || s.Look() {
		t.Error("a look at nothing does not tell one change")
	}
	p := deferTurns(t, d, m, "1")
	if !s.Look() || s.Look() || string(s.Owner().Value("turns")) != "1" || s.Owner() != s.Owner() {
		t.Error("a new patch is no change")
	}
	if err := os.Remove(filepath.Join(d.Path(), ".freehold", FilesOf("cost").Pending, pending.Name(p.ID))); err != nil {
		t.Fatal(err)
	}
	if !s.Confirm() || s.Owner().Value("turns") != nil || s.Look() {
		t.Error("a patch that is gone counts")
	}
}
