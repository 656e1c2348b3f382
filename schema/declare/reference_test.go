package declare_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/declare"
)

// Every key has a meaning and an example; every value of a few has a meaning. The
// examples of each mapping, put at its place one by one, are an owners.yaml that
// Parse takes, or lacks nothing but another owner's field or a part of a type.
func TestReferenceExplainsEveryKeyWithAnExample(t *testing.T) {
	s := compile(t, schema.OwnersSchema, nil)
	const cost = "owners: {reset: {fields: {last_reset_at: {type: time}}}, cost: "
	places := map[string]string{
		"":          "{state: agent, owners: {cost: {fields: {a: {type: bool}}}}, KEY}",
		"Instances": "{state: agent, instances: {KEY}, " + cost + "{fields: {a: {type: bool}}}}}",
		"Owner":     "{state: agent, " + cost + "{fields: {a: {type: bool}}, KEY}}}",
		"Busy":      "{state: agent, " + cost + "{busy: {KEY}, fields: {a: {type: uint, kind: counter}}}}}",
		"Field":     "{state: agent, " + cost + "{fields: {a: {type: decimal, KEY}}}}}",
		"Column":    "{state: agent, " + cost + "{fields: {m: {kind: map, record: {a: {type: decimal, KEY}}}}}}}",
		"Value":     "{state: agent, " + cost + "{fields: {m: {kind: map, value: {type: decimal, KEY}}}}}}",
		"Member":    "{state: agent, " + cost + "{fields: {r: {type: record, fields: {a: {type: decimal, KEY}}}}}}}",
		"Element":   "{state: agent, " + cost + "{fields: {l: {type: list, of: {type: decimal, KEY}}}}}}",
	}
	// These keys want another type, kind or key beside them.
	with := map[string]string{"of": "list", "fields": "record", "values": "enum", "record": "", "value": "", "keys": ""}
	for _, section := range declare.Reference() {
		if section.Doc == "" || len(section.Keys) == 0 {
			t.Errorf("%q: doc %q, %d keys", section.Name, section.Doc, len(section.Keys))
		}
		for _, key := range section.Keys {
			if key.Doc == "" || key.Example == "" || len(key.Values) != len(key.Meanings) || strings.Contains(key.Example, "\n") {
				t.Errorf("%s.%s is not explained: %+v", section.Name, key.Name, key)
				continue
			}
			yaml := places[section.Name]
			yaml = replaceKey(yaml, key, section.Name, with)
			_, err := declare.Parse("owners.yaml", "owners/agent", []byte(yaml))
			if err != nil {
				t.Errorf("%s.%s: %v\n%s", section.Name, key.Name, err, yaml)
			}
			if err := validate(t, s, asJSON(t, []byte(yaml))); err != nil {
				t.Errorf("%s.%s: %v\n%s", section.Name, key.Name, err, yaml)
			}
		}
	}
}

// replaceKey puts the example of key in its place, without the same key that is
// there already and with those that it needs.
func replaceKey(yaml string, key declare.Key, section string, with map[string]string) string {
	switch key.Name {
	case "state":
		yaml = strings.Replace(yaml, "state: agent, ", "", 1)
	case "owners":
		yaml = strings.Replace(yaml, "owners: {cost: {fields: {a: {type: bool}}}}, ", "", 1)
	case "type":
		yaml = strings.Replace(yaml, "type: decimal, ", "", 1)
	}
	if section == "Owner" && key.Name == "fields" {
		yaml = strings.Replace(yaml, "fields: {a: {type: bool}}, ", "", 1)
	} else if typ, ok := with[key.Name]; ok && section != "Owner" && typ != "" {
		yaml = strings.Replace(yaml, "type: decimal", "type: "+typ, 1)
	} else if ok && typ == "" {
		yaml = strings.Replace(yaml, "type: decimal", "kind: map", 1)
	}
	example := key.Example
	if key.Name == "keys" {
		example += ", record: {n: {type: uint}}"
	}
	return strings.Replace(yaml, "KEY", example, 1)
}

// An editor shows the meaning of each value that it completes.
func TestOwnersSchemaExplainsEveryValue(t *testing.T) {
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case map[string]any:
			enum, _ := v["enum"].([]any)
			meanings, _ := v["enumDescriptions"].([]any)
			if v["description"] != nil && len(enum) != len(meanings) {
				t.Errorf("%s: %d values and %d meanings", at, len(enum), len(meanings))
			}
			for key, member := range v {
				walk(at+"/"+key, member)
			}
		case []any:
			for _, item := range v {
				walk(at, item)
			}
		}
	}
	var text any
	if err := json.Unmarshal(schema.OwnersSchema, &text); err != nil {
		t.Fatal(err)
	}
	walk("", text)
}
