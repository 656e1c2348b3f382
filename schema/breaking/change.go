package breaking

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/go-json-experiment/json/jsontext"
)

// change adds the findings of one difference that an upgrade reports too.
func (c *comparison) change(ch schema.Change) {
	if ch.Field == "" {
		c.ownerChange(ch)
		return
	}
	f := Finding{Owner: ch.Owner, Field: ch.Field + ch.Part, From: ch.From, To: ch.To}
	at := pointer(c.next.Declaration, ch)
	switch ch.What {
	case "added":
		if part, value, ok := strings.Cut(ch.Part, "="); ok {
			f.Rule, f.To, f.Breaks = "ENUM_VALUE_ADDED", value, "code that lists the values does not know this one"
			f.Change = fmt.Sprintf("%s%s may be %s", ch.Field, part, value)
			c.add(f, at)
		}
	case "removed":
		c.removed(ch, f)
	case "renamed":
		f.Rule, f.To = "FIELD_RENAMED", lastName(f.Field)
		f.Change = fmt.Sprintf("%s of %s was %s", f.Field, ch.Owner, ch.From)
		f.Breaks = "code that uses the former name does not compile" + c.lostKey(ch)
		c.add(f, at)
	case "moved":
		f.Rule, f.To = "FIELD_MOVED", ch.Owner
		f.Change = fmt.Sprintf("%s went from %s to %s", f.Field, ch.From, ch.Owner)
		f.Breaks = ch.From + "'s programs do not compile"
		c.add(f, at)
	case "keys":
		f.Rule, f.To = "KEYS_MOVED", ch.Owner
		f.Change = fmt.Sprintf("the keys of %s went from %s to %s", f.Field, ch.From, ch.Owner)
		f.Breaks = ch.From + "'s programs that delete keys do not compile"
		c.add(f, at)
	case "retyped":
		c.retyped(ch, f)
	case "depends_on":
		f.Rule = "DEPENDS_ON_CHANGED"
		f.Change = fmt.Sprintf("%s depended on %s, depends on %s", f.Field, ch.From, ch.To)
		f.Breaks = "an observation of the former fields does not suit, and freshness means something else"
		if ch.From == "nothing" || ch.To == "nothing" {
			f.Breaks = ch.Owner + "'s programs do not compile"
		}
		c.add(f, at+"/depends_on")
	default:
		panic("breaking: no rule for a change of " + ch.What) // a test has every kind of change
	}
}

// ownerChange adds the findings of a difference of a whole owner.
func (c *comparison) ownerChange(ch schema.Change) {
	f := Finding{Owner: ch.Owner, From: ch.From, To: ch.To, Change: fmt.Sprintf("%s was %s, becomes %s", ch.Owner, ch.From, ch.To)}
	at := schema.PointerTo(ch.Owner, "")
	old, now := c.old.Declaration.Owners[ch.Owner], c.next.Declaration.Owners[ch.Owner]
	switch ch.What {
	case "added":
		return
	case "removed":
		f.Rule, f.From, f.Change, f.Breaks = "OWNER_REMOVED", ch.Owner, ch.Owner+" is no longer declared", ch.Owner+"'s programs do not compile"
		c.remove(f, at)
		return
	case "mode":
		f.Rule, f.Breaks = "MODE_CHANGED", "several processes may play it at once"
		if now.EffectiveMode() == schema.Exclusive {
			f.Breaks = "a second process is refused while one holds the lease"
		}
	case "durability":
		f.Rule, f.Breaks = "DURABILITY_LOWERED", "power loss may take an acknowledged commit"
		if now.EffectiveDurability() == schema.Power {
			f.Rule, f.Breaks = "DURABILITY_RAISED", "programs that were built before are refused"
		}
	case "home":
		f.Rule, f.Breaks = "HOME_MOVED", "programs in "+ch.From+" do not compile"
		f.Change = fmt.Sprintf("the home of %s was %s, becomes %s", ch.Owner, ch.From, ch.To)
	case "busy":
		c.busy(f, at, old, now)
		return
	default:
		panic("breaking: no rule for a change of " + ch.What)
	}
	c.add(f, at+"/"+jsontext.Pointer(ch.What))
}

// busy adds the findings of a changed wait or busy rule. A longer wait, and a commit
// that is deferred now, break nothing.
func (c *comparison) busy(f Finding, at jsontext.Pointer, old, now schema.Owner) {
	if old.Defers() && !now.Defers() {
		f := f
		f.Rule, f.From, f.To = "BUSY_CHANGED", string(schema.Defer), string(schema.Fail)
		f.Change, f.Breaks = f.Owner+" deferred a commit while busy, and fails", "a commit that was kept is an error"
		c.add(f, at+"/busy/then")
	}
	if now.EffectiveWait() < old.EffectiveWait() {
		f.Rule, f.From, f.To = "WAIT_LOWERED", old.EffectiveWait().String(), now.EffectiveWait().String()
		f.Change, f.Breaks = fmt.Sprintf("%s waited %s for its lock, waits %s", f.Owner, f.From, f.To), "commits end busy sooner"
		c.add(f, at+"/busy/wait")
	}
}

// removed adds the finding of a removed field, member or enum value.
func (c *comparison) removed(ch schema.Change, f Finding) {
	f.Rule, f.From, f.Breaks = "FIELD_REMOVED", f.Field, "code that uses it does not compile"
	f.Change = fmt.Sprintf("%s of %s is no longer declared", f.Field, ch.Owner)
	part, value, isValue := strings.Cut(ch.Part, "=")
	switch {
	case isValue:
		f.Rule, f.From = "ENUM_VALUE_REMOVED", value
		f.Change, f.Breaks = fmt.Sprintf("%s%s may no longer be %s", ch.Field, part, value), "code that names the value does not compile"
	case part != "":
		f.Rule, f.From = "MEMBER_REMOVED", lastName(part)
	}
	at := c.former(schema.Change{Owner: ch.Owner, Field: ch.Field, Part: part})
	at.Part += ch.Part[len(part):]
	c.remove(f, pointer(c.old.Declaration, at))
}

// former returns the place of a part in the former declaration. A removed field, or
// the member of a map, has it in ch; the parts below a successor have the
// predecessor's.
func (c *comparison) former(ch schema.Change) schema.Change {
	last := ""
	if _, ok := c.pairs[ch]; !ok {
		if i := strings.LastIndex(ch.Part, "/"); i >= 0 {
			last, ch.Part = ch.Part[i:], ch.Part[:i]
		}
	}
	p, ok := c.pairs[ch]
	if _, column := c.old.Declaration.Owners[ch.Owner].Fields[ch.Field].Record[strings.TrimPrefix(last, "/")]; ok && !column {
		ch = p.was
	}
	ch.Part += last
	return ch
}

// pointer returns the place of a part in a declaration.
func pointer(d *schema.Declaration, ch schema.Change) jsontext.Pointer {
	at, f := schema.PointerTo(ch.Owner, ch.Field), d.Owners[ch.Owner].Fields[ch.Field]
	part, value, isValue := strings.Cut(ch.Part, "=")
	for name := range strings.SplitSeq(strings.TrimPrefix(part, "/"), "/") {
		switch member, isColumn := f.Record[name]; {
		case name == "":
		case name == "*" && f.Of != nil:
			at, f = at+"/of", *f.Of
		case name == "*" && f.Value != nil:
			at, f = at+"/value", *f.Value
		case isColumn:
			at, f = (at + "/record").AppendToken(name), member
		default:
			at, f = (at + "/fields").AppendToken(name), f.Fields[name]
		}
	}
	if isValue {
		at = (at + "/values").AppendToken(strconv.Itoa(slices.Index(f.Values, value)))
	}
	return at
}

// lastName returns the last name of a path: port for hosts/*/port.
func lastName(path string) string { return path[strings.LastIndex(path, "/")+1:] }
