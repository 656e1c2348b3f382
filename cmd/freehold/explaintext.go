package main

import (
	"fmt"
	"strings"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/verbs"
	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/reader/explain"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
)

// mapText is text for a map.
func (e explaining) mapText() string {
	var t sentences
	switch {
	case e.Err != nil:
		t.say("%s cannot be read whole: what owner %s wrote is %s.", e.Field, e.Obstacle, string(e.Status))
	case e.Set:
		t.say("%s has %s.", e.Field, display.Value(e.Declared, e.Value))
	case e.Written || e.Parts[0].Earlier != nil:
		t.say("%s is unset.", e.Field)
	default:
		t.say("%s is unset: owner %s, which decides the keys, has never written it.", e.Field, e.Owner)
	}
	t.pending(e.Call, e.Field, e.Unshown)
	if e.Doc != "" {
		t.say("Its meaning: %s", display.Escape(e.Doc))
	}
	t.say("It is a %s.", display.Kind(e.Declared))
	for _, p := range e.Parts {
		t.part(e.Call, p, e.Field)
	}
	return t.text()
}

// part tells of one owner's part of a map.
func (t *sentences) part(c *cli.Call, p explain.Part, field string) {
	has := "decides which keys there are"
	switch members := display.List(p.Members); {
	case !p.Keys:
		has = "has " + members + " at a key"
	case members != "":
		has += ", and has " + members + " at each"
	}
	switch {
	case p.Written:
		t.say("Owner %s %s. It %s at %s.", p.Owner, has, did(p.Origin, "last changed something", "something"), when(p.Origin))
	case p.Earlier != nil:
		t.say("Owner %s %s. It has not written there since an earlier sidecar of it went to the quarantine.", p.Owner, has)
		t.earlier(p.Earlier, p.Declared, "  ")
	default:
		t.say("Owner %s %s. It has never written there.", p.Owner, has)
	}
	t.say("  What it has belongs in %s, which is %s.", display.Escape(p.File), condition[p.Status])
	t.say("  `%s` writes there, and so does code below %s.", c.Line(verbs.Command(p.Owner, field, p.Declared), ""), display.Escape(p.Home))
}

// freshness tells whether a dependent field was computed from the newest of its
// dependencies, and the same of those in turn.
func (t *sentences) freshness(e explaining) {
	if !e.Declared.Dependent() {
		return
	}
	t.say("It depends on %s.", display.List(e.DependsOn))
	t.seen(e.Observed)
	t.say("It is %s (%s): %s.", e.Freshness.Verdict, e.Freshness.Reason, display.Escape(e.Freshness.Says))
	t.others(e.Freshness, e.Dependencies)
	for _, l := range e.Chain {
		t.say("%s in turn depends on %s, and is %s (%s): %s.", l.Field, display.List(l.DependsOn), l.Freshness.Verdict, l.Freshness.Reason, display.Escape(l.Freshness.Says))
		t.others(l.Freshness, l.Dependencies)
	}
}

// seen tells the versions that the writer of a field had seen.
func (t *sentences) seen(observed sidecar.Seen) {
	var parts []string
	for _, name := range observed.Fields() {
		switch version, _ := observed.Version(name); {
		case version.IsZero():
			parts = append(parts, name+" when nobody had written it")
		case version.IsPending():
			parts = append(parts, fmt.Sprintf("%s in patch %s, which was deferred", name, version.Nonce))
		default:
			parts = append(parts, fmt.Sprintf("%s in version %s", name, version))
		}
	}
	if len(parts) > 0 {
		t.say("Its writer had seen %s.", display.List(parts))
	}
}

// others tells of the dependencies beside the one that decided.
func (t *sentences) others(whole *explain.Freshness, dependencies []*explain.Freshness) {
	for _, f := range dependencies {
		if f.Field != whole.Field && whole.Verdict != reader.Fresh {
			t.say("By %s alone it would be %s (%s): %s.", f.Field, f.Verdict, f.Reason, display.Escape(f.Says))
		}
	}
}

// earlier tells of a field's value in a quarantined sidecar, in lines that begin
// with margin.
func (t *sentences) earlier(e *explain.Earlier, f schema.Field, margin string) {
	switch {
	case e.Unread:
		t.say("%sThat cannot be read, and may have had the field: %s.", margin, display.Escape(e.Path))
	case e.Value == nil:
		t.say("%sThat has the field: %s.", margin, display.Escape(e.Path))
	default:
		t.say("%sThere it is %s: %s.", margin, strings.TrimSpace(display.Value(f, e.Value)+" "+display.Escape(f.Unit)), display.Escape(e.Path))
	}
	t.say("%sWhat is to count of that has to be written again.", margin)
}
