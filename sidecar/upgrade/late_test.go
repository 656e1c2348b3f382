package upgrade

import (
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// lately declares a state whose names were a, or are b; the second without the
// word "was", or with it.
func lately(name, was string) *schema.Declaration {
	text := schema.Field{Type: schema.TypeString, Was: was}
	record := spec{name: text, "other": {Type: schema.TypeString}}
	return &schema.Declaration{State: "agent", Owners: map[string]schema.Owner{
		"one": {Fields: spec{
			name:     text,
			"record": {Type: schema.TypeRecord, Fields: record},
			"map":    {Kind: schema.Map, Keys: true, Record: spec{"kept": {Type: schema.TypeBool}}},
		}},
		"two": {Fields: spec{
			"map":  {Kind: schema.Map, Record: spec{name: text}},
			"need": needing(schema.TypeUint, name),
		}},
	}}
}

// A program of a new build that declares a new name without "was" adds a second
// field. Once the declaration says "was", the value goes to the new name, unless
// that was written meanwhile: then the upgrade reports the former value.
func TestALateWasTakesTheValueOver(t *testing.T) {
	text := func(s string) []byte { return []byte(`"` + s + `"`) }
	member := func(key, name, value string) sidecar.Op {
		return sidecar.Op{Field: "map", Key: key, Member: name, Verb: schema.VerbSet, Value: text(value)}
	}
	for name, c := range map[string]struct {
		write func(t *testing.T, dir string) // after the new name was added
		want  view
		gone  []Gone
	}{
		"unset": {
			func(*testing.T, string) {},
			view{"b": `"old"`, "record": `{"b":"old","other":"x"}`, "map": `{"k":{"b":"old"},"l":{}}`, "need": "1", "need is": "current"},
			nil,
		},
		"set": {
			func(t *testing.T, dir string) {
				commit(t, dir, "one", set("b", `"new"`), set("record", `{"a":"old","b":"new"}`))
				commit(t, dir, "two", member("k", "b", "new"), member("l", "b", "new"))
			},
			view{"b": `"new"`, "record": `{"b":"new"}`, "map": `{"k":{"b":"new"},"l":{"b":"new"}}`, "need": "1", "need is": "not-observed"},
			[]Gone{
				{Owner: "one", Field: "a", Value: text("old"), Successor: "b"},
				{Owner: "one", Field: "record", Part: "/a", Value: text("old"), Successor: "b"},
				{Owner: "two", Field: "map", Part: "/*/a", Keys: 1, Successor: "b"},
				{Owner: "two", Field: "need", Observed: "a"},
			},
		},
		"cleared": {
			func(t *testing.T, dir string) {
				commit(t, dir, "one", set("b", `"new"`))
				commit(t, dir, "one", sidecar.Op{Field: "b", Verb: schema.VerbClear})
			},
			view{"record": `{"b":"old","other":"x"}`, "map": `{"k":{"b":"old"},"l":{}}`, "need": "1", "need is": "not-observed"},
			[]Gone{{Owner: "one", Field: "a", Value: text("old"), Successor: "b"}, {Owner: "two", Field: "need", Observed: "a"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := create(t, lately("a", ""))
			commit(t, dir, "one", set("a", `"old"`), set("record", `{"a":"old","other":"x"}`),
				sidecar.Op{Field: "map", Key: "k", Verb: schema.VerbInsert}, sidecar.Op{Field: "map", Key: "l", Verb: schema.VerbInsert})
			commit(t, dir, "two", member("k", "a", "old"))
			observing(t, dir, "two", "need", "1")
			openAs(t, dir, "one", lately("b", "")).Close()
			c.write(t, dir)

			next := lately("b", "a")
			if _, err := sidecar.Open(t.Context(), dir, next, "one", nil); err == nil {
				t.Fatal("a program opened the state before its upgrade")
			}
			report := upgraded(t, dir, next)
			if diff := cmp.Diff(c.gone, report.Gone, cmpopts.IgnoreFields(Gone{}, "Declared", "File"), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("gone (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.want, viewed(t, dir)); diff != "" {
				t.Errorf("view (-want +got):\n%s", diff)
			}
			openAs(t, dir, "one", next).Close()
		})
	}
}
