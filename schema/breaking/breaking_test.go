package breaking_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/breaking"
	"github.com/freehold-dev/freehold/schema/declare"
	"github.com/google/go-cmp/cmp"
)

// base is a declaration in which each rule can be broken.
const base = `state: s
owners:
  a:
    mode: shared
    busy: {wait: 1s, then: defer}
    durability: power
    fields:
      n: {type: uint, kind: counter, unit: tokens}
      top: {type: int, kind: max}
  b:
    fields:
      at: {type: time}
      word: {type: enum, values: [x, y]}
      hosts: {type: list, of: {type: record, go: Host, fields: {name: {type: string}, port: {type: uint, unit: ports}}}}
      seen: {type: uint, depends_on: [n]}
      key: {type: string, legacy: old_key}
      table: {kind: map, keys: true, record: {uses: {type: uint}, pin: {type: bool}}}
  c:
    fields:
      table: {kind: map, record: {note: {type: string}}}
`

func parse(t testing.TB, file, folder, text string) *declare.Source {
	t.Helper()
	src, err := declare.Parse(file, folder, []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return src
}

// edited returns text with replacements, each of which it has.
func edited(t *testing.T, text string, pairs []string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("no %q in\n%s", pairs[i], text)
		}
		text = strings.Replace(text, pairs[i], pairs[i+1], 1)
	}
	return text
}

func TestEachRuleFindsItsDifference(t *testing.T) {
	found := map[string]bool{}
	for _, test := range []struct {
		name  string
		edits []string
		want  []string
	}{
		{"nothing", nil, nil},
		{"doc and order", []string{"  a:\n", "  a:\n    doc: Words.\n", "[x, y]", "[y, x]"}, nil},
		{"added", []string{"  a:\n", "  d: {fields: {z: {type: int}}}\n  a:\n", "top: {", "more: {type: int, kind: min}\n      top: {"}, nil},
		{"first unit", []string{"kind: max}", "kind: max, unit: bytes}"}, nil},
		{"more patience", []string{"wait: 1s", "wait: 2s"}, nil},
		{"now deferred", []string{"  c:\n", "  c:\n    busy: {then: fail}\n"}, nil},
		{"owner gone", []string{"  c:\n    fields:\n      table: {kind: map, record: {note: {type: string}}}\n", ""}, []string{
			"owners.yaml:2:1: MEMBER_REMOVED: table/note of c is no longer declared (was old:20:35): code that uses it does not compile",
			"owners.yaml:2:1: OWNER_REMOVED: c is no longer declared (was old:18:3): c's programs do not compile",
		}},
		{"field gone", []string{"      top: {type: int, kind: max}\n", ""}, []string{
			"owners.yaml:3:3: FIELD_REMOVED: top of a is no longer declared (was old:9:7): code that uses it does not compile"}},
		{"member gone", []string{", port: {type: uint, unit: ports}", "", ", pin: {type: bool}", ""}, []string{
			"owners.yaml:10:3: MEMBER_REMOVED: hosts/*/port of b is no longer declared (was old:14:87): code that uses it does not compile",
			"owners.yaml:10:3: MEMBER_REMOVED: table/pin of b is no longer declared (was old:17:67): code that uses it does not compile"}},
		{"value gone and come", []string{"[x, y]", "[x, z]"}, []string{
			"owners.yaml:13:38: ENUM_VALUE_ADDED: word may be z: code that lists the values does not know this one",
			"owners.yaml:10:3: ENUM_VALUE_REMOVED: word may no longer be y (was old:13:38): code that names the value does not compile"}},
		{"renamed", []string{"top: {", "peak: {was: top, "}, []string{
			"owners.yaml:9:7: FIELD_RENAMED: peak of a was top: code that uses the former name does not compile, and adopt looks for peak in old files"}},
		{"renamed with a key", []string{"key: {", "note: {was: key, "}, []string{
			"owners.yaml:16:7: FIELD_RENAMED: note of b was key: code that uses the former name does not compile"}},
		{"member renamed", []string{"uses: {", "count: {was: uses, "}, []string{
			"owners.yaml:17:47: FIELD_RENAMED: table/count of b was uses: code that uses the former name does not compile, and adopt looks for count in old files"}},
		{"moved", []string{"      top: {type: int, kind: max}\n", "", "  c:\n    fields:\n", "  c:\n    fields:\n      top: {type: int, kind: max}\n"}, []string{
			"owners.yaml:19:7: FIELD_MOVED: top went from a to c: a's programs do not compile"}},
		{"member moved", []string{", pin: {type: bool}", "", "note: {", "pin: {type: bool}, note: {"}, []string{
			"owners.yaml:20:35: FIELD_MOVED: table/pin went from b to c: b's programs do not compile"}},
		{"keys moved", []string{"keys: true, ", "", "{kind: map, record: {note", "{kind: map, keys: true, record: {note"}, []string{
			"owners.yaml:20:7: KEYS_MOVED: the keys of table went from b to c: b's programs that delete keys do not compile"}},
		{"another type", []string{"top: {type: int", "top: {type: float"}, []string{
			"owners.yaml:9:13: TYPE_CHANGED: top was a max of type int, becomes a max of type float: code that uses it does not compile"}},
		{"another type below", []string{"port: {type: uint", "port: {type: float"}, []string{
			"owners.yaml:14:94: TYPE_CHANGED: hosts/*/port was a value of type uint, becomes a value of type float: code that uses it does not compile"}},
		{"another kind", []string{"kind: max", "kind: min"}, []string{
			"owners.yaml:9:24: KIND_CHANGED: top was a max of type int, becomes a min of type int: code that uses it does not compile"}},
		{"another kind and type", []string{"type: int, kind: max", "type: decimal, kind: counter"}, []string{
			"owners.yaml:9:28: KIND_CHANGED: top was a max of type int, becomes a counter of type decimal: code that uses it does not compile",
			"owners.yaml:9:13: TYPE_CHANGED: top was a max of type int, becomes a counter of type decimal: code that uses it does not compile"}},
		{"instances", []string{"owners:", "instances: {by: id}\nowners:"}, []string{
			"owners.yaml:2:1: INSTANCES_CHANGED: state s had no instances, has an instance per id: no program opens a state that was made before, and no upgrade converts one"}},
		{"exclusive", []string{"  c:\n", "  c:\n    mode: exclusive\n"}, []string{
			"owners.yaml:19:5: MODE_CHANGED: c was shared, becomes exclusive: a second process is refused while one holds the lease"}},
		{"less durable", []string{"  c:\n", "  c:\n    durability: process\n"}, []string{
			"owners.yaml:19:5: DURABILITY_LOWERED: c was power, becomes process: power loss may take an acknowledged commit"}},
		{"not deferred", []string{"then: defer", "then: fail"}, []string{
			"owners.yaml:5:22: BUSY_CHANGED: a deferred a commit while busy, and fails: a commit that was kept is an error"}},
		{"less patience", []string{"wait: 1s", "wait: 500ms"}, []string{
			"owners.yaml:5:12: WAIT_LOWERED: a waited 1s for its lock, waits 500ms: commits end busy sooner"}},
		{"depends on more", []string{"[n]", "[n, top]"}, []string{
			"owners.yaml:15:26: DEPENDS_ON_CHANGED: seen depended on n, depends on n, top: an observation of the former fields does not suit, and freshness means something else"}},
		{"depends on nothing", []string{", depends_on: [n]", ""}, []string{
			"owners.yaml:15:7: DEPENDS_ON_CHANGED: seen depended on n, depends on nothing: b's programs do not compile"}},
		{"another unit", []string{"unit: tokens", "unit: bytes", "unit: ports", "unit: doors"}, []string{
			"owners.yaml:8:38: UNIT_CHANGED: the unit of n was tokens, becomes bytes: code that uses it compiles and means something else",
			"owners.yaml:14:106: UNIT_CHANGED: the unit of hosts/*/port was ports, becomes doors: code that uses it compiles and means something else"}},
		{"another home", []string{"  c:\n", "  c:\n    home: cmd/c\n"}, []string{
			"owners.yaml:19:5: HOME_MOVED: the home of c was owners/s/c, becomes cmd/c: programs in owners/s/c do not compile"}},
		{"another package", []string{"state: s\n", "state: s\npackage: agent\n"}, []string{
			"owners.yaml:2:1: PACKAGE_RENAMED: the view package of s was s, becomes agent: code that imports it does not compile"}},
		{"another name in Go", []string{"n: {type", "n: {go: Number, type", "go: Host", "go: Machine"}, []string{
			"owners.yaml:8:11: GO_NAME_CHANGED: n was N in Go, becomes Number: code that uses it does not compile",
			"owners.yaml:14:46: GO_NAME_CHANGED: hosts/* was Host in Go, becomes Machine: code that uses it does not compile"}},
		{"the same name in Go, said", []string{"n: {type", "n: {go: N, type"}, nil},
		{"another key in the old file", []string{"legacy: old_key", "legacy: new_key"}, []string{
			"owners.yaml:16:27: LEGACY_CHANGED: key was old_key in the old file, becomes new_key: the former key of an old file is nobody's"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			old := parse(t, "old", "owners/s", base)
			next := parse(t, "owners.yaml", "owners/s", edited(t, base, test.edits))
			var got []string
			for _, f := range breaking.Compare(old, next) {
				found[f.Rule] = true
				got = append(got, f.String())
			}
			slices.Sort(got)
			slices.Sort(test.want)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("Compare (-want +got):\n%s", diff)
			}
		})
	}
	for _, f := range breaking.Compare(parse(t, "old", "owners/s", base), nil) {
		found[f.Rule] = true
	}
	up := breaking.Compare(parse(t, "old", "owners/s", edited(t, base, []string{"  c:\n", "  c:\n    durability: process\n"})), parse(t, "owners.yaml", "owners/s", base))
	if len(up) != 1 || up[0].Rule != "DURABILITY_RAISED" || !up[0].Notice {
		t.Errorf("a raised durability is %v, want one notice", up)
	}
	for _, rule := range breaking.Rules() {
		if !found[rule.ID] && rule.ID != "ALLOW_STALE" && rule.ID != "DURABILITY_RAISED" {
			t.Errorf("no test finds %s", rule.ID)
		}
	}
}

// A declaration that moves with its folder takes the import paths of its packages
// along.
func TestMovedFolderMovesPackages(t *testing.T) {
	var got []string
	for _, f := range breaking.Compare(parse(t, "old", "owners/s", base), parse(t, "owners.yaml", "state/s", base)) {
		got = append(got, f.Rule+" "+f.Owner+" "+f.From+" -> "+f.To)
	}
	want := []string{"PACKAGE_RENAMED  owners/s, package s -> state/s, package s",
		"HOME_MOVED a owners/s/a -> state/s/a", "HOME_MOVED b owners/s/b -> state/s/b", "HOME_MOVED c owners/s/c -> state/s/c"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Compare (-want +got):\n%s", diff)
	}
}

// A key of owners.yaml is compared, or is named here with the reason why not.
func TestEachKeyOfADeclarationIsCompared(t *testing.T) {
	compared := map[string]string{
		"state": "", "package": "", "instances": "", "owners": "", "by": "", "doc": "words for people",
		"mode": "", "busy": "", "durability": "", "home": "", "fields": "", "wait": "", "then": "",
		"type": "", "kind": "", "of": "", "record": "", "value": "", "keys": "", "depends_on": "", "unit": "", "values": "", "go": "", "legacy": "",
		"was": "says where a part was, and is no part", "module": "of generated code, in no owners.yaml",
	}
	for _, of := range []any{schema.Declaration{}, schema.Instances{}, schema.Owner{}, schema.Busy{}, schema.Field{}} {
		for f := range reflect.TypeOf(of).Fields() {
			key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if _, ok := compared[key]; !ok {
				t.Errorf("no rule of breaking is about the key %s: add one", key)
			}
		}
	}
}

func TestExceptionsAllowOneFindingEach(t *testing.T) {
	old := parse(t, "old", "owners/s", base)
	next := parse(t, "owners.yaml", "owners/s", edited(t, base, []string{"unit: tokens", "unit: bytes", "top: {", "peak: {was: top, ",
		"table: {kind: map, keys", "chart: {was: table, kind: map, keys", "table: {kind", "chart: {was: table, kind", "  c:\n", "  c:\n    mode: exclusive\n"}))
	found := breaking.Compare(old, next)
	for _, test := range []struct{ name, text, want string }{
		{"none", "", "8:38 UNIT_CHANGED, 9:7 FIELD_RENAMED, 17:7 FIELD_RENAMED, 19:5 MODE_CHANGED, 21:7 FIELD_RENAMED"},
		{"comments alone", "# none\n", "8:38 UNIT_CHANGED, 9:7 FIELD_RENAMED, 17:7 FIELD_RENAMED, 19:5 MODE_CHANGED, 21:7 FIELD_RENAMED"},
		{"all", "- {rule: UNIT_CHANGED, field: n, reason: R.}\n- {rule: FIELD_RENAMED, owner: a, field: peak, reason: R.}\n- {rule: FIELD_RENAMED, owner: b, field: chart, reason: R.}\n" +
			"- {rule: FIELD_RENAMED, owner: c, field: chart, reason: R.}\n- {rule: MODE_CHANGED, owner: c, reason: R.}\n", ""},
		{"stale", "- {rule: UNIT_CHANGED, field: n, reason: R.}\n- {rule: UNIT_CHANGED, field: top, reason: R.}\n- {rule: FIELD_RENAMED, owner: b, field: peak, reason: R.}",
			"9:7 FIELD_RENAMED, 17:7 FIELD_RENAMED, 19:5 MODE_CHANGED, 21:7 FIELD_RENAMED, 2:3 ALLOW_STALE, 3:3 ALLOW_STALE"},
		{"two owners", "- {rule: FIELD_RENAMED, field: chart, reason: R.}", "x:1:3: FIELD_RENAMED of chart is found for b and for c: name the owner of one"},
		{"no reason", "- {rule: UNIT_CHANGED, field: n}", "x:1:3: the exception has no reason: add one"},
		{"blank reason", "- {rule: UNIT_CHANGED, field: n, reason: ' '}", "x:1:42: reason is blank: give it a value or remove it"},
		{"wildcard", "- {rule: UNIT_CHANGED, field: '*', reason: R.}", `x:1:3: "*" names no part: an exception allows one finding, and has no wildcard`},
		{"no field", "- {rule: UNIT_CHANGED, owner: a, reason: R.}", "x:1:3: UNIT_CHANGED is about a field: name the field"},
		{"no owner", "- {rule: MODE_CHANGED, reason: R.}", "x:1:3: MODE_CHANGED is about an owner: name the owner"},
		{"a field too many", "- {rule: MODE_CHANGED, owner: c, field: n, reason: R.}", "x:1:3: MODE_CHANGED is about an owner: remove the field"},
		{"an owner too many", "- {rule: STATE_REMOVED, owner: c, reason: R.}", "x:1:3: STATE_REMOVED is about the whole state: remove owner and field"},
		{"unknown rule", "- {rule: UNIT_CHANGE, field: n, reason: R.}", `x:1:3: unknown rule "UNIT_CHANGE": did you mean UNIT_CHANGED?`},
		{"stale allowed", "- {rule: ALLOW_STALE, reason: R.}", "x:1:3: no exception allows ALLOW_STALE: remove the exception that allows nothing"},
		{"twice", "- {rule: UNIT_CHANGED, field: n, reason: R.}\n- {rule: UNIT_CHANGED, field: n, reason: S.}", "x:2:3: the exception to UNIT_CHANGED of field n stands here twice: remove one"},
		{"unknown key", "- {rule: UNIT_CHANGED, field: n, reason: R., state: s}", `x:1:46: unknown key "state": the keys here are rule, owner, field and reason`},
		{"a key twice", "- {rule: UNIT_CHANGED, rule: UNIT_CHANGED, field: n, reason: R.}", "x:1:24: the key rule stands twice in one exception: keep one of them"},
		{"no text", "- {rule: UNIT_CHANGED, field: n, reason: 1}", "x:1:42: reason: want text, not a number: put it in quotes"},
		{"no list", "rule: UNIT_CHANGED", "x:1:1: want a list of {rule: RULE, field: FIELD, reason: TEXT}, not a mapping"},
		{"no mapping", "- UNIT_CHANGED", "x:1:3: want {rule: RULE, field: FIELD, reason: TEXT}, not text"},
		{"two documents", "- {rule: UNIT_CHANGED, field: n, reason: R.}\n---\n- {}", "x:2:1: a second YAML document begins here: keep one list in a file"},
		{"an anchor", "- &a {rule: UNIT_CHANGED, field: n, reason: R.}", "x:1:3: owners.yaml has no anchors: remove &a, and write the text again where it was used"},
		{"no YAML", "- {rule: UNIT_CHANGED", "x:1:1: not valid YAML, a { or [ that opens here lacks a comma or its closing bracket: add it"},
	} {
		left, err := breaking.Except(found, "x", []byte(test.text))
		var got []string
		for _, f := range left {
			got = append(got, fmt.Sprintf("%d:%d %s", f.Line, f.Column, f.Rule))
		}
		text := strings.Join(got, ", ")
		if err != nil {
			text = err.Error()
		}
		if text != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", test.name, text, test.want)
		}
	}
}

// Ten thousand fields take less than a second, in each shape whose comparison could be
// quadratic. The best of some tries counts, for other tests run meanwhile.
func TestTenThousandFieldsAreComparedInASecond(t *testing.T) {
	flat, maps := &schema.Declaration{State: "s", Owners: map[string]schema.Owner{}}, &schema.Declaration{State: "s", Owners: map[string]schema.Owner{}}
	for o := range 100 {
		fields, record := map[string]schema.Field{}, map[string]schema.Field{}
		for f := range 100 {
			fields[fmt.Sprintf("f%d_%d", o, f)] = schema.Field{Type: schema.TypeInt, Was: fmt.Sprintf("g%d_%d", o, f)}
			record[fmt.Sprintf("m%d_%d", o, f)] = schema.Field{Type: schema.TypeInt, Unit: "u"}
		}
		name := fmt.Sprintf("o%d", o)
		flat.Owners[name] = schema.Owner{Fields: fields}
		maps.Owners[name] = schema.Owner{Fields: map[string]schema.Field{"t": {Kind: schema.Map, Record: record}, "m" + name: {Kind: schema.Map, Record: map[string]schema.Field{"x": {Type: schema.TypeInt}}}}}
	}
	var file strings.Builder // the most that one may hold
	file.WriteString("state: s\nowners:\n a:\n  fields:\n")
	for i := range schema.MaxFields {
		fmt.Fprintf(&file, "   f%d: {type: int, unit: a}\n", i)
	}
	for name, shape := range map[string]struct {
		least int // findings
		run   func() []breaking.Finding
	}{
		"fields":  {100, func() []breaking.Finding { return breaking.Compare(source(flat), source(lessDurable(flat))) }},
		"members": {100, func() []breaking.Finding { return breaking.Compare(source(maps), source(lessDurable(maps))) }},
		"fields gone": {10_100, func() []breaking.Finding {
			return breaking.Compare(source(flat), source(&schema.Declaration{State: "s"}))
		}},
		"maps gone": {300, func() []breaking.Finding {
			return breaking.Compare(source(maps), source(&schema.Declaration{State: "s"}))
		}},
		"one file": {schema.MaxFields, func() []breaking.Finding {
			return breaking.Compare(parse(t, "old", "s", file.String()), parse(t, "owners.yaml", "s", strings.ReplaceAll(file.String(), "unit: a", "unit: b")))
		}},
	} {
		best := time.Hour
		for try := 0; try < 5 && best > time.Second; try++ {
			began := time.Now()
			if n := len(shape.run()); n < shape.least {
				t.Errorf("%s: %d findings, want %d", name, n, shape.least)
			}
			best = min(best, time.Since(began))
		}
		if best > time.Second {
			t.Errorf("%s: the comparison took %v", name, best)
		}
	}
}

func source(d *schema.Declaration) *declare.Source { return &declare.Source{Declaration: d} }

func lessDurable(d *schema.Declaration) *schema.Declaration {
	next := &schema.Declaration{State: "s", Owners: map[string]schema.Owner{}}
	for name, o := range d.Owners {
		o.Durability = schema.Process
		next.Owners[name] = o
	}
	return next
}
