package adopt

import (
	"slices"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/google/go-cmp/cmp"
)

const usageFile = `{"deploy": {"created_by": "agent", "use_count": 77, "pinned": false, "foo": [1]}, "review": {"created_by": "user", "use_count": 5, "last_used_at": null},
"bare": {"use_count": 3}, "empty": {}, "nothing": null}`

// at returns an operation on a key.
func at(key, member string, verb schema.Verb, value string) sidecar.Op {
	return sidecar.Op{Field: "skills", Key: key, Member: member, Verb: verb, Value: []byte(value)}
}

func TestAMapIsDividedAmongItsOwners(t *testing.T) {
	dir, p := newState(t, usage()), planned(t, usage(), usageFile)
	apply(t, p, dir)
	want := map[string]string{
		"creator": "skills={\"bare\":{},\"deploy\":{\"created_by\":\"agent\"},\"empty\":{},\"review\":{\"created_by\":\"user\"}}\n",
		"tool":    "skills={\"bare\":{\"use_count\":3},\"deploy\":{\"use_count\":77},\"review\":{\"use_count\":5}}\n",
		"user":    "skills={\"deploy\":{\"pinned\":false}}\n",
	}
	if diff := cmp.Diff(want, contents(t, dir)); diff != "" {
		t.Errorf("sidecars (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Place{{Pointer: "/deploy/foo"}}, p.Unowned); diff != "" {
		t.Errorf("unowned (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Place{{Pointer: "/review/last_used_at", Marker: []byte("null")}, {Pointer: "/nothing", Marker: []byte("null")}}, p.Unset); diff != "" {
		t.Errorf("unset (-want +got):\n%s", diff)
	}
}

// Case 88 for maps: the state's value at a key is kept, and missing ones come.
func TestAMapThatIsInUseIsFilledUp(t *testing.T) {
	dir, p := newState(t, usage()), planned(t, usage(), usageFile)
	commit(t, dir, "creator", at("deploy", "created_by", schema.VerbSet, `"hub"`), at("fresh", "created_by", schema.VerbSet, `"user"`))
	commit(t, dir, "tool", at("deploy", "use_count", schema.VerbAdd, "1"))
	r := apply(t, p, dir)
	want := map[string]string{"/deploy/created_by": `"hub" / "agent"`, "/deploy/use_count": "1 / 77"}
	if diff := cmp.Diff(want, kept(r)); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"/bare", "/bare/use_count", "/deploy/pinned", "/empty", "/review/created_by", "/review/use_count"}, imported(r)); diff != "" {
		t.Errorf("imported (-want +got):\n%s", diff)
	}
}

// A key that was deleted since the adoption does not come back, and neither do the
// members at it when the key is created again.
func TestADeletedKeyDoesNotComeBack(t *testing.T) {
	dir, p := newState(t, usage()), planned(t, usage(), usageFile)
	apply(t, p, dir)
	commit(t, dir, "creator", at("deploy", "", schema.VerbDelete, ""), at("review", "", schema.VerbDelete, ""))
	commit(t, dir, "creator", at("review", "created_by", schema.VerbSet, `"hub"`))
	before := contents(t, dir)
	r := apply(t, p, dir)
	if got := imported(r); len(got) > 0 {
		t.Errorf("imported again: %v", got)
	}
	if diff := cmp.Diff(before, contents(t, dir)); diff != "" {
		t.Errorf("sidecars (-before +after):\n%s", diff)
	}
	want := map[string]string{
		"/deploy":            ` / {"use_count":77}`, // of tool, the last of three
		"/review":            ` / {"use_count":5}`,
		"/review/created_by": `"hub" / "user"`,
	}
	got := kept(r)
	got["/deploy"] = ""
	for _, o := range r.Owners {
		for _, k := range o.Kept {
			if o.Owner == "tool" && k.Pointer == "/deploy" {
				got["/deploy"] = string(k.State) + " / " + string(k.Value)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}

// An adoption that was interrupted after the keys gives the others nothing at a
// key that was created again meanwhile.
func TestAnInterruptedAdoptionKnowsTheKeysThatItMade(t *testing.T) {
	dir, p := newState(t, usage()), planned(t, usage(), usageFile)
	whole := p.parts
	p.parts = whole[:1] // creator decides the keys
	apply(t, p, dir)
	p.parts = whole
	commit(t, dir, "creator", at("deploy", "", schema.VerbDelete, ""), at("review", "", schema.VerbDelete, ""))
	commit(t, dir, "creator", at("deploy", "created_by", schema.VerbSet, `"user"`))
	r := apply(t, p, dir)
	if diff := cmp.Diff([]string{"/bare/use_count"}, imported(r)); diff != "" {
		t.Errorf("imported (-want +got):\n%s", diff)
	}
	if got := storedIn(t, dir, "tool", "skills"); got != `{"bare":{"use_count":3}}` {
		t.Errorf("tool has %s", got)
	}
}

// A key that is made again between the look at the keys and the commit is looked
// at again: the commit fails no owner's part.
func TestAKeyThatIsMadeAgainMeanwhileIsLookedAtAgain(t *testing.T) {
	d := usage()
	tool := d.Owners["tool"]
	tool.Mode = schema.Exclusive
	d.Owners["tool"] = tool
	dir, p := newState(t, d), planned(t, d, usageFile)
	whole := p.parts
	p.parts = whole[:1] // creator decides the keys
	apply(t, p, dir)
	p.parts = slices.DeleteFunc(whole, func(part part) bool { return part.owner != "tool" })
	again := false
	clock := func() time.Time { // is asked when tool's lease is taken, with the keys read
		if !again {
			again = true
			commit(t, dir, "creator", at("deploy", "", schema.VerbDelete, ""))
			commit(t, dir, "creator", at("deploy", "", schema.VerbInsert, ""))
		}
		return time.Now()
	}
	r, err := p.Apply(t.Context(), dir, &Options{Clock: clock})
	if err != nil || !again {
		t.Fatalf("made again: %v (%v)", again, err)
	}
	if diff := cmp.Diff([]string{"/bare/use_count", "/review/use_count"}, imported(r)); diff != "" {
		t.Errorf("imported (-want +got):\n%s", diff)
	}
}

// A map that lacks nothing is marked all the same, or a key that is deleted later
// would come back.
func TestAMapThatLacksNothingIsMarked(t *testing.T) {
	d := &schema.Declaration{State: "s", Owners: map[string]schema.Owner{"a": {Fields: spec{
		"m": {Kind: schema.Map, Keys: true, Value: &number}, "s": {Type: schema.TypeString, Kind: schema.Set},
	}}}}
	dir, p := newState(t, d), planned(t, d, `{"m": {"k": 1}, "s": ["x"]}`)
	commit(t, dir, "a", sidecar.Op{Field: "m", Key: "k", Verb: schema.VerbSet, Value: []byte("1")}, sidecar.Op{Field: "s", Verb: schema.VerbInsert, Value: []byte(`"x"`)})
	if r := apply(t, p, dir); r.Owners[0].Outcome != sidecar.Applied || len(r.Owners[0].Imported) > 0 {
		t.Errorf("the first run: %+v", r.Owners[0])
	}
	commit(t, dir, "a", sidecar.Op{Field: "m", Key: "k", Verb: schema.VerbDelete}, sidecar.Op{Field: "s", Verb: schema.VerbRemove, Value: []byte(`"x"`)})
	if got := imported(apply(t, p, dir)); len(got) > 0 {
		t.Errorf("came back: %v", got)
	}
}

// The mark outlives commits of others than adopt.
func TestTheMarkOutlivesCommits(t *testing.T) {
	dir, p := newState(t, usage()), planned(t, usage(), usageFile)
	apply(t, p, dir)
	for range 3 {
		commit(t, dir, "tool", at("deploy", "use_count", schema.VerbAdd, "1"))
	}
	if doc := sidecarOf(t, dir+"/tool.json"); doc.Adopted("skills").IsZero() || doc.Adopted("skills").Revision != 1 {
		t.Errorf("adopted in %v", doc.Adopted("skills"))
	}
}
