package sidecar

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/google/go-cmp/cmp"
)

// younger is usage with more of everything: a field, and members of a record, of
// a list's records, of what a map has at a key and of a record there.
func younger() *schema.Declaration {
	d := usage()
	tool := d.Owners["tool"]
	zoned := schema.Field{Type: schema.TypeRecord, Fields: map[string]schema.Field{
		"host": {Type: schema.TypeString}, "port": {Type: schema.TypeUint}, "zone": {Type: schema.TypeString},
	}}
	tool.Fields["target"] = zoned
	tool.Fields["hosts"] = schema.Field{Type: schema.TypeList, Of: &zoned}
	tool.Fields["later"] = schema.Field{Type: schema.TypeString}
	tool.Fields["skills"].Record["target"] = zoned
	tool.Fields["skills"].Record["rank"] = schema.Field{Type: schema.TypeUint, Kind: schema.Max}
	return d
}

// A zoned is the record that the newer build knows.
type zoned struct {
	Host schema.Optional[string]
	Port schema.Optional[uint64]
	Zone schema.Optional[string]
	rest schema.Rest
}

func (v *zoned) JSONMembers() schema.Members {
	return schema.MembersOf(&v.rest,
		schema.MemberOf("host", schema.String, &v.Host),
		schema.MemberOf("port", schema.Uint, &v.Port),
		schema.MemberOf("zone", schema.String, &v.Zone))
}

// Case 60. Two builds of one program, one older by a field and by members wherever
// there can be any, commit in turns. Neither ever loses what the other wrote.
func TestTwoBuildsLoseNothing(t *testing.T) {
	s := newUsage(t)
	s.update("creator", create)
	s.update("tool", use)
	// A third release has been here, that neither of them knows.
	const odd = `"future_\u0031":{"r":1.0,"z":-0}`
	s.edit("tool", `"epoch":`, odd+`,"epoch":`)
	s.edit("tool", `"fields":{"skills":{`, `"fields":{"skills":{`+odd+`,`)
	s.edit("tool", `{"use_count":1}`, `{`+odd+`,"use_count":1}`)
	s.accept("tool")

	old := s.open("tool")
	young, err := Open(t.Context(), s.dir, younger(), "tool", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer young.Close()
	const commits = 1000
	for i := range commits {
		w, commit := old, oldCommit
		if i%2 == 0 {
			w, commit = young, youngCommit
		}
		if c := update(t, w, func(tx *Tx) error { commit(tx, i); return nil }); c.Outcome != Applied {
			t.Fatalf("commit %d is %v", i, c.Outcome)
		}
		if i%100 == 1 { // processes end and others begin
			old = s.open("tool")
		}
	}
	last := commits - 2 // of the younger build
	s.wantStored("tool", map[string]string{
		"later":  fmt.Sprintf(`"%d"`, last),
		"turns":  fmt.Sprint(commits),
		"target": fmt.Sprintf(`{"port":%d,"zone":"%d"}`, last+1, last),
		"hosts":  fmt.Sprintf(`[{"host":"h","port":%d,"zone":"%d"}]`, last+1, last),
		"skills": fmt.Sprintf(`{"deploy":{%s,"rank":%d,"target":{"port":%d,"zone":"%d"},"use_count":%d}}`, odd, last, last+1, last, commits/2+1),
	})
	text := s.text("tool")
	for _, want := range []string{odd + `,"epoch":`, `"skills":{` + odd + `,"version"`} {
		if n := strings.Count(text, want); n != 1 {
			t.Errorf("%s is there %d times in\n%s", want, n, text)
		}
	}
}

// youngCommit writes what only the younger build knows, and the record with it.
func youngCommit(tx *Tx, i int) {
	zone := schema.Some(fmt.Sprint(i))
	ValueOf(tx, "later", schema.String).Set(fmt.Sprint(i))
	CounterOf(tx, "turns", schema.Uint).Add(1)
	ValueOf(tx, "target", schema.RecordOf[zoned]()).Set(zoned{Zone: zone})
	ValueOf(tx, "hosts", schema.ListOf(schema.RecordOf[zoned]())).Set([]zoned{{Host: schema.Some("h"), Zone: zone}})
	deploy := Entry{spot{tx: tx, field: "skills", key: "deploy"}}
	MaxIn(deploy, "rank", schema.Uint).Raise(uint64(i))
	ValueIn(deploy, "target", schema.RecordOf[zoned]()).Set(zoned{Zone: zone})
}

// oldCommit writes all that the older build knows, as far as it can: it gives
// the records whole, or changes what it has read.
func oldCommit(tx *Tx, i int) {
	port := schema.Some(uint64(i))
	CounterOf(tx, "turns", schema.Uint).Add(1)
	targetField(tx).Set(target{Port: port})
	hosts, _ := hostsField(tx).Get()
	hosts[0].Port = port
	hostsField(tx).Set(hosts)
	skillsPart(tx).Key("deploy").UseCount().Add(1)
	skillsPart(tx).Key("deploy").Target().Set(target{Port: port})
}

// An older build also keeps what a newer one has put into a part of its own
// map, and says in a patch no more than it knows.
func TestAnOlderBuildOpensAsItIs(t *testing.T) {
	s := newUsage(t)
	w, err := Open(t.Context(), s.dir, younger(), "tool", nil)
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	old := s.open("tool")
	if diff := cmp.Diff(younger(), old.Declaration()); diff != "" {
		t.Errorf("the manifest (-want +got):\n%s", diff)
	}
	_, err = Open(t.Context(), s.dir, contradicting(), "tool", nil)
	wantError(t, err, ErrDeclaration, "field target, member port is a value of type uint there and a value of type string here",
		"the elements of field hosts, member port", "field skills, member use_count is a counter", "field seen is a map of values there and a map of records here")
}

func contradicting() *schema.Declaration {
	d := usage()
	tool := d.Owners["tool"]
	port := tool.Fields["target"].Fields
	port["port"] = schema.Field{Type: schema.TypeString}
	tool.Fields["skills"].Record["use_count"] = schema.Field{Type: schema.TypeUint}
	tool.Fields["seen"] = schema.Field{Kind: schema.Map, Record: map[string]schema.Field{"at": {Type: schema.TypeTime}}}
	return d
}

// A phase is an enum as the older build has it.
type phase string

func (p phase) String() string { return string(p) }

func parsePhase(s string) (phase, error) {
	if s != "a" && s != "b" {
		return "", fmt.Errorf("want a or b, not %q", s)
	}
	return phase(s), nil
}

// A program that meets a value of a later declaration is told that the program is
// the older one, and not that the value is wrong.
func TestAnOlderBuildIsToldSo(t *testing.T) {
	declared := func(values ...string) *schema.Declaration {
		enum := schema.Field{Type: schema.TypeEnum, Values: values}
		return &schema.Declaration{State: "agent", Owners: map[string]schema.Owner{"tool": {Fields: map[string]schema.Field{
			"phase": enum, "at": {Kind: schema.Map, Record: map[string]schema.Field{"phase": enum}}, "plain": {Kind: schema.Map, Value: &enum},
		}}}}
	}
	dir := filepath.Join(t.TempDir(), "state")
	if err := Create(dir, declared("a", "b")); err != nil {
		t.Fatal(err)
	}
	open := func(d *schema.Declaration) *Writer {
		w, err := Open(t.Context(), dir, d, "tool", nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { w.Close() })
		return w
	}
	old := open(declared("a", "b"))
	update(t, open(declared("a", "b", "c")), func(tx *Tx) error {
		tx.Apply(Op{Field: "phase", Verb: schema.VerbSet, Value: []byte(`"c"`)})
		tx.Apply(Op{Field: "at", Key: "k", Verb: schema.VerbInsert})
		tx.Apply(Op{Field: "at", Key: "k", Member: "phase", Verb: schema.VerbSet, Value: []byte(`"c"`)})
		tx.Apply(Op{Field: "plain", Key: "k", Verb: schema.VerbSet, Value: []byte(`"c"`)})
		return nil
	})
	codec := schema.EnumOf(parsePhase)
	for name, get := range map[string]func(tx *Tx){
		"field": func(tx *Tx) { ValueOf(tx, "phase", codec).Get() },
		"member": func(tx *Tx) {
			MapOf(tx, "at", func(e Entry) Value[phase] { return ValueIn(e, "phase", codec) }).Key("k").Get()
		},
	} {
		_, err := old.Update(t.Context(), func(tx *Tx) error {
			get(tx)
			return nil
		})
		wantError(t, err, ErrDeclaration, `want a or b, not "c": this program is older than the state`)
		if name == "field" {
			said.Same(t, "update: a value of a later build", err, dir, "STATE")
		}
		if errors.Is(err, ErrValue) {
			t.Errorf("%s: %v is said to be a wrong value", name, err)
		}
	}
}
