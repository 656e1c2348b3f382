package schema

import (
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	// MaxNest is how deep the types of a declaration may nest: a list of records
	// with a list in it nests 3 deep.
	MaxNest = 4
	// maxWait bounds the wait of a commit behind a process that died while it
	// held the lock.
	maxWait = time.Hour
)

// Problems returns the faults of d, by the rules that all code relies on: names
// become file names, types decide how bytes are read, and a field has one
// owner. The owners are those of d in the order of the file; if nil, they are
// sorted.
func (d *Declaration) Problems(owners []string) []Problem {
	if owners == nil {
		owners = d.OwnerNames()
	}
	c := d.checker(owners)
	c.name("/state", "state", d.State)
	if d.Instanced() {
		c.name("/instances/by", "instances'", d.Instances.By)
	}
	if len(owners) <= MaxOwners {
		for _, owner := range owners {
			c.owner(owner, d.Owners[owner])
		}
	}
	c.union()
	return c.problems
}

// union checks the rules that parts may break together which are sound alone.
func (c *checker) union() {
	if len(c.owners) > MaxOwners {
		c.report("/owners", "the state has %d owners and may have %d: declare several states", len(c.owners), MaxOwners)
		return
	}
	for _, owner := range c.owners {
		c.fields(owner, c.d.Owners[owner])
	}
	c.shared()
	c.dependencies()
}

// A checker collects the problems of a declaration.
type checker struct {
	d        *Declaration
	owners   []string            // in the order of the file
	index    map[string][]string // the owners of each field, sorted
	guesses  int                 // how many unknown fields were compared with all others
	problems []Problem
}

func (d *Declaration) checker(owners []string) *checker {
	return &checker{d: d, owners: owners, index: d.index()}
}

func (c *checker) report(at jsontext.Pointer, format string, args ...any) {
	c.problems = append(c.problems, Problem{at, format, args})
}

// name checks a name of the given kind of part.
func (c *checker) name(at jsontext.Pointer, part, name string) {
	if !ValidName(name) {
		c.report(at, "the %s name %.40q %s", part, name, BadName(name))
	}
}

// BadName returns why a name breaks [NameRule], and a remedy.
func BadName(name string) string {
	if strings.HasPrefix(name, "$") {
		return "is reserved: names with $ say things about the file itself; choose a name of a-z, 0-9 and _"
	}
	better := "choose another"
	if s := snake(name); ValidName(s) {
		better = "write " + s
	}
	return "may have only a-z, 0-9 and _, at most 48 of them, a letter first: " + better
}

// snake turns a name in another style, fieldName or field-name, into ours.
func snake(name string) string {
	var b strings.Builder
	for i, c := range []byte(strings.TrimSpace(name)) {
		switch {
		case c >= 'A' && c <= 'Z':
			if i > 0 && name[i-1] >= 'a' && name[i-1] <= 'z' {
				b.WriteByte('_')
			}
			b.WriteByte(c + 'a' - 'A')
		case c == '-' || c == '.' || c == ' ':
			b.WriteByte('_')
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// word checks that an attribute of the part at a place is one of the words.
func word[T ~string](c *checker, at jsontext.Pointer, attribute string, got T, words []T) bool {
	if slices.Contains(words, got) {
		return true
	}
	name := attribute
	if attribute == "then" {
		at, name = at+"/busy", "busy rule"
	}
	c.report(at+"/"+jsontext.Pointer(attribute), "unknown %s %.40q of %s: %s", name, string(got), strings.TrimPrefix(PartName(at), "busy of "), DidYouMean(string(got), "the values are", words))
	return false
}

func (c *checker) owner(name string, o Owner) {
	at := PointerTo(name, "")
	c.name(at, "owner", name)
	if name == "state" {
		c.report(at, "the owner name state is reserved, since state.lock in .freehold guards the state itself: choose another")
	}
	word(c, at, "mode", o.EffectiveMode(), []Mode{Shared, Exclusive})
	word(c, at, "durability", o.EffectiveDurability(), []Durability{Power, Process})
	word(c, at, "then", or(o.Busy.Then, Fail), []Then{Fail, Defer})
	if o.Busy.Wait != "" {
		c.wait(at+"/busy/wait", "owner "+plain(name), o.Busy.Wait)
	}
	if len(o.Fields) > MaxFields {
		return // fields reports them
	}
	for _, field := range o.FieldNames() {
		at := (at + "/fields").AppendToken(field)
		c.name(at, "field", field)
		c.field(at, o.Fields[field], allKinds, 0)
	}
}

// fields checks how many fields an owner has, and whether patches to them can
// wait if the owner defers.
func (c *checker) fields(name string, o Owner) {
	at := PointerTo(name, "")
	if o.Defers() && o.EffectiveMode() == Exclusive {
		c.report(at+"/mode", "owner %s is %s and defers: only a shared owner's can be, so write \"then: fail\" or make it shared", plain(name), o.Mode)
	}
	if len(o.Fields) > MaxFields {
		c.report(at, "owner %s has %d fields, and its one file may have %d: give some of them to another owner, or make a map of them", plain(name), len(o.Fields), MaxFields)
		return
	}
	if !o.Defers() {
		return
	}
	for _, field := range o.FieldNames() {
		f := o.Fields[field]
		if member, ok := f.commutes(); !ok {
			c.report(PointerTo(name, field), "owner %s defers, and the order of writes to %s counts: write \"then: fail\", give it a kind that combines (max, min, counter, set), or move the field to an owner of its own",
				plain(name), f.partName(field, member))
		}
	}
}

// partName names the field, or its member.
func (f Field) partName(field, member string) string {
	switch {
	case member != "":
		return "member " + member + " of " + field
	case f.EffectiveKind() == Map:
		return "the values of " + field
	}
	return field
}

func (c *checker) wait(at jsontext.Pointer, owner, text string) {
	wait, err := time.ParseDuration(text)
	switch {
	case err != nil:
		c.report(at, "the wait of %s, %.40q, is no duration: write a number with its unit, such as 250ms or 2s", owner, text)
	case wait < 0:
		c.report(at, "the wait of %s, %s, is negative: write 0s for no waiting", owner, text)
	case wait > maxWait:
		c.report(at, "the wait of %s, %s, is longer than %s: write less", owner, text, maxWait)
	}
}

// The kinds of a part of a value, and of a value at a key of a map.
var (
	partKinds  = []Kind{Value}
	entryKinds = []Kind{Value, Max, Min, Counter}
)

// field checks the description of a value, which must be of one of the kinds.
func (c *checker) field(at jsontext.Pointer, f Field, kinds []Kind, nest int) {
	if nest > MaxNest {
		c.report(at, "%s nests deeper than the %d levels allowed: flatten it, or use type json", PartName(at), MaxNest)
		return
	}
	if nest > 0 && f.Dependent() {
		c.report(at+"/depends_on", "%q does not belong in %s, since an observation is kept for a whole field: remove it", "depends_on", PartName(at))
	}
	if known := word(c, at, "kind", f.EffectiveKind(), kinds); known && f.EffectiveKind() == Map {
		c.mapField(at, f, nest)
	} else if c.typed(at, f, nest) {
		if known {
			c.kind(at+"/kind", f)
		}
		c.parts(at, f, nest)
	}
}

// mapField checks a map.
func (c *checker) mapField(at jsontext.Pointer, f Field, nest int) {
	for _, key := range f.attributes("type", "of", "fields", "values", "unit") {
		c.report(at+"/"+jsontext.Pointer(key), `%s is a map and has %q: move it to "record:" or "value:", which declare the entry at a key`, PartName(at), key)
	}
	if f.Value != nil && len(f.Record) > 0 {
		c.report(at+"/value", `%s has both "record" and "value": keep the one that declares the entry at a key`, PartName(at))
		return
	}
	if f.Value != nil {
		c.field(at+"/value", *f.Value, entryKinds, nest+1)
	}
	c.members(at+"/record", f.Record, entryKinds, nest)
}

// typed checks the type of a value that is no map.
func (c *checker) typed(at jsontext.Pointer, f Field, nest int) bool {
	for _, key := range f.attributes("record", "value", "keys") {
		c.report(at+"/"+jsontext.Pointer(key), "%s has %q and is no map: remove it, or use kind map", PartName(at), key)
	}
	switch {
	case f.Type == "":
		c.report(at+"/type", `%s has no type: add "type:", one of %s`, PartName(at), list(Types(), "and"))
		return false
	case nest == 0 && slices.Contains(allKinds, Kind(f.Type)):
		c.report(at+"/type", "%s: %s is a kind and no type: write \"kind: %[2]s\"", PartName(at), f.Type)
		return false
	}
	return word(c, at, "type", f.Type, allTypes)
}

// parts checks the elements of a list and the members of a record.
func (c *checker) parts(at jsontext.Pointer, f Field, nest int) {
	switch {
	case f.Type == TypeList && f.Of == nil:
		c.report(at+"/of", `%s is a list and declares no element: add "of: {type: …}"`, PartName(at))
	case f.Type != TypeList && f.Of != nil:
		c.report(at+"/of", `%s has "of" and is of type %s: remove it, or use type list`, PartName(at), f.Type)
	case f.Of != nil:
		c.field(at+"/of", *f.Of, partKinds, nest+1)
	}
	if f.Type != TypeRecord && len(f.Fields) > 0 {
		c.report(at+"/fields", `%s has "fields" and is of type %s: remove them, or use type record`, PartName(at), f.Type)
		return
	}
	c.members(at+"/fields", f.Fields, partKinds, nest)
}

// members checks the members of a record, or of the record at a key of a map.
func (c *checker) members(at jsontext.Pointer, members map[string]Field, kinds []Kind, nest int) {
	if len(members) > MaxFields {
		c.report(at.Parent(), "%s has %d members and may have %d: make a map of them", PartName(at.Parent()), len(members), MaxFields)
		return
	}
	for _, name := range (Field{Fields: members}).MemberNames() {
		at := at.AppendToken(name)
		c.name(at, "member", name)
		c.field(at, members[name], kinds, nest+1)
	}
}

// kind checks that f's kind suits its type.
func (c *checker) kind(at jsontext.Pointer, f Field) {
	kind, part := f.EffectiveKind(), at.Parent()
	switch {
	case kind.Allows(f.Type):
	case kind == Counter && f.Type == TypeFloat:
		c.report(at, "%s is a counter of type float, which does not sum exactly: use type decimal", PartName(part))
	case kind == Set && f.Type == TypeFloat:
		c.report(at, "%s is a set of type float, of which no two are surely the same: use type decimal", PartName(part))
	case kind.OnWriter():
		c.report(at, "%s is of kind %s, which has type %s, and says type %s: remove the type, or use another kind", PartName(part), kind, TypeTime, f.Type)
	default:
		allowed := slices.DeleteFunc(Types(), func(t Type) bool { return !kind.Allows(t) })
		c.report(at, "%s is of kind %s, which type %s cannot be: use kind value, or one of the types %s", PartName(part), kind, f.Type, list(allowed, "and"))
	}
}

// attributes returns those of the keys of f that say something.
func (f Field) attributes(keys ...string) (said []string) {
	for _, key := range keys {
		says := false
		switch key {
		case "type":
			says = f.Type != ""
		case "of":
			says = f.Of != nil
		case "fields":
			says = len(f.Fields) > 0
		case "values":
			says = len(f.Values) > 0
		case "unit":
			says = f.Unit != ""
		case "record":
			says = len(f.Record) > 0
		case "value":
			says = f.Value != nil
		case "keys":
			says = f.Keys
		}
		if says {
			said = append(said, key)
		}
	}
	return said
}

// shared checks the fields that several owners declare.
func (c *checker) shared() {
	var shared []string
	for field, owners := range c.index {
		if len(owners) > 1 {
			shared = append(shared, field)
		}
	}
	slices.Sort(shared)
	for _, field := range shared {
		c.sharedField(field)
	}
}

func (c *checker) sharedField(field string) {
	var parts []string // owners, in the order of the file
	for _, owner := range c.owners {
		f, declared := c.d.Owners[owner].Fields[field]
		switch {
		case !declared:
		case len(parts) > 0 && !(f.Shareable() && c.d.Owners[parts[0]].Fields[field].Shareable()):
			c.report(PointerTo(owner, field), "owner %s declares the field %s already, at %s: a field has one owner; remove or rename one of the two",
				plain(parts[0]), plain(field), PointerTo(parts[0], field))
		default:
			parts = append(parts, owner)
		}
	}
	if len(parts) > 1 {
		c.sharedMap(field, parts)
	}
}

// sharedMap checks a map that several owners have parts of.
func (c *checker) sharedMap(field string, owners []string) {
	decider, members := "", map[string]string{}
	for _, owner := range owners {
		f, at := c.d.Owners[owner].Fields[field], PointerTo(owner, field)
		switch {
		case f.Keys && decider != "":
			c.report(at+"/keys", `two owners decide the keys of map %s, the first at %s: remove "keys" from one of the two`, plain(field), PointerTo(decider, field)+"/keys")
		case f.Keys:
			decider = owner
		}
		for _, member := range f.MemberNames() {
			if first, taken := members[member]; taken {
				c.report((at + "/record").AppendToken(member), "owner %s declares member %s of map %s already, at %s: a member has one owner; remove or rename one of the two",
					plain(first), plain(member), plain(field), (PointerTo(first, field) + "/record").AppendToken(member))
				continue
			}
			members[member] = owner
		}
	}
	if decider == "" {
		c.report(PointerTo(owners[0], field), `map %s has %d owners, the next at %s, and none decides its keys: add "keys: true" to one of them`,
			plain(field), len(owners), PointerTo(owners[1], field))
	}
}
