package declare

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/freehold-dev/freehold/schema"
	"go.yaml.in/yaml/v3"
)

// AddOwner returns the text of an owners.yaml with an owner added after the
// others. Everything that stood in text stands in the result: comments, blank
// lines, line ends; and what is new is written in the style of its
// neighbours. What o leaves empty is left out.
//
// If text has mistakes, or the result would, the error is [Problems]; those of
// the result have the positions at which the new lines would stand. Where the
// file is written in a way that leaves no place for a new line, the error says
// where to add it by hand.
func AddOwner(text []byte, name string, o schema.Owner) ([]byte, error) {
	e, err := edit(text)
	if err != nil {
		return nil, err
	}
	owners, err := e.under(e.root, e.margin, "owners")
	if err != nil {
		return nil, err
	}
	indent := owners.childIndent
	added := append([]string{indent + scalar(name) + ":"}, block(ownerPairs(o), indent+e.step)...)
	added = append(added, indent+e.step+"fields:")
	for _, field := range o.FieldNames() {
		added = append(added, e.field(field, o.Fields[field], indent+e.step+e.step, nil)...)
	}
	return e.finish(owners.insert(added), func(d *schema.Declaration) { d.Owners[name] = filled(name, o) })
}

// ErrNoOwner is wrapped by the error of [AddField] if the file does not declare
// the owner that is to have the field.
var ErrNoOwner = errors.New("owners.yaml has no owner")

// AddField returns the text of an owners.yaml with a field added after the
// other fields of owner, as [AddOwner] does. It returns [ErrNoOwner] if there is
// no such owner.
func AddField(text []byte, owner, name string, f schema.Field) ([]byte, error) {
	e, err := edit(text)
	if err != nil {
		return nil, err
	}
	if _, ok := e.before.Owners[owner]; !ok {
		return nil, fmt.Errorf("%w %s: %s", ErrNoOwner, quote(owner), didYouMean(owner, "its owners are", e.before.OwnerNames()))
	}
	owners, err := e.under(e.root, e.margin, "owners")
	if err != nil {
		return nil, err
	}
	body, err := e.under(owners.node, owners.childIndent, owner)
	if err != nil {
		return nil, err
	}
	fields, err := e.under(body.node, body.childIndent, "fields")
	if err != nil {
		return nil, err
	}
	if fields.key == nil { // an owner that has none yet
		fields.after = body.after
	}
	added := e.field(name, f, fields.childIndent, fields.last)
	return e.finish(fields.insert(added), func(d *schema.Declaration) { d.Owners[owner].Fields[name] = filledField(f) })
}

// An editor adds lines to a file.
type editor struct {
	text   []byte
	lines  []string
	end    string // of a line
	margin string // the indentation of the outermost level
	step   string // the indentation of one more level
	root   *yaml.Node
	before *schema.Declaration
}

func edit(text []byte) (*editor, error) {
	f, root, err := read("owners.yaml", text, options{unplaced: true, unfinished: true})
	if err != nil {
		return nil, err
	}
	e := &editor{text: text, lines: lines(text), end: "\n", step: "  ", root: root, before: f.source().Declaration}
	e.observe()
	return e, nil
}

// field returns the lines of a field, in braces or as a block like the
// neighbour, which may be nil.
func (e *editor) field(name string, f schema.Field, indent string, neighbour *yaml.Node) []string {
	key := indent + scalar(name) + ":"
	if e.blockField(neighbour) {
		return append([]string{key}, block(fieldPairs(f), indent+e.step)...)
	}
	return []string{key + " " + flow(fieldPairs(f))}
}

var errLayout = errors.New("owners.yaml is laid out in a way that a line cannot be added to: add it by hand")

// finish returns the text if it says what the file said before, changed by
// change, and nothing else. How YAML is laid out has more forms than are known
// here; this is what makes an edit safe all the same.
func (e *editor) finish(text []byte, change func(*schema.Declaration)) ([]byte, error) {
	if _, err := decode(text); err != nil {
		return nil, errLayout
	}
	f, _, err := read("owners.yaml", text, options{unplaced: true, unfinished: true})
	if err != nil {
		return nil, err
	}
	want := e.before
	change(want)
	if !reflect.DeepEqual(f.source().Declaration, want) {
		return nil, errLayout
	}
	if _, _, err := read("owners.yaml", text, options{unplaced: true}); err != nil {
		return nil, err
	}
	return text, nil
}

// filled is o as the file says it: with the defaults.
func filled(name string, o schema.Owner) schema.Owner {
	fields := map[string]schema.Field{}
	for name, f := range o.Fields {
		fields[name] = filledField(f)
	}
	o.Fields = fields
	o.Mode, o.Durability = o.EffectiveMode(), o.EffectiveDurability()
	if o.Busy.Then == "" {
		o.Busy.Then = schema.Fail
	}
	if o.Busy.Wait == "" {
		o.Busy.Wait = schema.DefaultWait.String()
	}
	if o.Home == "" {
		o.Home = name
	}
	return o
}

// filledField is f as the file says it: with the kinds of what has one.
func filledField(f schema.Field) schema.Field {
	f = filledPart(f)
	f.Kind = f.EffectiveKind()
	f.Record = filledMembers(f.Record, filledEntry)
	if f.Value != nil {
		value := filledEntry(*f.Value)
		f.Value = &value
	}
	return f
}

// filledEntry is filledField for what a map has at a key.
func filledEntry(f schema.Field) schema.Field {
	f = filledPart(f)
	f.Kind = f.EffectiveKind()
	return f
}

// filledPart is filledField for what is written only as a part of the whole.
func filledPart(f schema.Field) schema.Field {
	f.Values = slices.Clone(f.Values)
	if len(f.Values) == 0 {
		f.Values = nil
	}
	if f.Of != nil {
		of := filledPart(*f.Of)
		f.Of = &of
	}
	f.Fields = filledMembers(f.Fields, filledPart)
	return f
}

func filledMembers(members map[string]schema.Field, fill func(schema.Field) schema.Field) map[string]schema.Field {
	if len(members) == 0 {
		return nil
	}
	filled := map[string]schema.Field{}
	for name, f := range members {
		filled[name] = fill(f)
	}
	return filled
}
