package document

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"github.com/google/go-cmp/cmp"
)

// observed returns an observation of n fields, the first of which nobody had
// written.
func observed(n int) Observation {
	o := Observation{}
	for i := range n {
		o[strings.Repeat("r", i+1)+"eset"] = Version{}
		if i > 0 {
			o[strings.Repeat("r", i+1)+"eset"] = testVersion(uint64(i))
		}
	}
	return o
}

func TestObservationBelongsToTheWriteItCameWith(t *testing.T) {
	d := sample(1)
	d.Observe("turns", observed(2))
	d.Observe("never_written", observed(1))
	again := redecode(t, d)
	if diff := cmp.Diff(observed(2), again.Observed("turns")); diff != "" {
		t.Errorf("read again (-want +got):\n%s", diff)
	}
	if o := again.Observed("note"); o != nil {
		t.Errorf("note observed %v, and nobody said so", o)
	}
	// A clone has its own.
	clone := again.Clone()
	clone.Observe("turns", observed(1))
	if diff := cmp.Diff(observed(2), again.Observed("turns")); diff != "" {
		t.Errorf("changing a clone changed it (-want +got):\n%s", diff)
	}
	if clone.Observe("turns", nil); redecode(t, clone).Observed("turns") != nil {
		t.Error("what was taken away is still there")
	}
	if diff := cmp.Diff(observed(2), again.Observed("turns")); diff != "" {
		t.Errorf("taking it away from a clone changed it (-want +got):\n%s", diff)
	}
	// Who writes without one has none.
	again.Set("turns", []byte("13"), by(again.Version))
	if o := redecode(t, again).Observed("turns"); o != nil {
		t.Errorf("the write after it has the observation %v", o)
	}
}

func TestSightingsComeInFileOrder(t *testing.T) {
	d := sample(1)
	d.Observe("note", observed(3))
	d.Observe("turns", observed(1))
	want := []Sighting{
		{Owner: "cost", By: "turns", Of: "reset", Version: Version{}},
		{Owner: "cost", By: "note", Of: "reset", Version: Version{}},
		{Owner: "cost", By: "note", Of: "rreset", Version: testVersion(1)},
		{Owner: "cost", By: "note", Of: "rrreset", Version: testVersion(2)},
	}
	read := redecode(t, d)
	if diff := cmp.Diff(want, slices.Collect(read.Sightings())); diff != "" {
		t.Errorf("read again (-want +got):\n%s", diff)
	}
	for n := range want {
		var some []Sighting
		for s := range read.Sightings() {
			if some = append(some, s); len(some) > n {
				break
			}
		}
		if diff := cmp.Diff(want[:n+1], some); diff != "" {
			t.Errorf("the first %d (-want +got):\n%s", n+1, diff)
		}
	}
}

func TestOpenEventsAreASet(t *testing.T) {
	d := sample(1)
	first, second := by(testVersion(1)), by(testVersion(2))
	for i, p := range []Provenance{first, second} {
		d.Begin("reset", nonceOf(uint64(i+1)), p)
	}
	d = redecode(t, d)
	want := []Opening{{nonceOf(1), first}, {nonceOf(2), second}}
	if diff := cmp.Diff(want, d.Open("reset")); diff != "" {
		t.Errorf("open (-want +got):\n%s", diff)
	}
	if raw, p, ok := d.Field("reset"); raw != nil || p != (Provenance{}) || !ok {
		t.Errorf("an event that only began has the value %s and the provenance %+v", raw, p)
	}
	if !d.End("reset", nonceOf(1)) || d.End("reset", nonceOf(1)) || d.End("reset", nonceOf(3)) || d.End("turns", nonceOf(2)) {
		t.Error("End ends what is open, once, and nothing else")
	}
	d.Set("reset", []byte(`"2026-08-11T09:12:44Z"`), by(testVersion(3)))
	d = redecode(t, d)
	if diff := cmp.Diff(want[1:], d.Open("reset")); diff != "" {
		t.Errorf("after the first was done (-want +got):\n%s", diff)
	}
	d.End("reset", nonceOf(2))
	if open := redecode(t, d).Open("reset"); open != nil {
		t.Errorf("%v is open after all were done", open)
	}
}

func TestWrongObservationsAndOpeningsAreInvalid(t *testing.T) {
	d := sample(2)
	d.Observe("turns", Observation{"reset": testVersion(1)})
	d.Begin("note", nonceOf(1), by(testVersion(1)))
	text := encode(t, d)
	opening := text[strings.Index(text, `"open":`)+len(`"open":`):]
	opening = opening[:strings.Index(opening, "}}")+2]
	seen := `{"reset":"` + testVersion(1).String() + `"}`
	for _, wrong := range []string{`{"reset":1}`, `{"reset":null}`, `{"reset":"1.2"}`, `{"Reset":""}`, `{"":""}`, `[]`, `7`, `null`, `{"reset":{}}`} {
		refused(t, strings.Replace(text, seen, wrong, 1))
	}
	entry := `{"version":"1.1.0000000000001","at":"2026-08-11T09:12:44Z","program":"x","pid":1}`
	for _, wrong := range []string{`{"x":` + entry + `}`, `{"0000000000001":7}`, `{"0000000000001":{}}`, `[]`, `null`,
		`{"0000000000001":` + strings.Replace(entry, `,"pid":1`, "", 1) + `}`, `{"0000000000001":` + strings.Replace(entry, "09:12", "9:12", 1) + `}`} {
		refused(t, strings.Replace(text, opening, wrong, 1))
	}
	// Nothing open is as good as no version and nothing open.
	refused(t, strings.Replace(text, `"cleared":{`, `"begun":{"open":{}},"cleared":{`, 1))
	accepted(t, strings.Replace(text, `"cleared":{`, `"begun":{"open":{"0000000000001":`+entry+`}},"cleared":{`, 1))
	accepted(t, strings.Replace(text, seen, `{ "b":"" , "a" : "" }`, 1))
	accepted(t, strings.Replace(text, seen, `{}`, 1))
}

func refused(t *testing.T, text string) {
	t.Helper()
	if _, _, err := decode(bytes.Clone([]byte(text))); !errors.Is(err, status.Invalid) {
		t.Errorf("decoded (%v):\n%s", err, text)
	}
}

func accepted(t *testing.T, text string) {
	t.Helper()
	d, err := Decode([]byte(resealed(t, text)))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if got := encode(t, d); got != resealed(t, text) {
		t.Errorf("written again, it is\n%s\nand was\n%s", got, text)
	}
}

// redecode returns what is read of what d writes.
func redecode(t *testing.T, d *Document) *Document {
	t.Helper()
	again, err := Decode([]byte(encode(t, d)))
	if err != nil {
		t.Fatal(err)
	}
	return again
}
