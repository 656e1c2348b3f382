package breaking_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/breaking"
	"github.com/freehold-dev/freehold/schema/declare"
	"pgregory.net/rapid"
)

// A drawing draws declarations over few names, so that fields meet, move and take each
// other's names.
type drawing struct{ *rapid.T }

func (t drawing) one(of ...string) string { return rapid.SampledFrom(of).Draw(t.T, "word") }
func (t drawing) chance(n int) bool       { return rapid.IntRange(1, n).Draw(t.T, "chance") == 1 }

// value draws a field, a member or an element.
func (t drawing) value(depth int) schema.Field {
	f := schema.Field{Type: schema.Type(t.one("int", "uint", "string", "time", "enum", "json", "record", "list"))}
	if depth == 0 && (f.Type == schema.TypeRecord || f.Type == schema.TypeList) {
		f.Type = schema.TypeBool
	}
	switch f.Type {
	case schema.TypeInt, schema.TypeUint:
		f.Unit = t.one("", "tokens", "bytes")
	case schema.TypeEnum:
		f.Values = [][]string{{"x"}, {"x", "y"}, {"y", "z"}}[rapid.IntRange(0, 2).Draw(t.T, "values")]
	case schema.TypeRecord:
		f.Fields = t.members(depth-1, false)
	case schema.TypeList:
		of := t.value(depth - 1)
		f.Of = &of
	}
	return f
}

func (t drawing) members(depth int, columns bool) map[string]schema.Field {
	all := map[string]schema.Field{}
	for range rapid.IntRange(1, 3).Draw(t.T, "members") {
		f := t.value(depth)
		if columns && f.Type == schema.TypeInt && t.chance(2) {
			f.Kind = schema.Max
		}
		f.Was = t.one("", "", "m", "n")
		all[t.one("m", "n", "o")] = f
	}
	return all
}

func (t drawing) field() schema.Field {
	var f schema.Field
	switch t.one("value", "value", "value", "kind", "map", "map", "map", "scalars") {
	case "value":
		f = t.value(2)
	case "kind":
		f = schema.Field{Kind: schema.Kind(t.one("max", "counter", "min", "set")), Type: schema.Type(t.one("int", "uint"))}
	case "map":
		f = schema.Field{Kind: schema.Map, Keys: t.chance(2), Record: t.members(1, true)}
	case "scalars":
		of := t.value(0)
		f = schema.Field{Kind: schema.Map, Value: &of}
	}
	f.Was = t.one("", "", "", "f", "g", "h")
	f.Go = t.one("", "", "F")
	f.Legacy = t.one("", "", "old")
	return f
}

// declaration draws one that an owners.yaml could make, from another.
func (t drawing) declaration(from *schema.Declaration) *schema.Declaration {
	d := &schema.Declaration{State: "s", Package: t.one("s", "s", "s", "p"), Owners: map[string]schema.Owner{}}
	if t.chance(8) {
		d.Instances.By = t.one("id", "project")
	}
	for _, name := range []string{"a", "b", "c"} {
		o, known := from.Owners[name]
		if !known || t.chance(4) {
			o = schema.Owner{Mode: schema.Mode(t.one("shared", "shared", "exclusive")), Durability: schema.Durability(t.one("power", "power", "process")), Home: t.one("", "home") + name}
			o.Busy = schema.Busy{Wait: t.one("1s", "2s"), Then: schema.Then(t.one("fail", "defer"))}
		}
		fields := map[string]schema.Field{}
		for _, field := range from.Owners[name].FieldNames() {
			if t.chance(4) {
				continue
			}
			f := from.Owners[name].Fields[field]
			if f.Type == schema.TypeEnum && t.chance(2) {
				f.Values = [][]string{{"x"}, {"y", "w"}}[rapid.IntRange(0, 1).Draw(t.T, "values")]
			}
			fields[field] = f
		}
		for _, field := range []string{"f", "g", "h", "i", "j"} {
			if t.chance(4) {
				fields[field] = t.field()
			}
		}
		for field, f := range fields {
			if f.EffectiveKind() == schema.Value {
				f.DependsOn = nil
				if t.chance(4) {
					f.DependsOn = []string{t.one("f", "g", "h", "i")}
				}
				fields[field] = f
			}
		}
		if o.Fields = fields; !t.chance(6) {
			d.Owners[name] = o
		}
	}
	return t.sound(d)
}

// sound takes parts out of d until no rule is broken.
func (t drawing) sound(d *schema.Declaration) *schema.Declaration {
	for {
		problems := d.Problems(nil)
		if len(problems) == 0 {
			return d
		}
		tokens := slices.Collect(problems[0].At.Tokens())
		if len(tokens) < 4 {
			if len(tokens) < 2 {
				t.Fatal("no parts to take out: ", problems[0])
			}
			o := d.Owners[tokens[1]]
			o.Busy.Then, o.Fields = schema.Fail, map[string]schema.Field{}
			d.Owners[tokens[1]] = o
			continue
		}
		fields := maps.Clone(d.Owners[tokens[1]].Fields)
		delete(fields, tokens[3])
		o := d.Owners[tokens[1]]
		o.Fields = fields
		d.Owners[tokens[1]] = o
	}
}

// dataRules has, for each kind of change, the rules that say it.
var dataRules = map[string][]string{
	"renamed": {"FIELD_RENAMED"}, "moved": {"FIELD_MOVED"}, "retyped": {"TYPE_CHANGED", "KIND_CHANGED"}, "keys": {"KEYS_MOVED"},
	"mode": {"MODE_CHANGED"}, "durability": {"DURABILITY_LOWERED", "DURABILITY_RAISED"}, "home": {"HOME_MOVED"}, "depends_on": {"DEPENDS_ON_CHANGED"},
	"removed": {"OWNER_REMOVED", "FIELD_REMOVED", "MEMBER_REMOVED", "ENUM_VALUE_REMOVED"},
	"busy":    {"BUSY_CHANGED", "WAIT_LOWERED"},
}

// `state upgrade` reports Changes, and Open refuses by Merge. Over generated pairs,
// each change that is no addition has a finding about the same part, each finding of
// those rules has a change, and a declaration that Open would refuse has a finding.
func TestFindingsAgreeWithUpgrades(t *testing.T) {
	seen := map[string]int{}
	law := func(rt *rapid.T) {
		old := drawing{rt}.declaration(&schema.Declaration{})
		next := drawing{rt}.declaration(old)
		found := breaking.Compare(&declare.Source{Declaration: old, Folder: "s"}, &declare.Source{Declaration: next, Folder: "s"})
		unsaid := map[string][]string{} // rules by part
		for _, f := range found {
			seen[f.Rule]++
			part := f.Owner + " " + f.Field
			if f.Rule == "ENUM_VALUE_REMOVED" && !strings.HasSuffix(part, "="+f.From) {
				rt.Errorf("%v names the part %s", f, part)
			}
			unsaid[part] = append(unsaid[part], f.Rule)
		}
		for _, ch := range old.Changes(next) {
			part := ch.Owner + " " + ch.Field + ch.Part
			rules, known := dataRules[ch.What]
			if ch.What == "added" || ch.What == "busy" && !lowered(old.Owners[ch.Owner], next.Owners[ch.Owner]) {
				continue
			}
			said := slices.ContainsFunc(rules, func(rule string) bool { return slices.Contains(unsaid[part], rule) })
			if !known || !said {
				rt.Errorf("no finding says the change %v", ch)
			}
			unsaid[part] = slices.DeleteFunc(unsaid[part], func(rule string) bool { return slices.Contains(rules, rule) })
		}
		for part, rules := range unsaid {
			for _, rule := range rules {
				for _, others := range dataRules {
					if slices.Contains(others, rule) {
						rt.Errorf("no change has the finding %s of %s", rule, part)
					}
				}
			}
		}
		if _, _, err := old.Merge(next); errors.Is(err, schema.ErrDeclaration) && !slices.ContainsFunc(found, func(f breaking.Finding) bool {
			return f.Upgrade || f.Rule == "INSTANCES_CHANGED" || strings.HasPrefix(f.Rule, "DURABILITY")
		}) {
			rt.Errorf("no finding says that programs of the new declaration are refused: %v", err)
		}
		if again := breaking.Compare(&declare.Source{Declaration: next}, &declare.Source{Declaration: next}); len(again) > 0 {
			rt.Errorf("a declaration breaks itself: %v", again)
		}
		if rt.Failed() {
			rt.Logf("%v", found)
		}
	}
	for range 30 { // of a hundred pairs
		rapid.Check(t, law)
	}
	for _, rules := range dataRules {
		for _, rule := range rules {
			if seen[rule] == 0 {
				t.Errorf("no pair had %s: the test shows nothing about it", rule)
			}
		}
	}
}

// lowered reports whether a changed busy rule takes something away.
func lowered(old, now schema.Owner) bool {
	return old.Defers() && !now.Defers() || now.EffectiveWait() < old.EffectiveWait()
}
