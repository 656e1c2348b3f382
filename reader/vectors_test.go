package reader_test

import (
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/scratch/document"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// A vector is a state directory in the test data, and the view that it gives.
type vector struct {
	name     string
	instance string // the id, if the state has instances
	owners   map[string]schema.Owner
	make     func(m *maker)
}

func plain(t schema.Type) schema.Field                 { return schema.Field{Type: t} }
func kind(k schema.Kind, t schema.Type) schema.Field   { return schema.Field{Kind: k, Type: t} }
func owns(fields map[string]schema.Field) schema.Owner { return schema.Owner{Fields: fields} }

func vectors() []vector {
	return append([]vector{
		{name: "kinds", owners: kindsOwners(), make: makeKinds},
		{name: "types", owners: typesOwners(), make: makeTypes},
		{name: "misfits", owners: typesOwners(), make: makeMisfits},
		{name: "unset", owners: kindsOwners(), make: makeUnset},
		{name: "damaged", owners: damagedOwners(), make: makeDamaged},
		{name: "newer", owners: kindsOwners(), make: makeNewer},
		{name: "claims", owners: claimsOwners(), make: makeClaims},
		{name: "instance", instance: "Ärger/1", owners: kindsOwners(), make: makeUnset},
		{name: "upgrade", owners: upgradeOwners(), make: makeUpgrade},
	}, causalVectors()...)
}

// kindsOwners has a field of every kind.
func kindsOwners() map[string]schema.Owner {
	return map[string]schema.Owner{
		"all": owns(map[string]schema.Field{
			"value": plain(schema.TypeString), "high": kind(schema.Max, schema.TypeTime), "low": kind(schema.Min, schema.TypeDuration),
			"count": kind(schema.Counter, schema.TypeUint), "latch": kind(schema.Once, schema.TypeTime), "reset": kind(schema.Event, schema.TypeTime),
			"tags":   kind(schema.Set, schema.TypeString),
			"scores": {Kind: schema.Map, Value: &schema.Field{Type: schema.TypeInt, Kind: schema.Counter}},
			"skills": {Kind: schema.Map, Record: map[string]schema.Field{"uses": kind(schema.Counter, schema.TypeUint), "state": {Type: schema.TypeEnum, Values: []string{"active", "archived"}}}},
		}),
		"dog": {Mode: schema.Exclusive, Fields: map[string]schema.Field{"note": plain(schema.TypeString)}},
	}
}

func makeKinds(m *maker) {
	born := versionOf("all", 0, 1)
	m.commit("all",
		set("value", `"v"`, "high", `"2026-08-11T09:12:44.031Z"`, "low", `"1m30s"`, "count", "12", "tags", `["a","b"]`),
		rowsOf("scores", document.Row{Key: "x", Value: []byte("-3"), Born: born}),
		rowsOf("skills", document.Row{Key: "deploy", Value: []byte(`{"state":"active","uses":7}`), Born: born}, document.Row{Key: "test", Value: []byte(`{}`), Born: born}))
	m.commit("all", begin("reset", nonce("one")))
	m.commit("all", begin("reset", nonce("two")))
	m.commit("all", end("reset", nonce("one")), set("reset", `"2026-08-11T09:12:48Z"`))
	m.claim("all", "latch")
	m.commit("dog", set("note", `"woof"`))
}

// makeUnset tells what was never written from what was cleared, and both from
// what is empty.
func makeUnset(m *maker) {
	m.commit("all", set("value", `"v"`, "count", "3", "tags", "[]"), begin("reset", nonce("one")))
	m.commit("all", set("value", ""), rowsOf("skills"))
}

func typesOwners() map[string]schema.Owner {
	record := schema.Field{Type: schema.TypeRecord, Fields: map[string]schema.Field{"n": plain(schema.TypeInt), "t": plain(schema.TypeString)}}
	text := plain(schema.TypeString)
	fields := map[string]schema.Field{"none": plain(schema.TypeBool), "mood": {Type: schema.TypeEnum, Values: []string{"good", "bad"}}, "records": {Type: schema.TypeList, Of: &record}, "texts": {Type: schema.TypeList, Of: &text}, "pair": record}
	for name, t := range map[string]schema.Type{"bool": schema.TypeBool, "int": schema.TypeInt, "uint": schema.TypeUint, "float": schema.TypeFloat, "decimal": schema.TypeDecimal, "string": text.Type, "time": schema.TypeTime, "duration": schema.TypeDuration, "json": schema.TypeJSON} {
		for _, n := range []string{"a", "b", "c", "d"} {
			fields[name+"_"+n] = plain(t)
		}
	}
	fields["ints"], fields["times"] = kind(schema.Set, schema.TypeInt), kind(schema.Set, schema.TypeTime)
	fields["keys"] = schema.Field{Kind: schema.Map, Value: &schema.Field{Type: schema.TypeString}}
	return map[string]schema.Owner{"typed": owns(fields)}
}

// makeTypes has values at the edges of every type.
func makeTypes(m *maker) {
	forty := strings.Repeat("9", schema.MaxDecimalDigits)
	born := versionOf("typed", 0, 1)
	m.commit("typed", set(
		"bool_a", "true", "bool_b", "false", "mood", `"bad"`,
		"int_a", "-9223372036854775808", "int_b", "9223372036854775807", "int_c", "0", "int_d", "9007199254740993",
		"uint_a", "18446744073709551615", "uint_b", "0",
		"float_a", "5e-324", "float_b", "1.7976931348623157e+308", "float_c", "-0", "float_d", "0.1",
		"decimal_a", `"`+forty+"."+forty+`"`, "decimal_b", `"-0.0000000001"`, "decimal_c", `"0"`, "decimal_d", `"12.5"`,
		"string_a", `""`, "string_b", `"\u0000\u001f\"\\\/ \ud83d\ude00"`, "string_c", "\"Grüße, 😀 ‮\u2028\"", "string_d", `"<script>&amp;"`,
		"time_a", `"0001-01-01T00:00:00.000000001Z"`, "time_b", `"9999-12-31T23:59:59.999999999Z"`, "time_c", `"2026-08-11T09:12:44.03Z"`, "time_d", `"2024-02-29T00:00:00Z"`,
		"duration_a", `"-2562047h47m16.854775808s"`, "duration_b", `"0s"`, "duration_c", `"1.5µs"`, "duration_d", `"1h0m0.000000001s"`,
		"json_a", "null", "json_b", `{"b":[1.0,1e2,-0],"a":{"\u00e9":"\u00E9"},"":[]}`, "json_c", "123456789012345678901234567890.10", "json_d", `"null"`,
		"records", `[{},{"n":1,"t":""},{"n":-1}]`, "texts", `["b","","a"]`, "pair", `{"n":1}`,
		"ints", "[-10,9,10]", "times", `["0999-01-01T00:00:00Z","2026-08-11T09:12:44Z","2026-08-11T09:12:44.5Z"]`),
		rowsOf("keys", document.Row{Key: " ", Value: []byte(`"space"`), Born: born}, document.Row{Key: "e\u0301", Value: []byte(`"two runes"`), Born: born}, document.Row{Key: "é", Value: []byte(`"one rune"`), Born: born}, document.Row{Key: "😀", Value: []byte(`"\ud83d\ude00"`), Born: born}))
}

// makeMisfits has values that are whole and not of their declared types.
func makeMisfits(m *maker) {
	m.commit("typed", set(
		"bool_a", `"true"`, "bool_b", "0", "mood", `"ugly"`,
		"int_a", "9223372036854775808", "int_b", "1.0", "int_c", "1e3", "int_d", "-0",
		"uint_a", "-1", "uint_b", "18446744073709551616", "uint_c", `"1"`, "uint_d", "{}",
		"float_a", "1e309", "float_b", `"1"`, "float_c", "[]",
		"decimal_a", "12.5", "decimal_b", `"1e41"`, "decimal_c", `"12,5"`, "decimal_d", `".5"`,
		"string_a", "1", "string_b", "true", "string_c", `["a"]`,
		"time_a", `"2026-08-11"`, "time_b", `"2026-02-29T00:00:00Z"`, "time_c", `"2026-08-11T09:12:44,5Z"`, "time_d", `"2026-08-11T09:12:44+10:60"`,
		"duration_a", `"1 h"`, "duration_b", `"1"`, "duration_c", `"2562047h47m16.854775808s"`, "duration_d", "90",
		"records", `[{"n":"1"}]`, "texts", `["a",1]`, "pair", `[]`, "ints", `{"a":1}`, "times", `[1]`),
		set("keys", `{"good":"1","bad":1}`))
}

func claimsOwners() map[string]schema.Owner {
	once := kind(schema.Once, schema.TypeTime)
	return map[string]schema.Owner{"hook": owns(map[string]schema.Field{
		"won": once, "open": once, "broken": once, "copied": once, "changed": once, "folder": once, "later": once,
	})}
}

func makeClaims(m *maker) {
	won := m.claim("hook", "won")
	m.save(store.ClaimFile("hook", "broken"), won[:len(won)/2])
	m.save(store.ClaimFile("hook", "copied"), won)
	m.save(store.ClaimFile("hook", "changed"), edited(m.claim("hook", "changed"), "4711", "4712"))
	m.save(store.ClaimFile("hook", "folder")+"/.keep", nil)
	m.save(store.ClaimFile("hook", "later"), sealed(edited(m.claim("hook", "later"), `{"format":1,`, `{"format":1,"heirs":["a"],`)))
}

// makeNewer is the work of a newer release and of a newer declaration.
func makeNewer(m *maker) {
	born := versionOf("all", 0, 1)
	text := m.commit("all", set("value", `"v"`, "someday", "[1]", "count", "1"),
		rowsOf("skills", document.Row{Key: "deploy", Value: []byte(`{"rank":{"a":1.50},"state":"retired","uses":7}`), Born: born}))
	text = edited(text, `{"format":1,`, `{"format":1,"later":{"Deep":[{}]},`)
	text = edited(text, `"program":"all-hook","pid":4711}`, `"program":"all-hook","pid":4711,"reason":"\u0041"}`)
	m.save("all.json", sealed(text))
	m.save("dog.json", sealed(edited(m.commit("dog", set("note", `"woof"`)), `"format":1,`, `"format":2,`)))
}

func upgradeOwners() map[string]schema.Owner {
	owners := map[string]schema.Owner{}
	for _, name := range []string{"good", "gone", "other"} {
		owners[name] = owns(map[string]schema.Field{name: plain(schema.TypeInt)})
	}
	return owners
}

// makeUpgrade stopped while the sidecars of an upgrade went to their places.
func makeUpgrade(m *maker) {
	id := nonce("upgrade")
	m.manifest.Pending = &schema.Pending{ID: id, Sidecars: []string{"good", "gone"}}
	old := m.commit("good", set("good", "1"))
	m.save(".freehold/upgrade-"+id+"/good.json", m.commit("good", set("good", "2")))
	m.save("good.json", old)
	m.commit("gone", set("gone", "2")) // its file has gone to its place
	old = m.commit("other", set("other", "1"))
	m.save(".freehold/upgrade-"+id+"/other.json", m.commit("other", set("other", "2"))) // not part of it
	m.save("other.json", old)
}
