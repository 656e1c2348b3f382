package breaking

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/declare"
)

// pair compares the words of a part with those of its predecessor that no upgrade
// is for: unit, name in Go, legacy key.
func (c *comparison) pair(at, was schema.Change, now, old schema.Field) {
	c.pairs[at] = pair{was, now, old}
	if at.Part == "" && now.Shareable() {
		if decider, _ := c.next.Declaration.OwnerOf(at.Field); decider != at.Owner {
			return // those of a map are the decider's
		}
	}
	f := Finding{Owner: at.Owner, Field: at.Field + at.Part}
	place := pointer(c.next.Declaration, at)
	if old.Unit != now.Unit && old.Unit != "" { // a first unit is documentation
		f := f
		f.Rule, f.From, f.To = "UNIT_CHANGED", old.Unit, now.Unit
		f.Change = fmt.Sprintf("the unit of %s was %s, becomes %s", f.Field, old.Unit, cmp.Or(now.Unit, "none"))
		f.Breaks = "code that uses it compiles and means something else"
		c.add(f, place+"/unit")
	}
	if from, to := goName(was, old), goName(at, now); from != to && (old.Go != "" || now.Go != "") {
		f := f
		f.Rule, f.From, f.To = "GO_NAME_CHANGED", from, to
		f.Change = fmt.Sprintf("%s was %s in Go, becomes %s", f.Field, cmp.Or(from, "unnamed"), cmp.Or(to, "unnamed"))
		f.Breaks = "code that uses it does not compile"
		c.add(f, place+"/go")
	}
	if from, to := legacyKey(was, old), legacyKey(at, now); from != to && (old.Legacy != "" || now.Legacy != "") {
		f.Rule, f.From, f.To = "LEGACY_CHANGED", from, to
		f.Change = fmt.Sprintf("%s was %s in the old file, becomes %s", f.Field, from, to)
		f.Breaks = "the former key of an old file is nobody's"
		c.add(f, place+"/legacy")
	}
}

// goName returns the name in Go of the part at a place; of one without a name of its
// own, the one that it declares.
func goName(at schema.Change, f schema.Field) string {
	name := lastName(at.Field + at.Part)
	if name == "*" {
		return f.Go
	}
	return declare.GoName(name, f)
}

// legacyKey returns the key of the part at a place in an old file.
func legacyKey(at schema.Change, f schema.Field) string {
	return cmp.Or(f.Legacy, lastName(at.Field+at.Part))
}

// lostKey completes the finding of a renamed part: without a legacy key, the name is
// the key in an old file.
func (c *comparison) lostKey(ch schema.Change) string {
	p := c.pairs[schema.Change{Owner: ch.Owner, Field: ch.Field, Part: ch.Part}]
	if p.old.Legacy != "" || p.now.Legacy != "" {
		return ""
	}
	return fmt.Sprintf(", and adopt looks for %s in old files", lastName(ch.Field+ch.Part))
}

// retyped adds a finding for another kind and one for another type.
func (c *comparison) retyped(ch schema.Change, f Finding) {
	p := c.pairs[schema.Change{Owner: ch.Owner, Field: ch.Field, Part: ch.Part}]
	from, to := p.old.EffectiveKind(), p.now.EffectiveKind()
	at := pointer(c.next.Declaration, ch)
	f.Change = fmt.Sprintf("%s was %s, becomes %s", f.Field, ch.From, ch.To)
	f.Breaks = "code that uses it does not compile"
	if from != to {
		f := f
		f.Rule, f.From, f.To = "KIND_CHANGED", string(from), string(to)
		c.add(f, at+"/kind")
	}
	if from == to || p.old.Type != "" && p.now.Type != "" && p.old.Type != p.now.Type {
		f.Rule, f.From, f.To = "TYPE_CHANGED", typeOf(p.old), typeOf(p.now)
		c.add(f, at+"/type")
	}
}

// typeOf names the type of a field, also of a map.
func typeOf(f schema.Field) string {
	switch {
	case f.EffectiveKind() != schema.Map:
		return string(f.Type)
	case f.Value != nil:
		return "values"
	}
	return "records"
}

// String returns the finding as a line: FILE:LINE:COL: RULE: change: breaks.
func (f Finding) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d:%d: %s: %s", f.File, f.Line, f.Column, f.Rule, f.Change)
	if f.Was != "" {
		fmt.Fprintf(&b, " (was %s)", f.Was)
	}
	return b.String() + ": " + f.Breaks
}
