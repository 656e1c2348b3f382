package reader_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/google/go-cmp/cmp"
)

// usage declares a map of three owners, whose keys the creator decides.
func usage() *schema.Declaration {
	return &schema.Declaration{State: "usage", Owners: map[string]schema.Owner{
		"creator": {Durability: schema.Process, Fields: map[string]schema.Field{
			"skills": {Kind: schema.Map, Keys: true, Record: map[string]schema.Field{"created_by": {Type: schema.TypeString}}},
		}},
		"tool": {Durability: schema.Process, Fields: map[string]schema.Field{
			"skills": {Kind: schema.Map, Record: map[string]schema.Field{"use_count": {Type: schema.TypeUint, Kind: schema.Counter}}},
			"seen":   {Kind: schema.Map, Value: &schema.Field{Type: schema.TypeUint, Kind: schema.Max}},
			"labels": {Kind: schema.Set, Type: schema.TypeString},
			"turn":   {Type: schema.TypeUint, Kind: schema.Max},
		}},
		"user": {Durability: schema.Process, Fields: map[string]schema.Field{
			"skills": {Kind: schema.Map, Record: map[string]schema.Field{"pinned": {Type: schema.TypeBool}}},
		}},
	}}
}

// A written is a state that is written through sidecar.
type written struct {
	testing.TB
	dir string
}

func newWritten(tb testing.TB) written {
	tb.Helper()
	s := written{tb, filepath.Join(tb.TempDir(), "usage")}
	if err := sidecar.Create(s.dir, usage()); err != nil {
		tb.Fatal(err)
	}
	return s
}

// apply commits the operations, given as JSON, as owner.
func (s written) apply(owner string, ops ...string) error {
	s.Helper()
	w, err := sidecar.Open(s.Context(), s.dir, nil, owner, &sidecar.Options{Program: owner + "-test"})
	if err != nil {
		s.Fatal(err)
	}
	defer w.Close()
	_, err = w.Update(s.Context(), func(tx *sidecar.Tx) error {
		for _, text := range ops {
			var op sidecar.Op
			if err := json.Unmarshal([]byte(text), &op); err != nil {
				s.Fatal(err)
			}
			tx.Apply(op)
		}
		return nil
	})
	return err
}

func (s written) mustApply(owner string, ops ...string) {
	s.Helper()
	if err := s.apply(owner, ops...); err != nil {
		s.Fatal(err)
	}
}

func (s written) view() *reader.View {
	s.Helper()
	r, err := reader.Open(s.dir)
	if err != nil {
		s.Fatal(err)
	}
	defer r.Close()
	return view(s.TB, r)
}

// example has something of every owner at two keys.
func example(tb testing.TB) written {
	tb.Helper()
	s := newWritten(tb)
	s.mustApply("creator", `{"field":"skills","op":"set","key":"deploy","member":"created_by","value":"agent"}`, `{"field":"skills","op":"insert","key":"a/b"}`)
	s.mustApply("tool", `{"field":"skills","op":"add","key":"deploy","member":"use_count","value":3}`, `{"field":"seen","op":"raise","key":"fact:1","value":7}`, `{"field":"labels","op":"insert","value":"x"}`)
	s.mustApply("user", `{"field":"skills","op":"set","key":"deploy","member":"pinned","value":true}`)
	return s
}

// A skill is what package gen makes of what the map has at a key.
type skill struct{ e reader.Entry }

func (s skill) CreatedBy() reader.Field[string] {
	return reader.FieldIn(s.e, "created_by", schema.String)
}
func (s skill) UseCount() reader.Field[uint64] {
	return reader.FieldIn(s.e, "use_count", schema.Uint)
}
func (s skill) Pinned() reader.Field[bool] { return reader.FieldIn(s.e, "pinned", schema.Bool) }

func skills(v *reader.View) reader.Map[skill] {
	return reader.MapOf(v, "skills", func(e reader.Entry) skill { return skill{e} })
}

func seen(v *reader.View) reader.Map[reader.Field[uint64]] {
	return reader.MapOf(v, "seen", func(e reader.Entry) reader.Field[uint64] { return reader.FieldIn(e, "", schema.Uint) })
}

func TestAViewJoinsTheOwnersOfAMap(t *testing.T) {
	v := example(t).view()
	for field, want := range map[string]string{
		"skills": `{"a/b":{},"deploy":{"created_by":"agent","pinned":true,"use_count":3}}`,
		"seen":   `{"fact:1":7}`,
		"labels": `["x"]`,
	} {
		if raw, err := v.Field(field).Raw(); string(raw) != want || err != nil {
			t.Errorf("%s is %s, %v, want %s", field, raw, err, want)
		}
	}
	keys, err := skills(v).Keys()
	if diff := cmp.Diff([]string{"a/b", "deploy"}, keys); diff != "" || err != nil {
		t.Errorf("keys (%v) (-want +got):\n%s", err, diff)
	}
	deploy := skills(v).Key("deploy")
	if by, err := deploy.CreatedBy().Get(); by != "agent" || err != nil {
		t.Errorf("created_by is %q, %v", by, err)
	}
	if n, err := deploy.UseCount().Get(); n != 3 || err != nil {
		t.Errorf("use_count is %d, %v", n, err)
	}
	if n, err := seen(v).Key("fact:1").Get(); n != 7 || err != nil {
		t.Errorf("seen is %d, %v", n, err)
	}
	if raw, err := v.Field("skills").Key("deploy").Raw(); string(raw) != `{"created_by":"agent","pinned":true,"use_count":3}` || err != nil {
		t.Errorf("deploy is %s, %v", raw, err)
	}
	if raw, err := v.Field("seen").Key("fact:1").Raw(); string(raw) != "7" || err != nil {
		t.Errorf("fact:1 is %s, %v", raw, err)
	}
	if by, ok := deploy.UseCount().Provenance(); !ok || by.Owner != "tool" || by.Program != "tool-test" || filepath.Base(by.File) != "tool.json" {
		t.Errorf("use_count comes from %+v, %v", by, ok)
	}
	if by, ok := skills(v).Provenance(); !ok || by.Owner != "creator" {
		t.Errorf("the keys come from %+v, %v", by, ok)
	}
}

// What is not there says why, and what is unset is told from what cannot be
// read and from what nobody declares.
func TestWhatAMapDoesNotHave(t *testing.T) {
	v := example(t).view()
	empty := newWritten(t).view()
	for name, test := range map[string]struct {
		err  error
		want []error
		says string
	}{
		"unwritten member": {second(skills(v).Key("a/b").CreatedBy().Get()), []error{reader.ErrUnset}, "owner creator has not written it"},
		"nothing attached": {second(skills(v).Key("a/b").UseCount().Get()), []error{reader.ErrUnset}, "owner tool has not written it"},
		"no key":           {second(skills(v).Key("absent").Pinned().Get()), []error{reader.ErrUnset, sidecar.ErrNoKey}, "owner creator, which decides the keys, has not created it"},
		"no key's ref":     {second(skills(v).Ref("absent")), []error{reader.ErrUnset, sidecar.ErrNoKey}, `key "absent"`},
		"no key's record":  {second(v.Field("skills").Key("absent").Raw()), []error{reader.ErrUnset, sidecar.ErrNoKey}, `key "absent"`},
		"empty key":        {second(v.Field("skills").Key("").Raw()), []error{reader.ErrUnset, sidecar.ErrNoKey}, `key ""`},
		"no member":        {second(v.Field("skills").Key("deploy").Member("usecount").Raw()), []error{reader.ErrUnknownField}, "no owner of state usage declares the member"},
		"no map":           {second(v.Field("turn").Key("deploy").Raw()), []error{reader.ErrUnknownField}, "is no map"},
		"no map's keys":    {second(v.Field("turn").Keys()), []error{reader.ErrUnknownField}, "is no map"},
		"no map's ref":     {second(v.Field("turn").Key("a").Ref()), []error{reader.ErrUnknownField}, "is no map"},
		"scalar's member":  {second(v.Field("seen").Key("fact:1").Member("x").Raw()), []error{reader.ErrUnknownField}, "declares the member"},
		"unwritten map":    {second(empty.Field("skills").Raw()), []error{reader.ErrUnset}, "owner creator has not written it"},
		"unwritten scalar": {second(seen(empty).Key("a").Get()), []error{reader.ErrUnset}, "has not created it"},
		"no field":         {second(v.Field("skils").Keys()), []error{reader.ErrUnknownField}, "no owner of state usage declares it"},
		"zero entry":       {second(reader.Entry{}.Key("a").Raw()), []error{reader.ErrUnknownField}, "belong to no view"},
	} {
		for _, want := range test.want {
			if !errors.Is(test.err, want) {
				t.Errorf("%s: %v is not %v", name, test.err, want)
			}
		}
		if test.err == nil || !strings.Contains(test.err.Error(), test.says) {
			t.Errorf("%s: %v does not say %q", name, test.err, test.says)
		}
	}
	if n, err := skills(v).Key("absent").UseCount().OrUnset(5); n != 5 || err != nil {
		t.Errorf("OrUnset of no key: %d, %v", n, err)
	}
	for _, m := range []reader.Map[skill]{skills(v), skills(empty)} {
		if ok, err := m.Has("absent"); ok || err != nil {
			t.Errorf("Has of no key: %v, %v", ok, err)
		}
	}
	if keys, err := skills(empty).Keys(); len(keys) > 0 || err != nil {
		t.Errorf("keys of an unwritten map: %v, %v", keys, err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestMembersOfAnotherIncarnationVanish(t *testing.T) {
	s := example(t)
	old, err := skills(s.view()).Ref("deploy")
	if err != nil {
		t.Fatal(err)
	}
	s.mustApply("creator", `{"field":"skills","op":"delete","key":"deploy"}`)
	if raw, err := s.view().Field("skills").Raw(); string(raw) != `{"a/b":{}}` || err != nil {
		t.Errorf("after the deletion: %s, %v", raw, err)
	}
	s.mustApply("creator", `{"field":"skills","op":"insert","key":"deploy"}`)
	s.mustApply("user", `{"field":"skills","op":"set","key":"deploy","member":"pinned","value":false}`)
	v := s.view()
	if raw, err := v.Field("skills").Raw(); string(raw) != `{"a/b":{},"deploy":{"pinned":false}}` || err != nil {
		t.Errorf("created again: %s, %v", raw, err)
	}
	if now, err := skills(v).Ref("deploy"); now == old || err != nil {
		t.Errorf("Ref is still %v, %v", now, err)
	}
	if _, err := skills(v).Key("deploy").UseCount().Get(); !errors.Is(err, reader.ErrUnset) {
		t.Errorf("use_count of the old incarnation: %v", err)
	}
	stale, _ := json.Marshal(old.Incarnation)
	if err := s.apply("tool", `{"field":"skills","op":"add","key":"deploy","member":"use_count","value":1,"at":`+string(stale)+`}`); !errors.Is(err, sidecar.ErrConflict) {
		t.Errorf("a commit to the old incarnation: %v", err)
	}
}

// A bad sidecar takes its own members away, loudly, and nobody else's; that of
// the owner of the keys takes the whole map.
func TestABadSidecarHidesItsOwnMembersOfAMap(t *testing.T) {
	for bad, want := range map[string]map[string]bool{ // whether it can be read
		"tool":    {"created_by": true, "pinned": true, "use_count": false},
		"creator": {"created_by": false, "pinned": false, "use_count": false},
	} {
		s := example(t)
		edit(t, filepath.Join(s.dir, bad+".json"), `"deploy"`, `"deplay"`)
		v := s.view()
		for member, readable := range want {
			_, err := v.Field("skills").Key("deploy").Member(member).Raw()
			if (err == nil) != readable || !readable && !errors.Is(err, store.Foreign) {
				t.Errorf("%s is foreign: %s: %v", bad, member, err)
			}
		}
		if _, err := v.Field("skills").Raw(); !errors.Is(err, store.Foreign) || !strings.Contains(err.Error(), bad+".json") {
			t.Errorf("%s is foreign: the whole map: %v", bad, err)
		}
		keys, err := skills(v).Keys()
		if want := bad != "creator"; (err == nil && len(keys) == 2) != want {
			t.Errorf("%s is foreign: keys %v, %v", bad, keys, err)
		}
		if _, err := skills(v).Has("deploy"); (err == nil) != (bad != "creator") {
			t.Errorf("%s is foreign: Has: %v", bad, err)
		}
		golden(t, "view_"+bad+"_foreign.json", printed(t, s, v))
	}
}

// Whether the keys that another hand put into a sidecar can be accepted depends on
// the owner who decides them, which goes on while that sidecar stays as it is.
func TestAdviceFollowsTheOwnerOfTheKeys(t *testing.T) {
	s := example(t)
	statetest.Damaged(s.dir, "sidecar-foreign")
	edit(t, filepath.Join(s.dir, "tool.json"), `"skills":{"deploy":{"use`, `"skills":{"late":{},"deploy":{"use`)
	r, err := reader.Open(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, want := range []store.Verb{"quarantine", "accept"} {
		if o, _ := view(t, r).Owner("tool"); store.RemedyOf(o.Err).Verb != want {
			t.Errorf("%v has the remedy %q, want %s", o.Err, store.RemedyOf(o.Err), want)
		}
		s.mustApply("creator", `{"field":"skills","op":"insert","key":"late"}`)
	}
}

// While writers are so fast that a view is not atomic, it is at least causal:
// it shows no member that was attached to a key which it does not show yet.
func TestACausalViewHasTheKeysThatItsMembersNeed(t *testing.T) {
	s := newWritten(t)
	r, err := reader.Open(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	v, err := r.View(&countingContext{Context: t.Context(), each: func(n int) {
		s.mustApply("creator", `{"field":"skills","op":"delete","key":"deploy"}`, fmt.Sprintf(`{"field":"skills","op":"set","key":"deploy","member":"created_by","value":"%d"}`, n))
		s.mustApply("tool", fmt.Sprintf(`{"field":"turn","op":"raise","value":%d}`, n), `{"field":"skills","op":"add","key":"deploy","member":"use_count","value":1}`)
	}})
	if err != nil || v.Consistency() != reader.Causal {
		t.Fatalf("the view is %v (%v)", v.Consistency(), err)
	}
	created, err1 := skills(v).Key("deploy").CreatedBy().Get()
	turn, err2 := reader.FieldOf(v, "turn", schema.Uint).Get()
	if n, _ := strconv.Atoi(created); err1 != nil || err2 != nil || uint64(n) < turn {
		t.Errorf("the tool has seen key %d, and the view shows key %s (%v, %v)", turn, created, err1, err2)
	}
}

func TestJSONOfAMapNamesEveryOwner(t *testing.T) {
	s := example(t)
	golden(t, "view_map.json", printed(t, s, s.view()))
}

// printed returns v's JSON, a member on each line, without what differs from
// run to run.
func printed(t *testing.T, s written, v *reader.View) string {
	t.Helper()
	text, err := v.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	stable := strings.NewReplacer(s.dir, "STATE", v.ID(), "ID").Replace(string(text))
	for _, varying := range []string{`("epoch":)\d+`, `("version":)"[^"]+"`, `("pid":)\d+`, `("changed_at":)"[^"]*"`} {
		stable = regexp.MustCompile(varying).ReplaceAllString(stable, "${1}0")
	}
	return strings.ReplaceAll(stable, `,"`, ",\n\"") + "\n"
}

// edit replaces old by new in a file.
func edit(t *testing.T, file, old, new string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), old) {
		t.Fatalf("no %s in %s (%v)", old, text, err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), old, new, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
}
