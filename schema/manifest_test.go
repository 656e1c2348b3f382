package schema

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func declared(change func(*Declaration)) *Declaration {
	d := &Declaration{State: "agent", Owners: map[string]Owner{
		"cost": {Fields: map[string]Field{
			"turns":  {Type: TypeUint, Kind: Counter},
			"reason": {Type: TypeEnum, Values: []string{"dead"}},
		}},
	}}
	if change != nil {
		change(d)
	}
	return d
}

func TestMergeTakesAdditionsFromBothSides(t *testing.T) {
	manifest := declared(func(d *Declaration) { d.Owners["cost"].Fields["only_there"] = Field{Type: TypeInt} })
	built := declared(func(d *Declaration) {
		d.Owners["cost"].Fields["only_here"] = Field{Type: TypeInt}
		d.Owners["cost"].Fields["reason"] = Field{Type: TypeEnum, Values: []string{"dead", "frozen"}}
		d.Owners["reset"] = Owner{Fields: map[string]Field{"at": {Type: TypeTime}}}
	})
	before := maps.Clone(manifest.Owners["cost"].Fields)
	merged, more, err := manifest.Merge(built)
	if err != nil || !more {
		t.Fatalf("more is %v (%v)", more, err)
	}
	want := []string{"only_here", "only_there", "reason", "turns"}
	if diff := cmp.Diff(want, merged.Owners["cost"].FieldNames()); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"dead", "frozen"}, merged.Owners["cost"].Fields["reason"].Values); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	if _, ok := merged.Owners["reset"]; !ok {
		t.Error("the new owner is missing")
	}
	if diff := cmp.Diff(before, manifest.Owners["cost"].Fields); diff != "" {
		t.Errorf("Merge changed its receiver (-before +after):\n%s", diff)
	}
}

// A sole owner of a map need not say that it decides the keys. When another gets
// a part of the map, it does, and the manifest learns it.
func TestMergeTellsWhoDecidesTheKeysOfAMapThatIsSharedNow(t *testing.T) {
	skills := func(keys bool, member string) map[string]Field {
		return map[string]Field{"skills": {Kind: Map, Keys: keys, Record: map[string]Field{member: {Type: TypeInt}}}}
	}
	manifest := declared(func(d *Declaration) { d.Owners["tool"] = Owner{Fields: skills(false, "uses")} })
	built := declared(func(d *Declaration) {
		d.Owners["tool"] = Owner{Fields: skills(true, "uses")}
		d.Owners["user"] = Owner{Fields: skills(false, "pins")}
	})
	merged, more, err := manifest.Merge(built)
	if err != nil || !more || !merged.Owners["tool"].Fields["skills"].Keys {
		t.Errorf("%+v, more %v (%v)", merged, more, err)
	}
}

func TestMergeOfLessOrOfOtherWordsIsNothingNew(t *testing.T) {
	manifest := declared(nil)
	for name, built := range map[string]*Declaration{
		"the same": declared(nil),
		"an older": declared(func(d *Declaration) { delete(d.Owners["cost"].Fields, "turns") }),
		"other words": declared(func(d *Declaration) {
			d.Owners["cost"].Fields["turns"] = Field{Type: TypeUint, Kind: Counter, Doc: "Reworded.", Legacy: "n"}
		}),
	} {
		if _, more, err := manifest.Merge(built); more || err != nil {
			t.Errorf("%s: more is %v (%v)", name, more, err)
		}
	}
}

// Two builds that each have a few fields of their own make no manifest together
// that nobody could read.
func TestMergeKeepsToTheCaps(t *testing.T) {
	many := func(from, n int) *Declaration {
		d := &Declaration{State: "s", Owners: map[string]Owner{"a": {Fields: map[string]Field{}}}}
		for i := from; i < from+n; i++ {
			d.Owners["a"].Fields[fmt.Sprint("f", i)] = Field{Type: TypeInt}
		}
		return d
	}
	if _, more, err := many(0, MaxFields-1).Merge(many(1, MaxFields-1)); err != nil || !more {
		t.Errorf("%d fields together: %v", MaxFields, err)
	}
	_, _, err := many(0, MaxFields).Merge(many(1, MaxFields))
	if want := ErrDeclaration.Error() + ": owner a has 4096 fields, and its one file may have 4095: give some of them to another owner, or make a map of them"; err == nil || err.Error() != want {
		t.Errorf("%d fields together: got %v, want %s", MaxFields+1, err, want)
	}
}

func TestMergeListsEveryContradiction(t *testing.T) {
	built := declared(func(d *Declaration) {
		d.State = "other"
		o := d.Owners["cost"]
		o.Mode, o.Durability = Exclusive, Process
		o.Fields = map[string]Field{"turns": {Type: TypeInt, Kind: Counter}, "reason": {Type: TypeString}}
		d.Owners["cost"] = o
		d.Owners["zeta"] = Owner{Fields: map[string]Field{"turns": {Type: TypeUint}}}
	})
	_, _, err := declared(nil).Merge(built)
	if !errors.Is(err, ErrDeclaration) {
		t.Fatalf("got %v, want ErrDeclaration", err)
	}
	for _, says := range []string{"state is agent", "shared there and exclusive here", "durability power", "turns is a counter of type uint", "reason is a value of type enum", "turns belongs to owner cost there and to zeta"} {
		if !strings.Contains(err.Error(), says) {
			t.Errorf("%q does not say %q", err, says)
		}
	}
}

const stateID = "0123456789abcdefghijklmnop"

func TestManifestKeepsWhatANewerReleaseWrote(t *testing.T) {
	text := `{"format":1,"state_id":"` + stateID + `","locks":{"a.lock":7},"declaration":{"state":"s","owners":{}},"later":{"z":[1.0]}}`
	m, err := ParseManifest([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	out, err := m.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(out), `"later"`) || !strings.Contains(string(out), `1.0`) {
		t.Errorf("lost in\n%s", out)
	}
}

// A manifest may be a stranger's, and everything that reads one relies on what
// is refused here.
func TestManifestThatNoStateIsMadeWithIsRefused(t *testing.T) {
	manifest := func(change func(*Manifest)) []byte {
		m := &Manifest{Format: 1, StateID: stateID, Locks: map[string]uint64{"state.lock": 7}, Declaration: *declared(nil)}
		if change != nil {
			change(m)
		}
		text, err := m.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	if _, err := ParseManifest(manifest(nil)); err != nil {
		t.Fatalf("a good manifest: %v", err)
	}
	home := func(home string) []byte {
		return manifest(func(m *Manifest) {
			m.Declaration.Owners["cost"] = Owner{Home: home, Fields: m.Declaration.Owners["cost"].Fields}
		})
	}
	if _, err := ParseManifest(home("owners/größe/cost")); err != nil {
		t.Errorf("a good home: %v", err)
	}
	for name, tc := range map[string]struct {
		text []byte
		says string
	}{
		"nothing but a format": {[]byte(`{"format":1}`), "state id"},
		"no state id":          {manifest(func(m *Manifest) { m.StateID = "" }), "state id"},
		"a short state id":     {manifest(func(m *Manifest) { m.StateID = stateID[1:] }), "state id"},
		"another state id":     {manifest(func(m *Manifest) { m.StateID = strings.ToUpper(stateID) }), "state id"},
		"no locks":             {[]byte(`{"format":1,"state_id":"` + stateID + `","locks":null,"declaration":{"state":"s","owners":{}}}`), "lock files"},
		"no declaration":       {[]byte(`{"format":1,"state_id":"` + stateID + `","locks":{}}`), "state name"},
		"a state with an end":  {manifest(func(m *Manifest) { m.Declaration.State = "a\nb" }), `"a\nb"`},
		"a state with escapes": {manifest(func(m *Manifest) { m.Declaration.State = "\x1b]0;pwn\a" }), `"\x1b]0;pwn\a"`},
		"a home with escapes":  {home("\x1b]0;pwn\a"), `"\x1b]0;pwn\a"`},
		"a home backwards":     {home("a\u202eb"), "home"},
		"an absolute home":     {home("/etc"), "home"},
		"a home above":         {home("../x"), "home"},
		"a home of everybody":  {home("."), "home"},
		"another spelling":     {home("a//b"), "home"},
		"an upgrade to none":   {manifest(func(m *Manifest) { m.Upgraded = map[string]string{"cost": ""} }), `version ""`},
		"an upgrade to zero":   {manifest(func(m *Manifest) { m.Upgraded = map[string]string{"cost": "0.1.0123456789abc"} }), "is none"},
		"an upgrade to a sign": {manifest(func(m *Manifest) { m.Upgraded = map[string]string{"cost": "1.+1.0123456789abc"} }), "is none"},
		"an upgrade too far":   {manifest(func(m *Manifest) { m.Upgraded = map[string]string{"cost": "9007199254740992.1.0123456789abc"} }), "is none"},
		"an upgrade by hand":   {manifest(func(m *Manifest) { m.Upgraded = map[string]string{"cost": "1.1.0123456789abz"} }), "is none"},
	} {
		if _, err := ParseManifest(tc.text); err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: got %v, want an error that says %q", name, err, tc.says)
		}
	}
}

func TestNamesFitTheirRule(t *testing.T) {
	for _, s := range []string{"a", "reset", "a1_", strings.Repeat("x", 48)} {
		if !ValidName(s) {
			t.Errorf("%q was refused", s)
		}
	}
	for _, s := range []string{"", "A", "1a", "_a", "a-b", "a.b", "a/b", "../x", "é", "a\n", strings.Repeat("x", 49)} {
		if ValidName(s) {
			t.Errorf("%q was accepted", s)
		}
	}
}
