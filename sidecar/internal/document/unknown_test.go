package document

import (
	"strings"
	"testing"
)

// An older release must not lose what a newer one wrote, wherever it stands:
// its own bytes and its place stay, and what else changes does not matter.
func TestUnknownMembersSurviveACommit(t *testing.T) {
	const odd = `{"big":9007199254740993,"r":1.0,"e":1E400,"z":-0,"p":0.1000000000000000055,"é\u0041":[ 1 ,2,{"A":1,"a":2} ]}`
	for name, old := range map[string]string{
		"a field before ours":       "\"turns\":12",
		"first in the envelope":     `"format":1,`,
		"inside the envelope":       `"epoch":`,
		"last in the envelope":      `"sum":"`,
		"first in the writer":       `"program":"stop-hook","identity"`,
		"inside the identity":       `"start":88`,
		"a field's entry":           `"note":{"version":`,
		"inside an entry":           `"version":"1786439564031000.2.0000000000002","at"`,
		"inside an entry, later":    `"program":"stop-hook","pid":4711},"note"`,
		"inside an entry untouched": `"program":"stop-hook","pid":4711}},"recent"`,
	} {
		unknown := `"future_\u0031":` + odd + `,`
		switch name {
		case "a field before ours":
			unknown += "\n"
		case "a field's entry":
			unknown = `"future":{"version":"1.1.0000000000001","at":"2026-08-11T09:12:44Z","program":"x","pid":1,"beyond":` + odd + `},`
		}
		text := edited(t, old, unknown+old)
		d, err := Decode([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := encode(t, d); got != text {
			t.Errorf("%s: encoding without a change made of\n%s\nthis:\n%s", name, text, got)
		}
		// A commit by the same process, at the same time, of the same
		// version, changes nothing but what it sets.
		d.Commit(d.Version, testTime, testWriter)
		for range 2 {
			d.Set("turns", []byte("13"), by(d.Version))
			d.Clear("cleared", by(d.Version))
		}
		want := strings.Replace(text, `"turns":12`, `"turns":13`, 1)
		want = strings.Replace(want, `"0000000000002"]`, `"0000000000002","0000000000002"]`, 1)
		if got := encode(t, d); got != resealed(t, want) {
			t.Errorf("%s: a commit made of\n%s\nthis:\n%s", name, text, got)
		}
	}
}

func TestUnknownFieldsAreFields(t *testing.T) {
	d, err := Decode([]byte(edited(t, `"turns":12`, `"turns":12,"$schema":"x","future":{"x": [1]}`)))
	if err != nil {
		t.Fatal(err)
	}
	raw, by, ok := d.Field("future")
	if string(raw) != `{"x": [1]}` || by != (Provenance{}) || !ok {
		t.Errorf("got %s, %+v, %v", raw, by, ok)
	}
	if got, want := strings.Join(d.Names(), " "), "turns $schema future note"; got != want {
		t.Errorf("Names: got %s, want %s", got, want)
	}
}

// The same holds beside the incarnations of a map, and inside of its entries.
func TestUnknownMembersSurviveBesideAMap(t *testing.T) {
	d := sample(1)
	d.SetRows("skills", []Row{{"deploy", []byte(`{"uses":1}`), testVersion(1)}}, by(d.Version))
	text := encode(t, d)
	const odd = `"future_\u0031":{"big":9007199254740993,"r":1.0,"z":[ 1 ]}`
	for _, old := range []string{`"keys":{"deploy"`, `}},"recent"`, `{"uses":1}`} {
		unknown := odd + "," + old
		if old == `}},"recent"` {
			unknown = "," + odd + old
		} else if old == `{"uses":1}` {
			unknown = `{` + odd + `,"uses":1}`
		}
		changed := resealed(t, strings.Replace(text, old, unknown, 1))
		d, err := Decode([]byte(changed))
		if err != nil {
			t.Fatal(err)
		}
		rows, err := d.Rows("skills")
		if err != nil || len(rows) != 1 || rows[0].Born != testVersion(1) {
			t.Fatalf("%s: rows %v, %v", old, rows, err)
		}
		d.Commit(d.Version, testTime, testWriter)
		d.SetRows("note", []Row{{"a", []byte("1"), testVersion(1)}}, by(d.Version))
		if old != `{"uses":1}` {
			d.SetRows("skills", append(rows, Row{"new", []byte("{}"), testVersion(2)}), by(d.Version))
		}
		if got := encode(t, d); !strings.Contains(got, odd) {
			t.Errorf("%s: the unknown member is gone from\n%s", old, got)
		}
	}
}
