package document_test

import (
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/document"
)

// The mark of an adoption survives what is written later, also beside what a
// newer release put there, and nobody else's field gets it.
func TestTheMarkOfAnAdoptionStays(t *testing.T) {
	at := time.Date(2026, 8, 11, 9, 12, 44, 0, time.UTC)
	version := func(revision uint64) document.Version {
		return document.Version{Epoch: 7, Revision: revision, Nonce: "0000000000000"}
	}
	write := func(d *document.Document, revision uint64, change func(by document.Provenance)) *document.Document {
		t.Helper()
		v := version(revision)
		d.Commit(v, at, document.Writer{Program: "test"})
		change(document.Provenance{Version: v, At: at, Program: "test", PID: 1})
		text, err := d.Encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := document.Decode(text)
		if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		return again
	}
	d := write(document.New("tool", "s"), 1, func(document.Provenance) {})
	if !d.Adopted("skills").IsZero() {
		t.Error("a field that nobody wrote was adopted")
	}
	d = write(d, 2, func(by document.Provenance) {
		d.SetRows("skills", []document.Row{{Key: "deploy", Value: []byte(`{"n":1}`), Born: by.Version}}, by)
		d.Set("labels", []byte(`["a"]`), by)
		d.Set("other", []byte(`1`), by)
		d.Adopt("skills")
		d.Adopt("labels")
		d.Adopt("nobody")
	})
	d = write(d, 3, func(by document.Provenance) {
		d.SetRows("skills", nil, by)
		d.Set("labels", []byte(`[]`), by)
		d.Set("other", []byte(`2`), by)
	})
	for field, want := range map[string]document.Version{"skills": version(2), "labels": version(2), "other": {}, "nobody": {}} {
		if got := d.Adopted(field); got != want {
			t.Errorf("%s was adopted in %v, want %v", field, got, want)
		}
	}
	if _, by, _ := d.Field("labels"); by.Version != version(3) {
		t.Errorf("the last to write was %v", by)
	}
	d = write(d, 4, func(document.Provenance) { d.Adopt("skills") })
	if got := d.Adopted("skills"); got != version(4) {
		t.Errorf("adopted in %v", got)
	}
	text, err := d.Encode()
	if n := strings.Count(string(text), `"adopted"`); err != nil || n != 2 {
		t.Errorf("%d marks (%v) in\n%s", n, err, text)
	}
}
