package declare

import (
	"path"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"go.yaml.in/yaml/v3"
)

var (
	ownerKeys  = []string{"doc", "mode", "busy", "durability", "home", "fields"}
	ownerLater = []string{"was"}
	busyKeys   = []string{"wait", "then"}
)

// maxWait is the longest that an owner may let a commit wait. A caller that
// hangs for longer behind a holder that died inside of its lock is what the
// deadline is there to prevent.
const maxWait = time.Hour

func (f *fileReader) readOwner(e entry) ownerEntry {
	o := ownerEntry{name: e.name, at: e.at, homeAt: e.at}
	o.named = f.checkName(e.at, "owner", e.name)
	if why := reservedOwner(e.name, f.state); why != "" {
		f.report(e.at, "the owner name %s is reserved, since %s: choose another", e.name, why)
		o.named = false
	}
	what := "owner " + plain(e.name)
	m := f.members(e.value, what, "the keys doc, mode, busy, durability, home and fields", ownerKeys, ownerLater)
	o.owner = schema.Owner{
		Doc:        f.prose(m["doc"], "the doc of "+what),
		Mode:       schema.Shared,
		Busy:       f.readBusy(m["busy"], what),
		Durability: schema.Power,
		Home:       path.Join(f.folder, e.name),
		Fields:     map[string]schema.Field{},
	}
	if mode, ok := f.word(m["mode"], "mode", what, words(schema.Shared, schema.Exclusive)); ok {
		o.owner.Mode = schema.Mode(mode)
	}
	if level, ok := f.word(m["durability"], "durability", what, words(schema.Power, schema.Process)); ok {
		o.owner.Durability = schema.Durability(level)
	}
	if home, ok := f.text(m["home"], "the home of "+what); ok {
		o.owner.Home, o.homeAt = home, at(m["home"])
	}
	f.readFields(&o, e, m["fields"])
	if o.owner.Defers() {
		f.checkPending(o, m["mode"])
	}
	return o
}

// checkPending reports why the owner cannot defer: what of its fields
// would depend on the order in which they are folded.
func (f *fileReader) checkPending(o ownerEntry, mode *yaml.Node) {
	if o.owner.Mode != schema.Shared {
		f.report(at(mode), "owner %s is %s and defers: only a shared owner's can be, so write \"then: fail\" or make it shared", o.name, o.owner.Mode)
	}
	for _, field := range o.fields {
		if member, ok := field.field.Commutes(); !ok {
			f.report(field.at, "owner %s defers, and the order of writes to %s counts: write \"then: fail\", give it a kind that combines (max, min, counter, set), or move the field to an owner of its own",
				plain(o.name), partOf(field, member))
		}
	}
}

// partOf names a field, or its member that something is about.
func partOf(field fieldEntry, member string) string {
	switch {
	case member != "":
		return "member " + member + " of " + field.name
	case field.field.EffectiveKind() == schema.Map:
		return "the values of " + field.name
	}
	return field.name
}

func (f *fileReader) readBusy(n *yaml.Node, owner string) schema.Busy {
	busy := schema.Busy{Wait: schema.DefaultWait.String(), Then: schema.Fail}
	if n == nil {
		return busy
	}
	if isNull(n) {
		f.report(at(n), "busy of %s is empty: give it a value or remove it", owner)
	}
	m := f.members(n, "busy of "+owner, "{wait: 250ms, then: fail}", busyKeys, nil)
	if n := m["wait"]; n != nil && n.Tag == "!!int" {
		f.report(at(n), "the wait of %s, %s, has no unit: write %[2]sms or %[2]ss", owner, n.Value)
	} else if wait, ok := f.text(n, "the wait of "+owner); ok && f.checkWait(at(n), wait, owner) {
		busy.Wait = wait
	}
	if then, ok := f.word(m["then"], "busy rule", owner, words(schema.Fail, schema.Defer)); ok {
		busy.Then = schema.Then(then)
	}
	return busy
}

func (f *fileReader) checkWait(at place, text, owner string) bool {
	wait, err := time.ParseDuration(text)
	switch {
	case err != nil:
		f.report(at, "the wait of %s, %s, is no duration: write a number with its unit, such as 250ms or 2s", owner, quote(text))
	case wait < 0:
		f.report(at, "the wait of %s, %s, is negative: write 0s for no waiting", owner, text)
	case wait > maxWait:
		f.report(at, "the wait of %s, %s, is longer than %s: write less", owner, text, maxWait)
	default:
		return true
	}
	return false
}

// readFields reads the fields of owner o, whose entry is e.
func (f *fileReader) readFields(o *ownerEntry, e entry, fields *yaml.Node) {
	what := "owner " + plain(e.name)
	if fields == nil {
		if !f.unfinished && (e.value.Kind == yaml.MappingNode || isNull(e.value)) {
			f.report(e.at, `%s has no fields: add "fields:" with at least one, or remove the owner`, what)
		}
		return
	}
	entries := f.entries(fields, "the fields of "+what, "NAME: {type: …}")
	if len(entries) == 0 && !f.unfinished && (isNull(fields) || fields.Kind == yaml.MappingNode && len(fields.Content) == 0) {
		f.report(at(fields), "%s has no fields: declare at least one, or remove the owner", what)
	}
	if len(entries) > schema.MaxFields {
		f.report(o.at, "%s has %d fields, and its one file may have %d: give some of them to another owner, or make a map of them", what, len(entries), schema.MaxFields)
		return
	}
	for _, e := range entries {
		if field, ok := f.readField(e); ok && f.claimField(o.name, field) {
			f.claimMembers(o.name, &field)
			o.fields = append(o.fields, field)
			o.owner.Fields[e.name] = field.field
		}
	}
}

// claimField notes that the owner declares the field, or reports that another
// one does already and it is no map that they can share.
func (f *fileReader) claimField(owner string, field fieldEntry) bool {
	if first, taken := f.fields[field.name]; taken && first.joins(field) {
		f.claimLegacy(field)
		return true
	} else if taken {
		f.report(field.at, "owner %s declares the field %s already, at %s: a field has one owner; remove or rename one of the two",
			plain(first.owner), field.name, f.cite(first.at))
		return false
	}
	f.fields[field.name] = declared{owner, field.at, field.field}
	f.claimLegacy(field)
	return true
}

// claimLegacy notes that the field takes its legacy key, or reports that
// another one does already.
func (f *fileReader) claimLegacy(field fieldEntry) {
	legacy := field.field.Legacy
	if legacy == "" {
		return
	}
	if first, taken := f.legacy[legacy]; taken && first.name != field.name {
		f.report(field.at, "field %s takes the legacy key %s, and so does field %s at %s: a key goes to one field; remove it from one of the two",
			field.name, quote(legacy), first.name, f.cite(first.at))
		return
	}
	f.legacy[legacy] = field
}

// plain returns a name as messages show it: as it is if it is a name at all,
// else quoted.
func plain(name string) string {
	if schema.ValidName(name) {
		return name
	}
	return quote(name)
}
