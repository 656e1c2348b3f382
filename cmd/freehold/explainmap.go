package main

import (
	"strings"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
)

// A part is what one owner has in a map.
type part struct {
	origin
	Keys    bool     `json:"keys"` // the owner decides them
	Members []string `json:"members,omitempty"`
	Earlier *earlier `json:"earlier,omitempty"`

	declared schema.Field
}

// partsOf returns the parts of a map, that of the owner that decides the keys
// first. Other fields have none.
func partsOf(view *reader.View, field string) []part {
	d := view.Declaration()
	if f, _ := d.Joined(field); f.EffectiveKind() != schema.Map {
		return nil
	}
	var parts []part
	for i, owner := range ownersOf(d, field) {
		f := d.Owners[owner].Fields[field]
		p := part{origin: originOf(view, field, owner), Keys: i == 0, Members: f.MemberNames(), declared: f}
		if !p.written {
			p.Earlier = earlierOf(view, owner, field)
		}
		parts = append(parts, p)
	}
	return parts
}

// mapText is text for a map.
func (e *explanation) mapText() string {
	var t sentences
	switch {
	case e.err != nil:
		t.say("%s cannot be read whole: what owner %s wrote is %s.", e.Field, e.bad, e.Status)
	case e.Set:
		t.say("%s has %s.", e.Field, shownValue(e.declared, e.Value))
	case e.written || e.Parts[0].Earlier != nil:
		t.say("%s is unset.", e.Field)
	default:
		t.say("%s is unset: owner %s, which decides the keys, has never written it.", e.Field, e.Owner)
	}
	t.unshown(e.Unshown)
	if e.Doc != "" {
		t.say("Its meaning: %s", visible(e.Doc))
	}
	t.say("It is a %s.", called(e.declared))
	for _, p := range e.Parts {
		p.explain(&t, e.Field)
	}
	return t.text()
}

// explain says what one owner has in the map.
func (p part) explain(t *sentences, field string) {
	has := "decides which keys there are"
	switch members := enumerate(p.Members); {
	case !p.Keys:
		has = "has " + members + " at a key"
	case members != "":
		has += ", and has " + members + " at each"
	}
	switch {
	case p.written:
		t.say("Owner %s %s. It %s at %s.", p.Owner, has, p.did("last changed something", "something"), p.when())
	case p.Earlier != nil:
		t.say("Owner %s %s. It has not written there since an earlier sidecar of it went to the quarantine.", p.Owner, has)
		p.Earlier.explain(t, p.declared, "  ")
	default:
		t.say("Owner %s %s. It has never written there.", p.Owner, has)
	}
	t.say("  What it has belongs in %s, which is %s.", visible(p.File), condition[p.Status])
	t.say("  `%s` writes there, and so does code below %s.", commandOf(p.Owner, field, p.declared), visible(p.home))
}

// enumerate joins words as a sentence does.
func enumerate(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
