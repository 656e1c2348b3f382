package reader_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/reader/statetest"
)

func TestViewJSONGolden(t *testing.T) {
	s := newState(t, declaration())
	statetest.Damaged(s.dir, "sidecar-invalid")
	s.commit("cost", "turns", "9007199254740993", "total_usd", `"12.50"`)
	s.commit("cost", "turns", "0")
	s.commit("reset", "last_reset_at", `"2026-08-11T09:12:44.031Z"`, "cleared", "true")
	s.commit("reset", "cleared", "")
	s.put("watchdog", []byte(`{"note":1}`))
	v := view(t, s.open())
	text, err := v.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(v)
	if err != nil || string(again) != string(text) {
		t.Errorf("json.Marshal returns (%v)\n%s\nand MarshalJSON\n%s", err, again, text)
	}
	pretty := strings.NewReplacer(s.dir, "STATE", v.ID(), "ID", `,"`, ",\n\"").Replace(string(text))
	pretty = regexp.MustCompile(`("version":"\d+\.\d+\.)[0-9a-v]{13}"`).ReplaceAllString(pretty, `${1}NONCE"`)
	golden(t, "view.json", pretty+"\n")
	if !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(v.ID()) {
		t.Errorf("cut id %q", v.ID())
	}
}

// The literals that a field has are the ones that come out, and a value of
// another type is left out and marked.
func TestViewJSONKeepsLiterals(t *testing.T) {
	s := newState(t, declaration())
	statetest.Damaged(s.dir, "field-invalid")
	s.commit("watchdog", "load", "1.0", "note", `"\u00e9\u003c\/"`, "reason", `"exploded"`)
	text, err := view(t, s.open()).MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"load":1.0`, `"note":"\u00e9\u003c\/"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	var got struct {
		Fields     map[string]json.RawMessage
		Provenance map[string]struct{ Status string }
		Owners     map[string]struct{ Status, Error string }
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if _, ok := got.Fields["reason"]; ok || got.Provenance["reason"].Status != "invalid" || got.Owners["watchdog"].Status != "ok" {
		t.Errorf("a value of another type shows as\n%s", text)
	}
}

func TestEmptyStateIsValidJSON(t *testing.T) {
	text, err := view(t, newState(t, declaration()).open()).MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), `"fields":{}`) || strings.Contains(string(text), "0001-01-01") {
		t.Errorf("got %s", text)
	}
}
