package schema

import (
	"errors"
	"slices"
	"testing"
)

// tools declares a field of each kind, and a map of two owners.
var tools = &Declaration{State: "usage", Owners: map[string]Owner{
	"tool": {Fields: map[string]Field{
		"note":   {Type: TypeString},
		"count":  {Type: TypeInt, Kind: Counter},
		"won":    {Type: TypeTime, Kind: Once},
		"reset":  {Type: TypeTime, Kind: Event},
		"tags":   {Type: TypeString, Kind: Set},
		"scores": {Kind: Map, Value: &Field{Type: TypeInt, Kind: Max}},
		"skills": {Kind: Map, Keys: true, Record: map[string]Field{"uses": {Type: TypeInt, Kind: Counter}}},
	}},
	"user": {Fields: map[string]Field{"skills": {Kind: Map, Record: map[string]Field{"pinned": {Type: TypeBool}}}}},
}}

// A write is allowed to one owner by the verbs of its kind; a refusal names both.
func TestResolveNamesTheOwnerAndTheVerbs(t *testing.T) {
	const whole = "-"
	for _, v := range []struct {
		owner, field, member string
		verb                 Verb
		by                   string // "": allowed
		verbs                []Verb
	}{
		{"tool", "note", whole, VerbClear, "", nil},
		{"tool", "note", whole, VerbAdd, "tool", []Verb{VerbSet, VerbClear}},
		{"user", "note", whole, VerbSet, "tool", []Verb{VerbSet, VerbClear}},
		{"tool", "count", whole, VerbAdd, "", nil},
		{"tool", "won", whole, verbClaim, "", nil},
		{"tool", "won", whole, VerbSet, "tool", []Verb{verbClaim}},
		{"tool", "reset", whole, verbBegin, "", nil},
		{"tool", "tags", whole, VerbRemove, "", nil},
		{"tool", "tags", whole, VerbDelete, "tool", []Verb{VerbInsert, VerbRemove}},
		{"tool", "scores", whole, VerbInsert, "tool", []Verb{VerbDelete, VerbPut}},
		{"tool", "scores", "", VerbRaise, "", nil},
		{"tool", "scores", "", VerbSet, "tool", []Verb{VerbRaise, VerbPut}},
		{"tool", "skills", whole, VerbDelete, "", nil},
		{"user", "skills", whole, VerbPut, "", nil},
		{"user", "skills", whole, VerbDelete, "tool", []Verb{VerbInsert, VerbDelete, VerbPut}},
		{"user", "skills", "pinned", VerbPut, "", nil},
		{"user", "skills", "uses", VerbAdd, "tool", []Verb{VerbAdd, VerbPut}},
		{"user", "skills", "lost", VerbSet, "nobody", nil},
		{"user", "lost", whole, VerbSet, "nobody", nil},
	} {
		var err error
		if v.member == whole {
			_, err = tools.Resolve(v.owner, v.field, v.verb)
		} else {
			_, err = tools.ResolveMember(v.owner, v.field, v.member, v.verb)
		}
		if v.by == "" {
			if err != nil {
				t.Errorf("%s %s %s %s: %v", v.owner, v.verb, v.field, v.member, err)
			}
			continue
		}
		refusal, ok := errors.AsType[*Refusal](err)
		if !ok {
			t.Errorf("%s %s %s %s: got %v, want a refusal", v.owner, v.verb, v.field, v.member, err)
			continue
		}
		by := or(refusal.By, "nobody")
		if by != v.by || !slices.Equal(refusal.Verbs, v.verbs) {
			t.Errorf("%s %s %s %s: by %s with %v, want by %s with %v", v.owner, v.verb, v.field, v.member, by, refusal.Verbs, v.by, v.verbs)
		}
	}
}

// A patch holds no claim and no beginning: both are decided at once.
func TestPatchHasOnlyVerbsThatWait(t *testing.T) {
	for verb, kind := range map[Verb]Kind{verbClaim: Once, verbBegin: Event, VerbPut: Map} {
		if err := (Field{Kind: kind}).CheckVerb(verb); err == nil {
			t.Errorf("a patch may hold %s", verb)
		}
	}
	for kind, u := range usages {
		for _, verb := range u.patch {
			if err := (Field{Kind: kind}).CheckVerb(verb); err != nil {
				t.Error(err)
			}
		}
	}
}
