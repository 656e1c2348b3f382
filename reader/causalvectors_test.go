package reader_test

import (
	"fmt"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/scratch/document"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// causalVectors are about more than one file each.
func causalVectors() []vector {
	return []vector{
		{name: "freshness", owners: freshnessOwners(), make: makeFreshness},
		{name: "regressed", owners: regressedOwners(), make: makeRegressed},
		{name: "maps", owners: mapsOwners(), make: makeMaps},
		{name: "joined", owners: joinedOwners(), make: makeJoined},
		{name: "witness", owners: witnessOwners(), make: makeWitness},
		{name: "pending", owners: pendingOwners(), make: makePending},
	}
}

func on(fields ...string) schema.Field {
	return schema.Field{Type: schema.TypeUint, DependsOn: fields}
}

func freshnessOwners() map[string]schema.Owner {
	n := plain(schema.TypeUint)
	return map[string]schema.Owner{
		"reset":    owns(map[string]schema.Field{"mode": n, "stamp": kind(schema.Event, schema.TypeTime), "sleep": kind(schema.Event, schema.TypeTime)}),
		"silent":   owns(map[string]schema.Field{"quiet": n}),
		"broken":   owns(map[string]schema.Field{"broke": n}),
		"restored": owns(map[string]schema.Field{"old": n}),
		"sick":     owns(map[string]schema.Field{"ill": on("mode")}),
		"cost": owns(map[string]schema.Field{
			"independent": n, "current": on("mode"), "overtaken": on("mode"), "first": on("mode"), "begun": on("sleep"), "both": on("sleep", "mode"), "done": on("stamp"),
			"blind": on("mode"), "part": on("mode", "quiet"), "never": on("mode"), "cleared": on("mode"), "of_silent": on("quiet"), "of_broken": on("broke"), "behind": on("old"), "forked": on("old"),
		}),
	}
}

func makeFreshness(m *maker) {
	m.commit("reset", set("mode", "1", "stamp", `"2026-08-11T09:12:44Z"`))
	m.commit("reset", set("mode", "2"))
	m.commit("reset", begin("sleep", nonce("sleep")))
	m.commit("restored", set("old", "1"))
	m.commitAs("restored", 1, 1)
	m.save("broken.json", edited(m.commit("broken", set("broke", "1")), `"broke":1`, `"broke":2`))
	first, second := versionOf("reset", 0, 1), versionOf("reset", 0, 2)
	m.commit("cost", set("independent", "1", "blind", "1", "cleared", "1"),
		saw("current", document.Observation{"mode": second}), saw("overtaken", document.Observation{"mode": first}), saw("first", document.Observation{"mode": {}}),
		saw("begun", document.Observation{"sleep": {}}), saw("both", document.Observation{"sleep": {}, "mode": first}), saw("done", document.Observation{"stamp": first}),
		saw("part", document.Observation{"mode": second}), saw("of_silent", document.Observation{"quiet": {}}), saw("of_broken", document.Observation{"broke": versionOf("broken", 0, 1)}),
		saw("behind", document.Observation{"old": versionOf("restored", 0, 2)}), saw("forked", document.Observation{"old": {Epoch: vectorEpoch, Revision: 1, Nonce: nonce("another")}}))
	m.commit("cost", set("cleared", ""))
	m.save("sick.json", edited(m.commit("sick", saw("ill", document.Observation{"mode": second})), `"ill":1`, `"ill":2`))
}

func regressedOwners() map[string]schema.Owner {
	owners := map[string]schema.Owner{"cost": owns(map[string]schema.Field{"of_older": on("older"), "of_fork": on("fork"), "of_history": on("history"), "of_whole": on("whole"), "of_epoch": on("epoch"), "of_gone": on("gone"), "of_piled": on("piled")})}
	for _, name := range []string{"older", "fork", "history", "whole", "epoch", "gone", "former", "younger", "taken"} {
		owners[name] = owns(map[string]schema.Field{name: plain(schema.TypeUint)})
	}
	owners["piled"] = schema.Owner{Busy: schema.Busy{Then: schema.Defer}, Fields: map[string]schema.Field{"piled": kind(schema.Counter, schema.TypeUint)}}
	return owners
}

// makeRegressed has sidecars to which older copies were put back, and none where
// one was, as the observations of another owner show, or what the manifest knows.
func makeRegressed(m *maker) {
	m.manifest.Upgraded = map[string]string{"former": versionOf("former", 1, 1).String(), "younger": versionOf("younger", 0, 2).String(), "taken": versionOf("taken", 0, 1).String()}
	for _, owner := range []string{"older", "fork", "history", "whole", "epoch", "former", "younger"} {
		for n := range 3 {
			m.commit(owner, set(owner, fmt.Sprint(n)))
		}
	}
	m.commit("cost",
		saw("of_older", document.Observation{"older": versionOf("older", 0, 4)}),
		saw("of_fork", document.Observation{"fork": {Epoch: vectorEpoch, Revision: 3, Nonce: nonce("another")}}),
		saw("of_history", document.Observation{"history": {Epoch: vectorEpoch, Revision: 2, Nonce: nonce("another")}}),
		saw("of_whole", document.Observation{"whole": versionOf("whole", 0, 2)}),
		saw("of_epoch", document.Observation{"epoch": versionOf("epoch", 1, 1)}),
		saw("of_gone", document.Observation{"gone": versionOf("gone", 0, 1)}),
		saw("of_piled", document.Observation{"piled": versionOf("piled", 0, 1)}))
	var in []string // so many that of the commits no more are remembered than must be
	for n := range document.MaxRecent {
		in = append(in, nonce("in", n))
	}
	for range document.SureRecent {
		m.commit("piled", set("piled", "1"))
	}
	m.commit("piled", set("piled", "2"), func(d *document.Document, _ document.Provenance) {
		d.SetFolded(nil, in)
	})
}

func witnessOwners() map[string]schema.Owner {
	owners := map[string]schema.Owner{}
	for _, name := range []string{"kept", "older", "fork", "gone", "rebooted", "torn", "blank"} {
		owners[name] = owns(map[string]schema.Field{name: plain(schema.TypeUint)})
	}
	once := kind(schema.Once, schema.TypeTime)
	owners["hook"] = owns(map[string]schema.Field{"won": once, "lost": once, "swapped": once, "unslotted": once, "open": once})
	return owners
}

// makeWitness has lock files that tell of sidecars and claims that are there, that
// are gone, or that were put back. They are of an earlier boot.
func makeWitness(m *maker) {
	lock := func(owner string, lines ...string) {
		text := fmt.Sprintf("%-511s\n", `{"id":"`+nonce("id", owner)+`"}`)
		for i, line := range lines {
			size := []int{512, 128}[min(i, 1)]
			line, torn := strings.CutPrefix(line, "!")
			line = fmt.Sprintf("%-*s\n", size-1, line)
			if !torn && strings.Contains(line, `"sum"`) {
				line = string(sealed([]byte(line[:size-1]))) + "\n"
			}
			text += line
		}
		m.save(".freehold/"+owner+".lock", []byte(text))
	}
	const none = `"sum":"` + "0000000000000000000000000000000000000000000000000000000000000000" + `"}`
	reached := func(owner string, published, durable uint64) string {
		version := func(n uint64) document.Version { return versionOf(owner, 0, n) }
		return fmt.Sprintf(`{"published":"%v","durable":"%v","boot":"6f1c7f0e-3a5b-4f0e-9c58-0d6d0c1f2a3b",`, version(published), version(durable)) + none
	}
	for _, owner := range []string{"kept", "older", "fork", "rebooted", "torn", "blank"} {
		m.commit(owner, set(owner, "1"))
	}
	lock("kept", reached("kept", 1, 1))
	lock("older", reached("older", 3, 3))
	lock("fork", strings.ReplaceAll(reached("fork", 1, 1), nonce("fork", 0, 1), nonce("another")))
	lock("gone", reached("gone", 2, 2))
	lock("rebooted", reached("rebooted", 3, 1))
	lock("blank", "")
	lock("torn", "!"+reached("torn", 3, 3))
	claimed := func(of string) string { return `{"claim":"` + of + `",` + none }
	m.claim("hook", "won")
	m.claim("hook", "swapped")
	m.claim("hook", "unslotted")
	lock("hook", "", claimed(nonce("lost")), "", claimed(nonce("another")), "", claimed(nonce("claim", "hook", "won")))
}

func mapsOwners() map[string]schema.Owner {
	keys := func(name string, t schema.Type) schema.Field {
		return schema.Field{Kind: schema.Map, Keys: true, Record: map[string]schema.Field{name: plain(t)}}
	}
	part := func(name string, t schema.Type) schema.Field {
		f := keys(name, t)
		f.Keys = false
		return f
	}
	return map[string]schema.Owner{
		"maker":  owns(map[string]schema.Field{"skills": keys("by", schema.TypeString), "plans": keys("due", schema.TypeTime), "never": keys("x", schema.TypeInt)}),
		"tool":   owns(map[string]schema.Field{"skills": part("uses", schema.TypeUint), "lost": part("y", schema.TypeInt), "never": part("y", schema.TypeInt)}),
		"user":   owns(map[string]schema.Field{"skills": part("pinned", schema.TypeBool)}),
		"absent": owns(map[string]schema.Field{"skills": part("note", schema.TypeString)}),
		"broken": owns(map[string]schema.Field{"plans": part("done", schema.TypeBool), "lost": keys("z", schema.TypeInt)}),
	}
}

func makeMaps(m *maker) {
	row := func(key, value string, revision uint64) document.Row {
		return document.Row{Key: key, Value: []byte(value), Born: versionOf("maker", 0, revision)}
	}
	m.commit("maker", set("plans", `{}`))
	m.commit("maker",
		rowsOf("skills", row("", `{}`, 1), row("alone", `{"by":"ann"}`, 1), row("deploy", `{"by":"bob","rank":1}`, 1), row("odd", `7`, 1), row("reborn", `{"uses":99}`, 2)),
		rowsOf("plans", row("p", `{"due":"2026-08-11T09:12:44Z"}`, 2)))
	m.commit("tool",
		rowsOf("skills", row("deploy", `{"by":"not yours","rank":2,"uses":7}`, 1), row("gone", `{"uses":1}`, 1), row("odd", `{"uses":-1}`, 1), row("reborn", `{"uses":3}`, 1)),
		rowsOf("lost", row("k", `{"y":1}`, 1)), rowsOf("never", row("k", `{"y":1}`, 1)))
	m.commit("user", rowsOf("skills", row("deploy", `{"pinned":true}`, 1), row("reborn", `{"pinned":false}`, 2)))
	m.save("broken.json", edited(m.commit("broken", rowsOf("plans", row("p", `{"done":true}`, 2))), `"done":true`, `"done":null`))
}

func joinedOwners() map[string]schema.Owner {
	part := func(name string, f schema.Field) map[string]schema.Field {
		return map[string]schema.Field{"skills": {Kind: schema.Map, Record: map[string]schema.Field{name: f}}}
	}
	maker := part("by", plain(schema.TypeString))["skills"]
	maker.Keys = true
	return map[string]schema.Owner{
		"absent": owns(part("note", plain(schema.TypeString))),
		"maker":  owns(map[string]schema.Field{"skills": maker}),
		"tool":   {Busy: schema.Busy{Wait: "1ms", Then: schema.Defer}, Fields: part("uses", kind(schema.Counter, schema.TypeUint))},
		"user":   owns(part("pinned", plain(schema.TypeBool))),
	}
}

// makeJoined has a map of which every part is whole, and parts that belong to
// keys of other incarnations.
func makeJoined(m *maker) {
	row := func(key, value string, revision uint64) document.Row {
		return document.Row{Key: key, Value: []byte(value), Born: versionOf("maker", 0, revision)}
	}
	m.commit("maker", set("skills", `{}`))
	m.commit("maker", rowsOf("skills", row("alone", `{"by":"ann"}`, 1), row("deploy", `{"by":"bob"}`, 1), row("reborn", `{}`, 2)))
	m.commit("tool", rowsOf("skills", row("deploy", `{"uses":7}`, 1), row("gone", `{"uses":1}`, 1), row("reborn", `{"uses":3}`, 1), document.Row{Key: "unborn", Value: []byte(`{"uses":4}`)}))
	m.commit("user", rowsOf("skills", row("deploy", `{"pinned":true}`, 1), row("reborn", `{"pinned":false}`, 2)))
}

func pendingOwners() map[string]schema.Owner {
	count := kind(schema.Counter, schema.TypeUint)
	pending := func(fields map[string]schema.Field) schema.Owner {
		return schema.Owner{Busy: schema.Busy{Wait: "1ms", Then: schema.Defer}, Fields: fields}
	}
	owners := map[string]schema.Owner{
		"maker": owns(map[string]schema.Field{"skills": {Kind: schema.Map, Keys: true, Record: map[string]schema.Field{"by": plain(schema.TypeString)}}}),
		"tool": pending(map[string]schema.Field{
			"n": count, "small": kind(schema.Counter, schema.TypeInt), "money": kind(schema.Counter, schema.TypeDecimal), "spent": kind(schema.Counter, schema.TypeDuration),
			"high": kind(schema.Max, schema.TypeTime), "low": kind(schema.Min, schema.TypeFloat), "tags": kind(schema.Set, schema.TypeString), "ints": kind(schema.Set, schema.TypeInt),
			"skills": {Kind: schema.Map, Record: map[string]schema.Field{"uses": count, "last": kind(schema.Max, schema.TypeTime)}},
			"own":    {Kind: schema.Map, Record: map[string]schema.Field{"hits": count}},
			"seen":   {Kind: schema.Counter, Type: schema.TypeUint, DependsOn: []string{"mode"}},
		}),
		"reset": owns(map[string]schema.Field{"mode": plain(schema.TypeUint)}),
		"after": owns(map[string]schema.Field{"of_n": on("n"), "of_patch": on("n"), "of_tags": on("tags"), "of_fresh": on("fresh"), "of_small": on("small")}),
	}
	for _, name := range []string{"fresh", "sick", "lost", "odd"} {
		owners[name] = pending(map[string]schema.Field{name: count})
	}
	return owners
}

func makePending(m *maker) {
	born, own := versionOf("maker", 0, 1), versionOf("tool", 0, 1)
	row := func(key, value string, born document.Version) document.Row {
		return document.Row{Key: key, Value: []byte(value), Born: born}
	}
	m.commit("reset", set("mode", "1"))
	m.commit("maker", rowsOf("skills", row("deploy", `{"by":"ann"}`, born), row("test", `{}`, born)))
	m.commit("tool",
		set("n", "1", "small", "1", "money", `"0.1"`, "spent", `"59.5s"`, "high", `"2026-08-11T09:12:44.5Z"`, "low", "2.5", "tags", `["a","b"]`, "ints", "[9,10]", "seen", "1"),
		rowsOf("skills", row("deploy", `{"uses":1}`, born)),
		rowsOf("own", row("keep", `{"hits":1}`, own), row("old", `{"hits":5}`, own)))
	in := m.pending("tool", 2, `[{"field":"n","op":"add","value":100}]`)
	m.commit("tool", func(d *document.Document, _ document.Provenance) { d.SetFolded([]string{in}, nil) })
	m.pending("tool", 1, `[{"field":"n","op":"add","value":2},{"field":"money","op":"add","value":"1.90"},{"field":"spent","op":"add","value":"1h0m0.5s"},`+
		`{"field":"high","op":"raise","value":"2026-08-11T09:12:44.49Z"},{"field":"low","op":"lower","value":-1e-7},`+
		`{"field":"tags","op":"insert","value":"c"},{"field":"ints","op":"insert","value":-3},{"field":"ints","op":"insert","value":9}]`)
	made := m.pending("tool", 3, fmt.Sprintf(`[{"field":"skills","op":"add","key":"deploy","member":"uses","at":%q,"value":2},{"field":"skills","op":"raise","key":"test","member":"last","at":%q,"value":"2026-08-11T09:12:44Z"},`+
		`{"field":"own","op":"add","key":"new","member":"hits","value":4},{"field":"own","op":"insert","key":"bare"}]`, born, born))
	m.pending("tool", 4, `[{"field":"n","op":"add","value":1000},{"field":"small","op":"add","value":9223372036854775807}]`)
	m.pending("tool", 5, fmt.Sprintf(`[{"field":"n","op":"add","value":10},{"field":"own","op":"add","key":"old","member":"hits","at":%q,"value":1},{"field":"seen","op":"add","value":1,"seen":"%s:mode=%s"}]`,
		born, vectorState, versionOf("reset", 0, 1)))
	m.pending("tool", 10, fmt.Sprintf(`[{"field":"own","op":"add","key":"new","member":"hits","at":"0.0.%s","value":1},{"field":"own","op":"add","key":"keep","member":"hits","value":1}]`, made))
	m.commit("after", saw("of_n", document.Observation{"n": own}), saw("of_patch", document.Observation{"n": {Nonce: nonce("patch", "tool", 5)}}),
		saw("of_tags", document.Observation{"tags": {Nonce: in}}), saw("of_fresh", document.Observation{"fresh": {}}), saw("of_small", document.Observation{"small": own}))
	m.pending("fresh", 1, `[{"field":"fresh","op":"add","value":3}]`)
	m.save("sick.json", edited(m.commit("sick", set("sick", "1")), `"sick":1`, `"sick":2`))
	m.pending("sick", 1, `[{"field":"sick","op":"add","value":3}]`)
	m.commit("lost", set("lost", "1"))
	m.save(".freehold/lost.pending", nil)
	makeOddPile(m)
}

// makeOddPile defers one patch, and puts files beside it that are none.
func makeOddPile(m *maker) {
	const dir, add = ".freehold/odd.pending/", `[{"field":"odd","op":"add","value":1}]`
	m.commit("odd", set("odd", "1"))
	m.pending("odd", 1, add)
	save := func(what string, text []byte) { m.save(dir+nonce(what)+".json", text) }
	patch := func(what, ops string) []byte { return m.patch("odd", nonce(what), 1, ops) }
	save("torn", patch("torn", add)[:100])
	save("edited", edited(patch("edited", add), `"value":1`, `"value":2`))
	save("renamed", patch("another", add))
	save("others", m.patch("sick", nonce("others"), 1, add))
	save("verb", patch("verb", `[{"field":"odd","op":"halve","value":1}]`))
	save("removal", patch("removal", `[{"field":"odd","op":"remove","value":1}]`))
	save("member", patch("member", `[{"field":"odd","op":"add","value":1,"late":true}]`))
	save("format", sealed(edited(patch("format", add), `{"format":1`, `{"format":2`)))
	save("field", patch("field", `[{"field":"fresh","op":"add","value":1}]`))
	save("negative", patch("negative", `[{"field":"odd","op":"add","value":-1}]`))
	m.save(dir+"negative.json", patch("negative", add))
	m.save(dir+".writing", []byte("{"))
	m.save(store.FilesOf("odd").Sidecar+".fresh", []byte("{")) // a killed writer's
}
