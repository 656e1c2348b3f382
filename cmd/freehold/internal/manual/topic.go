// Package manual has the texts of freehold that belong to no single command: the
// topics of freehold help, and the manual pages of all commands and topics.
package manual

import (
	"fmt"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/declare"
)

// A Topic is a text that "freehold help NAME" prints.
type Topic struct {
	Name, Short string
	section     int // of the manual
	text        func() string
}

// Text returns the text, which fits 88 columns. A line that is indented stands as it
// is; the others are paragraphs.
func (t Topic) Text() string { return t.text() }

// Topics lists all topics by name.
func Topics() []Topic {
	return []Topic{
		{"exit-status", "the exit statuses of all commands", 7, exitStatuses},
		{"kinds", "how the writes to a field combine", 7, kinds},
		{"owners.yaml", "the keys of the declaration, each with an example", 5, keys},
		{"types", "the types of a field's value", 7, types},
	}
}

// wide is the width of the text of a topic.
const wide = 88

// wrap returns text in lines of at most wide columns, each indented.
func wrap(indent, text string) string {
	var b strings.Builder
	line := indent
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > wide && line != indent {
			b.WriteString(line + "\n")
			line = indent
		}
		if line != indent {
			line += " "
		}
		line += word
	}
	return b.String() + line + "\n"
}

func exitStatuses() string {
	var b strings.Builder
	b.WriteString("Every command ends with one of these statuses:\n\n")
	for _, s := range failure.Statuses {
		fmt.Fprintf(&b, "  %2d  %s\n", s.Status, s.Meaning)
	}
	b.WriteString("\n" + wrap("", `No command ends with 2, which the hook runners of agents read as "block". "freehold lease OWNER -- COMMAND" ends as the command does.`))
	return b.String()
}

// titles says where each mapping stands in owners.yaml.
var titles = map[string]string{
	"":          "The file",
	"Instances": "instances: {…}",
	"Owner":     "owners: {OWNER: {…}}",
	"Busy":      "busy: {…} of an owner",
	"Field":     "fields: {FIELD: {…}} of an owner",
	"Column":    "record: {MEMBER: {…}} of a map",
	"Value":     "value: {…} of a map",
	"Member":    "fields: {MEMBER: {…}} of a record",
	"Element":   "of: {…} of a list",
}

func keys() string {
	var b strings.Builder
	said := map[string]bool{} // keys that a former mapping explains
	for _, section := range declare.Reference() {
		fmt.Fprintf(&b, "%s\n\n%s", titles[section.Name], wrap("", section.Doc))
		var same []string
		for _, key := range section.Keys {
			if said[key.Name+key.Doc] {
				same = append(same, key.Name)
				continue
			}
			said[key.Name+key.Doc] = true
			b.WriteString("\n" + describe(key))
		}
		if len(same) > 0 {
			b.WriteString("\n" + wrap("", "As above: "+strings.Join(same, ", ")+"."))
		}
		b.WriteString("\n")
	}
	b.WriteString(wrap("", `"freehold help types" and "freehold help kinds" have more about these two keys. "freehold schema owners" prints this reference as a JSON Schema.`))
	return b.String()
}

// describe returns the example of a key, its meaning, its values and its default.
func describe(key declare.Key) string {
	var b strings.Builder
	b.WriteString("  " + key.Example + "\n" + wrap("      ", key.Doc))
	if key.Name != "type" && key.Name != "kind" { // they have topics of their own
		for i, value := range key.Values {
			b.WriteString(wrap("      ", "- "+value+": "+key.Meanings[i]+"."))
		}
	}
	if key.Default != "" {
		b.WriteString(wrap("      ", "Default: "+key.Default+"."))
	}
	return b.String()
}

// meaning returns the meaning of a value of the key of a field.
func meaning(key, value string) string {
	for _, section := range declare.Reference() {
		for _, k := range section.Keys {
			if i := slices.Index(k.Values, value); section.Name == "Field" && k.Name == key && i >= 0 {
				return k.Meanings[i]
			}
		}
	}
	return ""
}

// An Example of a type or kind is a declared field, and the commands that write it,
// for a field and an owner with the name of the type or kind.
type Example struct {
	Declared string
	Commands []string
}

// TypeExamples has an example of each type.
var TypeExamples = map[schema.Type]Example{
	schema.TypeBool:     {"{type: bool}", []string{"freehold set bool bool=true"}},
	schema.TypeInt:      {"{type: int}", []string{"freehold set int int=-3"}},
	schema.TypeUint:     {"{type: uint, unit: tokens}", []string{"freehold set uint uint=18446744073709551615"}},
	schema.TypeFloat:    {"{type: float}", []string{"freehold set float float=0.25"}},
	schema.TypeDecimal:  {"{type: decimal, unit: US dollars}", []string{"freehold set decimal decimal=0.41"}},
	schema.TypeString:   {"{type: string}", []string{"freehold set string string='two words'"}},
	schema.TypeTime:     {"{type: time}", []string{"freehold set time time=2026-08-11T09:12:44.5+02:00"}},
	schema.TypeDuration: {"{type: duration}", []string{"freehold set duration duration=1h30m"}},
	schema.TypeEnum:     {"{type: enum, values: [idle, busy]}", []string{"freehold set enum enum=busy"}},
	schema.TypeList:     {"{type: list, of: {type: string}}", []string{`freehold set list list='["a", "b"]'`}},
	schema.TypeRecord:   {"{type: record, fields: {host: {type: string}, port: {type: uint}}}", []string{`freehold set record record='{"host": "a", "port": 80}'`}},
	schema.TypeJSON:     {"{type: json}", []string{`freehold set json json='{"any": [1, null]}'`}},
}

// KindExamples has an example of each kind.
var KindExamples = map[schema.Kind]Example{
	schema.Value:   {"{type: string}", []string{"freehold set value value=late", "freehold clear value value"}},
	schema.Max:     {"{type: time, kind: max}", []string{"freehold raise max max 2026-08-11T09:12:44Z"}},
	schema.Min:     {"{type: duration, kind: min}", []string{"freehold lower min min 250ms"}},
	schema.Counter: {"{type: decimal, kind: counter}", []string{"freehold add counter counter 0.25", "freehold add counter counter -0.05"}},
	schema.Once:    {"{kind: once}", []string{"freehold claim once once"}},
	schema.Event:   {"{kind: event}", []string{"token=$(freehold begin event event)", `freehold done event event "$token"`}},
	schema.Set:     {"{type: string, kind: set}", []string{"freehold insert set set urgent", "freehold remove set set urgent"}},
	schema.Map:     {"{kind: map, record: {use_count: {type: uint, kind: counter}}}", []string{"freehold put map map deploy use_count=1", "freehold delete map map deploy"}},
}

func types() string {
	var b strings.Builder
	b.WriteString(wrap("", "The type of a field is that of its value, and of a set that of its elements. Each is shown with a field of that type, and with the command that writes it as an owner of the same name.") + "\n")
	for _, typ := range schema.Types() {
		b.WriteString(TypeExamples[typ].entry(string(typ), meaning("type", string(typ)), ""))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func kinds() string {
	var b strings.Builder
	b.WriteString(wrap("", "The kind of a field says how the writes of many processes combine. Each is shown with a field of that kind, and with the commands that write it as an owner of the same name.") + "\n")
	for _, kind := range schema.Kinds() {
		var allowed []string
		for _, typ := range schema.Types() {
			if kind.Allows(typ) {
				allowed = append(allowed, string(typ))
			}
		}
		of := "Of type " + strings.Join(allowed, ", ") + "."
		if kind == schema.Value {
			of = "Of every type."
		} else if kind == schema.Map {
			of = "It has no type, but record: or value:."
		}
		b.WriteString(KindExamples[kind].entry(string(kind), meaning("kind", string(kind)), of))
	}
	b.WriteString(wrap("", "An owner may defer (busy: {then: defer}) if all its fields are of kind max, min, counter or set, or maps of those. Of these verbs raise, lower, add and insert are deferred; the others fail while the owner is busy, with nothing changed."))
	return b.String()
}

// entry returns an example under the name of its type or kind.
func (e Example) entry(name, meaning, more string) string {
	meaning = strings.ToUpper(meaning[:1]) + meaning[1:]
	return "  " + name + "\n" + wrap("      ", meaning+". "+more) + "        " + name + ": " + e.Declared + "\n" +
		"        " + strings.Join(e.Commands, "\n        ") + "\n\n"
}
