package reader_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/google/go-cmp/cmp"
)

func TestFieldsHaveTheirOwnersValues(t *testing.T) {
	s := newState(t, declaration())
	s.commit("cost", "turns", "18446744073709551615", "total_usd", `"12.5"`)
	s.commit("reset", "last_reset_at", `"2026-08-11T09:12:44.031Z"`, "cleared", "false")
	s.commit("watchdog", "reason", `"dead"`, "note", `""`, "load", "0.25")
	v := view(t, s.open())

	turns, err := reader.FieldOf(v, "turns", schema.Uint).Get()
	if err != nil || turns != 18446744073709551615 {
		t.Errorf("turns: got %v, %v", turns, err)
	}
	total, err := reader.FieldOf(v, "total_usd", schema.Decimal).Get()
	if err != nil || total.String() != "12.5" {
		t.Errorf("total_usd: got %v, %v", total, err)
	}
	at, err := reader.FieldOf(v, "last_reset_at", schema.Time).Get()
	if err != nil || !at.Equal(now) {
		t.Errorf("last_reset_at: got %v, %v", at, err)
	}
	cleared, err := reader.FieldOf(v, "cleared", schema.Bool).OrUnset(true)
	if err != nil || cleared {
		t.Errorf("false must not read as unset: got %v, %v", cleared, err)
	}
	note, err := reader.FieldOf(v, "note", schema.String).OrUnset("none")
	if err != nil || note != "" {
		t.Errorf("an empty string must not read as unset: got %q, %v", note, err)
	}
	load, err := reader.FieldOf(v, "load", schema.Float).Get()
	if err != nil || load != 0.25 {
		t.Errorf("load: got %v, %v", load, err)
	}
}

func TestProvenanceNamesTheCommitThatChangedTheField(t *testing.T) {
	s := newState(t, declaration())
	s.commit("cost", "turns", "1")
	first := s.docs["cost"].Version
	s.commit("cost", "total_usd", `"1"`)
	v := view(t, s.open())

	got, ok := reader.FieldOf(v, "turns", schema.Uint).Provenance()
	want := reader.Provenance{Owner: "cost", File: s.path("cost"), Version: first, ChangedAt: now, Program: "cost-hook", PID: 4711, Status: store.OK}
	if !ok {
		t.Error("turns has no provenance")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	got, ok = v.Field("cleared").Provenance()
	want = reader.Provenance{Owner: "reset", File: s.path("reset"), Status: store.Missing}
	if ok {
		t.Error("a field that nobody wrote has a writer")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got, ok := v.Field("nonsense").Provenance(); ok || got != (reader.Provenance{}) {
		t.Errorf("an unknown field: got %+v, %v", got, ok)
	}
}

// The ways in which a field can be absent are different errors, and only unset
// gives way to a default.
func TestAbsenceHasReasons(t *testing.T) {
	s := newState(t, declaration())
	statetest.Damaged(s.dir, "field-invalid")
	s.commit("cost", "turns", "1")
	s.commit("cost", "turns", "")
	s.commit("watchdog", "reason", `"exploded"`, "load", `"high"`)
	v := view(t, s.open())
	broken := newState(t, declaration())
	statetest.Damaged(broken.dir, "sidecar-foreign", "sidecar-invalid", "sidecar-unreadable")
	broken.put("cost", []byte(`{"turns":`))
	broken.put("reset", []byte(strings.Replace(string(broken.text("reset", "cleared", "true")), "true", "false", 1)))
	if err := os.Mkdir(broken.path("watchdog"), 0o700); err != nil {
		t.Fatal(err)
	}
	b := view(t, broken.open())

	var got strings.Builder
	for _, c := range []struct {
		name  string
		view  *reader.View
		field string
		want  error
	}{
		{"cleared", v, "turns", reader.ErrUnset},
		{"not written", v, "total_usd", reader.ErrUnset},
		{"owner wrote nothing", v, "cleared", reader.ErrUnset},
		{"unknown", v, "nonsense", reader.ErrUnknownField},
		{"case differs", v, "Turns", reader.ErrUnknownField},
		{"the envelope", v, "$sidecar", reader.ErrUnknownField},
		{"no such enum value", v, "reason", store.Invalid},
		{"another type", v, "load", store.Invalid},
		{"invalid sidecar", b, "turns", store.Invalid},
		{"foreign sidecar", b, "cleared", store.Foreign},
		{"unreadable sidecar", b, "note", store.Unreadable},
	} {
		raw, err := c.view.Field(c.field).Raw()
		if raw != nil {
			t.Errorf("%s: got %s", c.name, raw)
		}
		for _, kind := range []error{reader.ErrUnset, reader.ErrUnknownField, store.Invalid, store.Foreign, store.Unreadable} {
			if is := errors.Is(err, kind); is != (kind == c.want) {
				t.Errorf("%s: %v: is it %q? %v", c.name, err, kind, is)
			}
		}
		// A typed Field says the same, and gives way to a default only if unset.
		value, typed := reader.FieldOf(c.view, c.field, schema.Int).OrUnset(7)
		if unset := c.want == reader.ErrUnset; unset != (typed == nil) || unset != (value == 7) {
			t.Errorf("%s: OrUnset returned %d, %v", c.name, value, typed)
		}
		fmt.Fprintf(&got, "%s: %v\n", c.name, err)
	}
	golden(t, "field_errors.txt", strings.NewReplacer(s.dir, "STATE", broken.dir, "STATE").Replace(got.String()))
}

// A value of the state's declaration that the program's codec does not know is of
// a later build. The program is told so, and can read the JSON.
func TestTypedFieldKnowsALaterBuild(t *testing.T) {
	s := newState(t, declaration())
	s.commit("cost", "turns", "1")
	f := reader.FieldOf(view(t, s.open()), "turns", schema.Time)
	got, err := f.Get()
	if !errors.Is(err, store.BadDeclaration) || errors.Is(err, store.Invalid) || !got.IsZero() || !strings.Contains(err.Error(), "field turns") {
		t.Errorf("got %v, %v", got, err)
	}
	if remedy := store.RemedyOf(err); !strings.Contains(remedy.Note, "build this program") || remedy.Verb != "" {
		t.Errorf("the remedy is %v", remedy)
	}
	said.Same(t, "a value of a later build", err, s.dir, "STATE")
	if raw, err := f.Raw(); string(raw) != "1" || err != nil {
		t.Errorf("the JSON is %s, %v", raw, err)
	}
}

func TestZeroFieldIsAnError(t *testing.T) {
	var f reader.Field[time.Time]
	if _, err := f.Get(); !errors.Is(err, reader.ErrUnknownField) {
		t.Errorf("Get: %v", err)
	}
	if _, err := f.OrUnset(now); !errors.Is(err, reader.ErrUnknownField) {
		t.Errorf("OrUnset: %v", err)
	}
	if _, ok := f.Provenance(); ok {
		t.Error("the zero Field has a provenance")
	}
	var e reader.Entry
	if _, err := e.Raw(); !errors.Is(err, reader.ErrUnknownField) {
		t.Errorf("Raw: %v", err)
	}
}

func TestRawIsACopyInStoredDigits(t *testing.T) {
	s := newState(t, declaration())
	s.commit("watchdog", "load", "1.50E+1")
	v := view(t, s.open())
	raw, err := v.Field("load").Raw()
	if err != nil || string(raw) != "1.50E+1" {
		t.Fatalf("got %s, %v", raw, err)
	}
	clear(raw)
	if again, _ := v.Field("load").Raw(); string(again) != "1.50E+1" {
		t.Errorf("a caller changed the view: %s", again)
	}
}
