package declare_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/declare"
)

const view = `{"state":"runtime","dir":"/srv/agent","snapshot":{"consistency":"atomic","id":"8c3tabcdefghi"},
"fields":{"a_uint":1,"a_time":"2026-08-11T09:12:44.031Z","foreign":true},
"provenance":{"a_uint":{"owner":"all","file":"all.json","epoch":1786439564031000,"revision":7,
  "changed_at":"2026-08-11T09:12:44.031Z","program":"stop-hook","pid":4711,"status":"ok"},
 "foreign":{"owner":"other","file":"other.json","status":"foreign","freshness":"unknown","reason":"unset","observed":{}}},
"owners":{"all":{"status":"ok","epoch":1786439564031000,"revision":7,"version":"1786439564031000.7.0123456789abc","pending":0},"other":{"status":"foreign","error":"changed by another hand"}}}`

func TestViewSchemaDescribesAView(t *testing.T) {
	text, err := declare.ViewSchema(allTypes())
	s := compile(t, text, err)
	if err := validate(t, s, view); err != nil {
		t.Errorf("a view is not valid: %v", err)
	}
	for _, test := range []struct {
		from, to string
		ok       bool
	}{
		{`{"state"`, `{"$schema":"view.schema.json","state"`, true},
		{`"provenance":{`, `"provenance":{"a_int":{"owner":"all","file":"all.json","status":"missing"},`, true},
		{`{"state":"runtime",`, `{`, false},
		{`"state":"runtime"`, `"state":"other"`, false},
		{`"consistency":"atomic"`, `"consistency":"maybe"`, false},
		{`"a_uint":1,`, `"a_uint":-1,`, false},
		{`"a_uint":1,`, `"a_uint":null,`, false},
		{`"a_uint":1,`, `"unknown":1,`, false},
		{`"provenance":{`, `"provenance":{"unknown":{"owner":"all","file":"all.json","status":"ok"},`, false},
		{`"owners":{`, `"owners":{"nobody":{"status":"ok"},`, false},
		{`"owner":"all"`, `"owner":"other"`, false},
		{`"status":"ok"}`, `"status":"fine"}`, false},
		{`"freshness":"unknown"`, `"freshness":"old"`, false},
		{`"reason":"unset"`, `"reason":"old"`, false},
		{`"changed_at":"2026-08-11T09:12:44.031Z"`, `"changed_at":"yesterday"`, false},
		{`"pending":0`, `"pending":-1`, false},
		{`"version":"1786439564031000.7.0123456789abc"`, `"version":""`, true},
		{`"version":"1786439564031000.7.0123456789abc"`, `"version":"1.2"`, false},
		{`"a_uint":1,`, `"a_map":{"a":{"uses":1,"pinned":true}},`, true},
		{`"a_uint":1,`, `"a_map":{"a":{"uses":1,"pined":true}},`, false},
		{`"provenance":{`, `"provenance":{"a_map":{"owner":"all","file":"all.json","status":"ok","parts":{"other":{"owner":"other","file":"other.json","status":"foreign"}}},`, true},
		{`"provenance":{`, `"provenance":{"a_map":{"owner":"other","file":"other.json","status":"ok"},`, false},
		{`"provenance":{`, `"provenance":{"a_map":{"owner":"all","file":"all.json","status":"ok","parts":{"nobody":{"owner":"other","file":"other.json","status":"foreign"}}},`, false},
	} {
		instance := strings.Replace(view, test.from, test.to, 1)
		if instance == view {
			t.Fatalf("%s is not in the view", test.from)
		}
		if err := validate(t, s, instance); (err == nil) != test.ok {
			t.Errorf("%s for %s: valid %v, want %v: %v", test.to, test.from, err == nil, test.ok, err)
		}
	}
}

// TestViewSchemaTakesEveryTypesValuesAndNoOthers, as a sidecar's does.
func TestViewSchemaTakesEveryTypesValuesAndNoOthers(t *testing.T) {
	text, err := declare.ViewSchema(allTypes())
	s := compile(t, text, err)
	with := func(typ schema.Type, value string) string {
		return strings.Replace(view, `"fields":{"a_uint":1,"a_time":"2026-08-11T09:12:44.031Z"`, fmt.Sprintf(`"fields":{"a_%s":%s`, typ, value), 1)
	}
	for _, typ := range schema.Types() {
		for _, value := range typeValues[typ][0] {
			if err := validate(t, s, with(typ, value)); err != nil {
				t.Errorf("%s does not take %s: %v", typ, value, err)
			}
		}
		for _, value := range wrongValues(typ) {
			if validate(t, s, with(typ, value)) == nil {
				t.Errorf("%s takes %.60s", typ, value)
			}
		}
	}
}

func TestViewSchemaClosesWhatHoldsNames(t *testing.T) {
	text, err := declare.ViewSchema(allTypes())
	if err != nil {
		t.Fatal(err)
	}
	type object struct {
		Additional *bool `json:"additionalProperties"`
		Properties map[string]json.RawMessage
	}
	var root object
	if err := json.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	closed := map[string]object{"the view": root}
	for _, name := range []string{"fields", "provenance", "owners"} {
		var o object
		if err := json.Unmarshal(root.Properties[name], &o); err != nil {
			t.Fatal(err)
		}
		closed[name] = o
	}
	for name, o := range closed {
		if o.Additional == nil || *o.Additional {
			t.Errorf("additionalProperties of %s is not literally false", name)
		}
	}
}
