package schema

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// before and after differ in everything that an upgrade is for.
func before() *Declaration {
	return &Declaration{State: "s", Owners: map[string]Owner{
		"a": {Fields: map[string]Field{
			"gone":  {Type: TypeInt},
			"old":   {Type: TypeInt},
			"typed": {Type: TypeInt},
			"moves": {Type: TypeString},
			"mode":  {Type: TypeEnum, Values: []string{"x", "y"}},
			"rec":   {Type: TypeRecord, Fields: map[string]Field{"m": {Type: TypeInt}, "n": {Type: TypeInt}}},
			"hosts": {Type: TypeList, Of: &Field{Type: TypeRecord, Fields: map[string]Field{"port": {Type: TypeInt}}}},
			"table": {Kind: Map, Keys: true, Record: map[string]Field{"uses": {Type: TypeUint, Kind: Counter}, "pin": {Type: TypeBool}, "bye": {Type: TypeBool}}},
		}},
		"b":    {Fields: map[string]Field{"kept": {Type: TypeInt}, "table": {Kind: Map, Record: map[string]Field{"note": {Type: TypeString}}}}},
		"left": {Fields: map[string]Field{"leaves": {Type: TypeInt, DependsOn: []string{"old", "gone"}}}},
	}}
}

func after() *Declaration {
	return &Declaration{State: "s", Owners: map[string]Owner{
		"a": {Mode: Exclusive, Busy: Busy{Wait: "1s"}, Durability: Process, Home: "h", Fields: map[string]Field{
			"new":   {Type: TypeInt, Was: "old"},
			"typed": {Type: TypeString},
			"mode":  {Type: TypeEnum, Values: []string{"y", "z"}},
			"rec":   {Type: TypeRecord, Fields: map[string]Field{"o": {Type: TypeInt, Was: "m"}, "p": {Type: TypeInt}}},
			"hosts": {Type: TypeList, Of: &Field{Type: TypeRecord, Fields: map[string]Field{"port": {Type: TypeString}}}},
			"chart": {Kind: Map, Was: "table", Record: map[string]Field{"count": {Type: TypeUint, Kind: Counter, Was: "uses"}}},
			"fresh": {Type: TypeInt},
		}},
		"b": {Fields: map[string]Field{
			"kept": {Type: TypeInt}, "moves": {Type: TypeString},
			"chart": {Kind: Map, Keys: true, Was: "table", Record: map[string]Field{"note": {Type: TypeString}, "pin": {Type: TypeBool}}},
		}},
		"come": {Fields: map[string]Field{"leaves": {Type: TypeInt, DependsOn: []string{"kept"}}}},
	}}
}

func TestChangesSayAllThatIsDifferent(t *testing.T) {
	var got []string
	for _, c := range before().Changes(after()) {
		got = append(got, c.String())
	}
	want := []string{
		"owner a: mode was shared, becomes exclusive",
		"owner a: busy was 250ms, then fail, becomes 1s, then fail",
		"owner a: durability was power, becomes process",
		"owner a: home was , becomes h",
		"owner a, field chart: renamed, was table",
		"owner a, field chart/count: renamed, was uses",
		"owner a, field fresh: added",
		"owner a, field hosts/*/port: was a value of type int, becomes a value of type string",
		"owner a, field mode=z: added",
		"owner a, field mode=x: removed",
		"owner a, field new: renamed, was old",
		"owner a, field rec/o: renamed, was m",
		"owner a, field rec/p: added",
		"owner a, field rec/n: removed",
		"owner a, field typed: was a value of type int, becomes a value of type string",
		"owner a, field gone: removed",
		"owner a, field table/bye: removed",
		"owner b, field chart: renamed, was table",
		"owner b, field chart: decides the keys, as owner a did",
		"owner b, field chart/pin: moved from owner a",
		"owner b, field moves: moved from owner a",
		"owner come: added",
		"owner come, field leaves: moved from owner left",
		"owner come, field leaves: depends_on was gone, old, becomes kept",
		"owner left: removed",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Changes (-want +got):\n%s", diff)
	}
	for name, d := range map[string]*Declaration{"before": before(), "after": after()} {
		if changes := d.Changes(d); len(changes) > 0 {
			t.Errorf("%s differs from itself: %v", name, changes)
		}
	}
}

// The parts that one declaration has beyond another are named by their topmost.
func TestBeyondNamesMissingParts(t *testing.T) {
	want := []string{"field chart", "field fresh", "field mode=z", "field new", "field rec/o", "field rec/p", "owner come"}
	if diff := cmp.Diff(want, after().Beyond(before())); diff != "" {
		t.Errorf("Beyond (-want +got):\n%s", diff)
	}
	if parts := before().Beyond(before()); len(parts) > 0 {
		t.Errorf("a declaration is beyond itself: %q", parts)
	}
}

// Who still declares what an upgrade took away was built before it.
func TestOlderBuildsAreRefusedAfterAnUpgrade(t *testing.T) {
	m := &Manifest{Declaration: *before()}
	m.Replace(after())
	for name, built := range map[string]*Declaration{
		"all of it":  before(),
		"a field":    {State: "s", Owners: map[string]Owner{"a": {Mode: Exclusive, Durability: Process, Fields: map[string]Field{"gone": {Type: TypeInt}}}}},
		"an owner":   {State: "s", Owners: map[string]Owner{"left": {}}},
		"a name":     {State: "s", Owners: map[string]Owner{"b": {Fields: map[string]Field{"old": {Type: TypeInt}}}}},
		"a value":    {State: "s", Owners: map[string]Owner{"a": {Mode: Exclusive, Durability: Process, Fields: map[string]Field{"mode": {Type: TypeEnum, Values: []string{"x"}}}}}},
		"a member":   {State: "s", Owners: map[string]Owner{"a": {Mode: Exclusive, Durability: Process, Fields: map[string]Field{"rec": {Type: TypeRecord, Fields: map[string]Field{"n": {Type: TypeInt}}}}}}},
		"its owner":  {State: "s", Owners: map[string]Owner{"a": {Mode: Exclusive, Durability: Process, Fields: map[string]Field{"moves": {Type: TypeString}}}}},
		"a column":   {State: "s", Owners: map[string]Owner{"a": {Mode: Exclusive, Durability: Process, Fields: map[string]Field{"chart": {Kind: Map, Record: map[string]Field{"pin": {Type: TypeBool}}}}}}},
		"their keys": {State: "s", Owners: map[string]Owner{"a": {Mode: Exclusive, Durability: Process, Fields: map[string]Field{"chart": {Kind: Map, Keys: true, Record: map[string]Field{"count": {Type: TypeUint, Kind: Counter}}}}}}},
	} {
		if _, _, err := m.Merge(built); !errors.Is(err, ErrDeclaration) {
			t.Errorf("%s: got %v, want ErrDeclaration", name, err)
		}
	}
	if _, more, err := m.Merge(after()); more || err != nil {
		t.Errorf("the new declaration: more is %v (%v)", more, err)
	}
	if _, more, err := m.Merge(&Declaration{State: "s", Owners: map[string]Owner{"b": {Fields: map[string]Field{"extra": {Type: TypeInt}}}}}); !more || err != nil {
		t.Errorf("an addition: more is %v (%v)", more, err)
	}
	m.Replace(before()) // somebody went back: then nothing of it is removed
	if _, _, err := m.Merge(before()); err != nil {
		t.Errorf("after going back: %v", err)
	}
}

// What an upgrade wrote of an owner that goes says nothing of another that comes
// under its name later.
func TestReplaceForgetsTheVersionsOfOwnersThatGo(t *testing.T) {
	stays, goes := "1.1.0123456789abc", "1.2.0123456789abc"
	was := map[string]string{"a": stays, "left": goes}
	m := &Manifest{Declaration: *before(), Upgraded: was}
	m.Replace(after())
	if diff := cmp.Diff(map[string]string{"a": stays}, m.Upgraded); diff != "" {
		t.Errorf("upgraded (-want +got):\n%s", diff)
	}
	if len(was) != 2 {
		t.Errorf("the former manifest's are changed too: %v", was)
	}
}

// A rename looks like an addition to who does not read "was".
func TestRenameIsNoAddition(t *testing.T) {
	manifest := declared(nil)
	for says, change := range map[string]func(*Declaration){
		"field count is still called turns there": func(d *Declaration) {
			fields := d.Owners["cost"].Fields
			delete(fields, "turns")
			fields["count"] = Field{Type: TypeUint, Kind: Counter, Was: "turns"}
		},
		"field total is still called turns there": func(d *Declaration) {
			delete(d.Owners["cost"].Fields, "turns")
			d.Owners["new"] = Owner{Fields: map[string]Field{"total": {Type: TypeUint, Was: "turns"}}}
		},
	} {
		if _, _, err := manifest.Merge(declared(change)); !errors.Is(err, ErrDeclaration) || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want ErrDeclaration with %q", err, says)
		}
	}
	newer := declared(func(d *Declaration) {
		fields := d.Owners["cost"].Fields
		delete(fields, "turns")
		fields["count"] = Field{Type: TypeUint, Kind: Counter, Was: "turns"}
	})
	if _, _, err := newer.Merge(manifest); !errors.Is(err, ErrDeclaration) || !strings.Contains(err.Error(), "field turns is called count there") {
		t.Errorf("an older build: got %v, want ErrDeclaration", err)
	}
	both := declared(func(d *Declaration) { d.Owners["cost"].Fields["count"] = Field{Type: TypeUint, Kind: Counter} })
	if _, _, err := both.Merge(newer); !errors.Is(err, ErrDeclaration) {
		t.Errorf("a state with both names: got %v, want ErrDeclaration", err)
	}
	done := declared(func(d *Declaration) {
		d.Owners["cost"].Fields["turns"] = Field{Type: TypeUint, Kind: Counter, Was: "count"}
	})
	if _, more, err := manifest.Merge(done); more || err != nil {
		t.Errorf("a rename of long ago: more is %v (%v)", more, err)
	}
}
