package upgrade

import (
	"context"
	"testing"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/google/go-cmp/cmp"
)

// dependent declares a state in which tokens, of owner cost, depends on fields
// of others; owners are those.
func dependent(tokens schema.Field, owners map[string]spec) *schema.Declaration {
	d := &schema.Declaration{State: "agent", Owners: map[string]schema.Owner{"cost": {Fields: spec{"tokens": tokens}}}}
	for owner, fields := range owners {
		d.Owners[owner] = schema.Owner{Fields: fields}
	}
	return d
}

var (
	instant = schema.Field{Type: schema.TypeTime}
	truth   = schema.Field{Type: schema.TypeBool}
)

func needing(t schema.Type, on ...string) schema.Field { return schema.Field{Type: t, DependsOn: on} }

// reset declares the state of newDependent: tokens depends on at, of owner reset.
func reset() *schema.Declaration {
	return dependent(needing(schema.TypeUint, "at"), map[string]spec{"reset": {"at": instant, "other": truth}})
}

// newDependent makes a state in which the writer of tokens has seen at.
func newDependent(t *testing.T) (dir string) {
	t.Helper()
	dir = create(t, reset())
	commit(t, dir, "reset", set("at", `"2026-08-11T09:12:44Z"`))
	observing(t, dir, "cost", "tokens", "5")
	return dir
}

// observing sets a dependent field of an owner with a token of a view.
func observing(t testing.TB, dir, owner, field, value string) {
	t.Helper()
	var seen sidecar.Seen
	look(t, dir, func(v *reader.View) (err error) {
		seen, err = v.ObserveFor(field)
		return err
	})
	commit(t, dir, owner, sidecar.Op{Field: field, Verb: schema.VerbSet, Value: []byte(value), Seen: seen})
}

func look(t testing.TB, dir string, at func(*reader.View) error) {
	t.Helper()
	r, err := reader.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	v, err := r.View(context.Background())
	if err == nil {
		err = at(v)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// fresh says whether tokens is, and why not.
func fresh(t *testing.T, dir string) (reason reader.Reason) {
	t.Helper()
	look(t, dir, func(v *reader.View) error {
		reason = v.Field("tokens").Freshness().Reason
		return nil
	})
	return reason
}

// A field that an upgrade removes was observed; one of that name that a later
// one declares was not, and its owner is not regressed.
func TestAFieldDeclaredAgainHasNotRegressed(t *testing.T) {
	alone := needing(schema.TypeUint)
	for name, without := range map[string]*schema.Declaration{
		"owner removed": dependent(alone, nil),
		"field removed": dependent(alone, map[string]spec{"reset": {"other": truth}}),
		"depends on another": dependent(needing(schema.TypeUint, "other"),
			map[string]spec{"reset": {"other": truth}}),
	} {
		for _, owner := range []string{"reset", "clock"} {
			t.Run(name+", comes back to "+owner, func(t *testing.T) {
				dir := newDependent(t)
				_, wrote, _ := stored(t, dir, "cost").Field("tokens")
				report := upgraded(t, dir, without)
				if diff := cmp.Diff("cost", report.Rewritten[0]); diff != "" {
					t.Errorf("written anew (-want +got):\n%s", diff)
				}
				if raw, by, _ := stored(t, dir, "cost").Field("tokens"); string(raw) != "5" || by != wrote {
					t.Errorf("tokens is %s by %+v, want 5 by %+v", raw, by, wrote)
				}
				if seen := stored(t, dir, "cost").Observed("tokens"); seen != nil {
					t.Errorf("tokens has observed %v still", seen)
				}
				upgraded(t, dir, dependent(needing(schema.TypeUint, "at"), map[string]spec{owner: {"at": instant}}))
				look(t, dir, func(v *reader.View) error {
					if o, _ := v.Owner(owner); o.Status == store.Regressed {
						t.Errorf("owner %s: %v", owner, o.Err)
					}
					return nil
				})
				if got := fresh(t, dir); got != "not-observed" {
					t.Errorf("tokens: %s, want %s", got, "not-observed")
				}
				commit(t, dir, owner, set("at", `"2026-08-12T09:12:44Z"`))
			})
		}
	}
}

// An observation moves with the observed field and with the dependent value.
func TestFreshnessSurvivesAnUpgrade(t *testing.T) {
	for name, next := range map[string]*schema.Declaration{
		"renamed": dependent(needing(schema.TypeUint, "when"),
			map[string]spec{"reset": {"when": {Type: schema.TypeTime, Was: "at"}, "other": truth}}),
		"moved":             dependent(needing(schema.TypeUint, "at"), map[string]spec{"reset": {"other": truth}, "clock": {"at": instant}}),
		"dependent retyped": dependent(needing(schema.TypeString, "at"), map[string]spec{"reset": {"at": instant, "other": truth}}),
	} {
		t.Run(name, func(t *testing.T) {
			dir := newDependent(t)
			if got := fresh(t, dir); got != "current" {
				t.Fatalf("before: %s", got)
			}
			upgraded(t, dir, next)
			if got := fresh(t, dir); got != "current" {
				t.Errorf("after: %s, want %s", got, "current")
			}
			if again := upgraded(t, dir, next); len(again.Rewritten) > 0 {
				t.Errorf("the second run has written %v", again.Rewritten)
			}
		})
	}
}

// A field that moves without its observed value, which a repair has removed, does
// not make its new owner regressed.
func TestAFieldMovedWithoutItsValueHasNotRegressed(t *testing.T) {
	dir := newDependent(t)
	if _, err := sidecar.Quarantine(t.Context(), dir, "reset", nil); err != nil {
		t.Fatal(err)
	}
	upgraded(t, dir, dependent(needing(schema.TypeUint, "at"), map[string]spec{"reset": {"other": truth}, "clock": {"at": instant}}))
	look(t, dir, func(v *reader.View) error {
		if o, _ := v.Owner("clock"); o.Status != store.Missing {
			t.Errorf("clock is %s (%v)", o.Status, o.Err)
		}
		return nil
	})
	commit(t, dir, "clock", set("at", `"2026-08-12T09:12:44Z"`))
}
