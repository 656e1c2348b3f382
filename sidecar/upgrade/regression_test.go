package upgrade

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/scratch"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/google/go-cmp/cmp"
)

// regressible makes a state in which reset has committed once more than the
// sidecar older shows, and cost has observed that.
func regressible(t *testing.T) (dir string, older []byte) {
	t.Helper()
	dir = newDependent(t)
	older, err := os.ReadFile(filepath.Join(dir, "reset.json"))
	if err != nil {
		t.Fatal(err)
	}
	commit(t, dir, "reset", set("at", `"2026-08-12T09:12:44Z"`))
	observing(t, dir, "cost", "tokens", "5")
	statetest.Damaged(dir, "sidecar-regressed")
	return dir, older
}

// An upgrade is refused if an old copy was not accepted, whether the upgrade would
// rewrite that sidecar or not.
func TestARegressedSidecarRefusesTheUpgrade(t *testing.T) {
	nexts := map[string]*schema.Declaration{
		"written anew": dependent(needing(schema.TypeUint, "when"),
			map[string]spec{"reset": {"when": {Type: schema.TypeTime, Was: "at"}, "other": truth}}),
		"as it is":  dependent(needing(schema.TypeString, "at"), map[string]spec{"reset": {"at": instant, "other": truth}}),
		"moved":     dependent(needing(schema.TypeUint, "at"), map[string]spec{"reset": {"other": truth}, "clock": {"at": instant}}),
		"removed":   dependent(needing(schema.TypeUint), nil),
		"only more": dependent(needing(schema.TypeUint, "at"), map[string]spec{"reset": {"at": instant, "other": truth, "more": truth}}),
	}
	for how, c := range map[string]struct {
		damage func(file string, older []byte) error
		says   string
	}{
		"an older copy": {func(file string, older []byte) error { return os.WriteFile(file, older, 0o600) }, "an older copy was put back"},
		"gone":          {func(file string, _ []byte) error { return os.Remove(file) }, "it is gone"},
	} {
		for name, next := range nexts {
			t.Run(how+", "+name, func(t *testing.T) {
				dir, older := regressible(t)
				file := filepath.Join(dir, "reset.json")
				before, manifest := sidecars(t, dir), manifestText(t, dir)
				if err := errors.Join(c.damage(file, older), scratch.Unwitness(dir)); err != nil {
					t.Fatal(err)
				}
				for _, dry := range []bool{true, false} {
					_, err := Run(t.Context(), dir, next, &Options{DryRun: dry})
					wantError(t, err, store.Regressed, file, c.says, "owner cost had observed version", "accept reset")
				}
				after := sidecars(t, dir)
				delete(before, "reset.json")
				delete(after, "reset.json")
				if diff := cmp.Diff(before, after); diff != "" || manifestText(t, dir) != manifest {
					t.Errorf("something was changed (-before +after):\n%s", diff)
				}
				if _, err := sidecar.Accept(t.Context(), dir, "reset", nil); err != nil {
					t.Fatal(err)
				}
				upgraded(t, dir, next)
			})
		}
	}
}

// Two that have regressed are both named.
func TestEveryRegressedSidecarIsNamed(t *testing.T) {
	d := dependent(needing(schema.TypeUint, "at", "on"), map[string]spec{"reset": {"at": instant}, "clock": {"on": truth}})
	dir := create(t, d)
	commit(t, dir, "reset", set("at", `"2026-08-11T09:12:44Z"`))
	commit(t, dir, "clock", set("on", "true"))
	observing(t, dir, "cost", "tokens", "5")
	statetest.Damaged(dir, "sidecar-regressed")
	if err := errors.Join(os.Remove(filepath.Join(dir, "reset.json")), os.Remove(filepath.Join(dir, "clock.json"))); err != nil {
		t.Fatal(err)
	}
	_, err := Run(t.Context(), dir, dependent(needing(schema.TypeUint), nil), nil)
	wantError(t, err, store.Regressed, "clock.json: regressed", "reset.json: regressed")
}

func manifestText(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, ".freehold", "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A sidecar of before an upgrade that is put back has regressed, since the manifest
// knows the newer version. Once it is accepted or moved away, the owner goes on. A
// renamed field is not accepted unseen.
func TestSidecarOfBeforeAnUpgradeHasRegressed(t *testing.T) {
	for _, mode := range []schema.Mode{schema.Shared, schema.Exclusive} {
		declared := func(field string, f schema.Field) *schema.Declaration {
			return &schema.Declaration{State: "agent", Owners: map[string]schema.Owner{
				"reset": {Mode: mode, Fields: spec{field: f}}, "other": {Fields: spec{"n": {Type: schema.TypeUint}}},
			}}
		}
		next := declared("when", schema.Field{Type: schema.TypeTime, Was: "at"})
		last := declared("since", schema.Field{Type: schema.TypeTime, Was: "when"})
		at := func(field string) sidecar.Op { return set(field, `"2026-08-11T09:12:44Z"`) }
		for how, damage := range map[string]func(file string, older []byte) error{
			"put back": func(file string, older []byte) error { return os.WriteFile(file, older, 0o600) },
			"gone":     func(file string, _ []byte) error { return os.Remove(file) },
		} {
			t.Run(string(mode)+", "+how, func(t *testing.T) {
				dir := create(t, declared("at", instant))
				file := filepath.Join(dir, "reset.json")
				commit(t, dir, "reset", at("at"))
				older, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				upgraded(t, dir, next)
				commit(t, dir, "reset", at("when"))
				wantStatus(t, dir, store.OK)

				if err := errors.Join(damage(file, older), scratch.Unwitness(dir)); err != nil {
					t.Fatal(err)
				}
				wantStatus(t, dir, store.Regressed)
				if err := tryCommit(dir, "reset", at("when")); !errors.Is(err, store.Regressed) {
					t.Errorf("a commit over it: %v", err)
				}
				_, err = Run(t.Context(), dir, last, nil)
				wantError(t, err, store.Regressed, file, "an upgrade of the state has written version", "accept reset")

				_, err = sidecar.Accept(t.Context(), dir, "reset", nil)
				if how == "put back" { // the value would be lost, until there is a field of that name again
					wantError(t, err, sidecar.ErrNotOwner, "field at: ", "an upgrade of the state has removed or renamed it")
					_, err = sidecar.Quarantine(t.Context(), dir, "reset", nil)
				}
				if err != nil {
					t.Fatal(err)
				}
				commit(t, dir, "reset", at("when"))
				wantStatus(t, dir, store.OK)
				upgraded(t, dir, last)
				wantStatus(t, dir, store.OK)
			})
		}
	}
}

// The remembered version of a sidecar goes with its owner: a later owner of the same
// name begins with none.
func TestOwnerThatComesAgainHasNotRegressed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	declared := func(owner string, f schema.Field) *schema.Declaration {
		return &schema.Declaration{State: "agent", Owners: map[string]schema.Owner{owner: {Fields: spec{owner: f}}}}
	}
	if err := sidecar.Create(dir, declared("reset", instant)); err != nil {
		t.Fatal(err)
	}
	statetest.Healthy(t, dir)
	commit(t, dir, "reset", set("reset", `"2026-08-11T09:12:44Z"`))
	text := schema.Field{Type: schema.TypeString}
	for _, d := range []*schema.Declaration{declared("reset", text), declared("clock", text), declared("reset", text)} {
		upgraded(t, dir, d)
	}
	wantStatus(t, dir, store.Missing)
	commit(t, dir, "reset", set("reset", `"a"`))
	wantStatus(t, dir, store.OK)
}

// wantStatus holds the status of owner reset in a view.
func wantStatus(t *testing.T, dir string, want store.Status) {
	t.Helper()
	look(t, dir, func(v *reader.View) error {
		for _, o := range v.Owners() {
			if o.Name == "reset" && o.Status != want {
				t.Errorf("the sidecar is %s, want %s: %v", o.Status, want, o.Err)
			}
		}
		return nil
	})
}

// Near the last epoch an upgrade begins the last one; after it, it is refused.
func TestErrorsSayWhatToDoAfterTheLastEpoch(t *testing.T) {
	for epoch, ok := range map[uint64]bool{document.MaxEpoch - 1: true, document.MaxEpoch: false} {
		dir := newState(t)
		doc := stored(t, dir, "cost")
		doc.Commit(document.Version{Epoch: epoch, Revision: 1, Nonce: "000000000000v"}, time.Unix(0, 1), doc.Writer)
		raw, err := doc.Encode()
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "cost.json"), raw, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		before := sidecars(t, dir)
		_, err = Run(t.Context(), dir, younger(), nil)
		if !ok {
			said.Same(t, "no epoch is left", err, dir, "STATE")
			if diff := cmp.Diff(before, sidecars(t, dir)); diff != "" {
				t.Errorf("changed (-before +after):\n%s", diff)
			}
			if _, err := sidecar.Quarantine(t.Context(), dir, "cost", nil); err != nil {
				t.Fatal(err)
			}
			upgraded(t, dir, younger())
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if v := stored(t, dir, "cost").Version; v.Epoch != document.MaxEpoch {
			t.Errorf("the new sidecar is at version %v", v)
		}
	}
}

// An epoch that was begun and in which nothing was written is over, too.
func TestUpgradeGoesOnAboveALease(t *testing.T) {
	dir := newState(t)
	ahead := func() time.Time { return time.Now().Add(time.Hour) }
	w, err := sidecar.Open(t.Context(), dir, older(), "watchdog", &sidecar.Options{Clock: ahead})
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	status, err := sidecar.LeaseStatus(dir, "watchdog")
	if err != nil || status.Lease == nil {
		t.Fatalf("%+v (%v)", status, err)
	}
	upgraded(t, dir, younger())
	if v := stored(t, dir, "cost").Version; v.Epoch <= status.Lease.Epoch {
		t.Errorf("the new sidecar is at version %v, and an epoch %d was begun before", v, status.Lease.Epoch)
	}
}
