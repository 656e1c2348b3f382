package adopt

import (
	"bytes"
	"errors"
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/go-json-experiment/json/jsontext"
)

// everything has a field of each type and each kind.
func everything() *schema.Declaration {
	record := schema.Field{Type: schema.TypeRecord, Fields: spec{"host": text, "port": number, "since": {Type: schema.TypeTime, Legacy: "from"}}}
	return &schema.Declaration{State: "s", Owners: map[string]schema.Owner{
		"a": {Fields: spec{
			"bool": truth, "int": number, "uint": counter, "float": {Type: schema.TypeFloat}, "decimal": {Type: schema.TypeDecimal, Kind: schema.Counter},
			"string": text, "time": latest, "duration": {Type: schema.TypeDuration, Kind: schema.Min}, "json": {Type: schema.TypeJSON},
			"enum": {Type: schema.TypeEnum, Values: []string{"x", "y"}, Legacy: "old"},
		}},
		"b": {Fields: spec{
			"list": {Type: schema.TypeList, Of: &record}, "record": record, "set": {Type: schema.TypeTime, Kind: schema.Set},
			"map": {Kind: schema.Map, Keys: true, Value: &moment}, "shared": {Kind: schema.Map, Keys: true, Record: spec{"n": counter, "r": record}},
		}},
		"c": {Fields: spec{"shared": {Kind: schema.Map, Record: spec{"t": latest}}}},
	}}
}

// FuzzLegacy holds that a legacy file is either refused with places or planned
// without a loss, and that a file fits the fields inferred from it.
func FuzzLegacy(f *testing.F) {
	for _, seed := range []string{
		flatFile, usageFile, mixedFile, "{}", "[]", "", "{", "\xef\xbb\xbf{}", `{"a":1,"a":2}`, `{"json": {"a": [null, 1e400]}}`,
		`{"bool": true, "int": 3.0, "uint": 1e2, "float": 0.1, "decimal": 12.50, "string": "\u00e9", "time": "2026-08-10T08:02:11+0100", "duration": "90s", "old": "x"}`,
		`{"list": [{"host": "x", "from": null}], "record": {"port": 80}, "set": ["2026-08-10T08:02:11Z"], "map": {"a/b": "0001-01-01T00:00:00Z"}, "shared": {"k": {"n": 1, "t": null, "r": {}}}}`,
		`{"fact:1": 3, "rule:2": 4}`, `{"Odd Key": 1, "version": 2, "raw": {"x y": []}, "": 0, ".": 1}`,
	} {
		f.Add([]byte(seed))
	}
	d := everything()
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := Parse("runtime.json", text)
		if err != nil {
			if l != nil {
				t.Fatalf("refused and returned: %v", err)
			}
			return
		}
		if changed := differences(nil, "", l.text, l.text); len(changed) > 0 {
			t.Errorf("it differs from itself at %v", changed)
		}
		if p, err := l.Plan(d); err == nil {
			checkPlan(t, l, d, p)
		} else if _, ok := errors.AsType[Misfits](err); !ok {
			t.Errorf("an error without places: %v", err)
		}
		fields, left := Infer(l)
		large := len(left) > 0 && left[0].Pointer == ""
		p, err := l.Plan(&schema.Declaration{State: "s", Owners: map[string]schema.Owner{"all": {Fields: fields}}})
		if err != nil {
			if !large || !bytes.Contains([]byte(err.Error()), []byte("fit into one sidecar")) {
				t.Errorf("what was inferred does not fit: %v", err)
			}
			return
		}
		if len(p.Unowned) != len(left) || large {
			t.Errorf("inferred without %v, but unowned are %v", left, p.Unowned)
		}
	})
}

// checkPlan holds that a plan accounts for every key of the file.
func checkPlan(t *testing.T, l *Legacy, d *schema.Declaration, p *Plan) {
	accounted := map[jsontext.Pointer]bool{}
	note := func(at jsontext.Pointer) {
		for token := range at.Tokens() {
			accounted[jsontext.Pointer("").AppendToken(token)] = true
			return
		}
		accounted[""] = true
	}
	for _, part := range p.parts {
		for _, v := range part.values {
			note(v.Pointer)
			f := d.Owners[part.owner].Fields[v.Field]
			if v.Value != nil {
				checkStored(t, f, v.Value)
			}
			for _, e := range v.entries {
				for _, m := range e.members {
					spec, ok := f.Member(m.Member)
					if !ok {
						t.Errorf("%s has no member %q of %s", part.owner, m.Member, v.Field)
					}
					checkStored(t, spec, m.Value)
				}
			}
		}
	}
	for _, u := range p.Unset {
		note(u.Pointer)
	}
	for _, u := range p.Unowned {
		note(u.Pointer)
	}
	for _, m := range l.object {
		at := jsontext.Pointer("").AppendToken(m.Name)
		// Of a map or a record without a declared member only the key is there.
		if !accounted[at] {
			t.Errorf("nothing is said of %s", at)
		}
	}
}

func checkStored(t *testing.T, f schema.Field, raw []byte) {
	again, err := f.Normalize(raw)
	if err != nil || !bytes.Equal(again, raw) {
		t.Errorf("%s is not as it is stored: %s (%v)", raw, again, err)
	}
}
