package gen

import (
	"strings"

	"github.com/freehold-dev/freehold/schema"
)

// A goType is how generated code spells a type of the declaration.
type goType struct {
	name    string // of the Go type
	codec   string // an expression
	imports string // the package that name needs, if any
}

// goTypes has every type but enums and records, which have a Go type each, and
// lists.
var goTypes = map[schema.Type]goType{
	schema.TypeBool:     {"bool", "schema.Bool{}", ""},
	schema.TypeInt:      {"int64", "schema.Int{}", ""},
	schema.TypeUint:     {"uint64", "schema.Uint{}", ""},
	schema.TypeFloat:    {"float64", "schema.Float{}", ""},
	schema.TypeDecimal:  {"decimal.Decimal", "schema.Decimal{}", "github.com/shopspring/decimal"},
	schema.TypeString:   {"string", "schema.String{}", ""},
	schema.TypeTime:     {"time.Time", "schema.Time{}", "time"},
	schema.TypeDuration: {"time.Duration", "schema.Duration{}", "time"},
	schema.TypeJSON:     {"jsontext.Value", "schema.JSON{}", "github.com/go-json-experiment/json/jsontext"},
}

// handles has the type in package sidecar for each kind; its constructor has
// the same name and "Of".
var handles = map[schema.Kind]string{
	schema.Value:   "Value",
	schema.Max:     "Max",
	schema.Min:     "Min",
	schema.Counter: "Counter",
	schema.Once:    "Once",
	schema.Event:   "Event",
	schema.Set:     "Set",
}

// refuses says which values fail an Update. A sentence that would say "none"
// is empty.
func refuses(f schema.Field) string {
	if f.EffectiveKind() == schema.Once {
		return "At most one Claim of it ever wins."
	}
	if f.EffectiveKind() == schema.Event {
		return "Begin it before it has its effect, and end it with Done after that: in between, and for good if the process dies there, everybody sees that nobody can tell."
	}
	if f.Value != nil {
		f = *f.Value
	}
	what := map[schema.Type]string{
		"":                 "A key that is empty, longer than 256 bytes or holds a control character", // a map
		schema.TypeList:    "An element that its type refuses, or more than 16384,",
		schema.TypeRecord:  "A member that its type refuses",
		schema.TypeJSON:    "What is not one JSON value, or nests deeper than 48,",
		schema.TypeFloat:   "NaN or an infinity",
		schema.TypeDecimal: "More than 40 digits before or after the point",
		schema.TypeString:  "Invalid UTF-8 or more than 64 KiB",
		schema.TypeTime:    "The zero time or a year after 9999",
		schema.TypeEnum:    "The zero value",
	}[f.Type]
	if f.EffectiveKind() == schema.Counter && f.Type != schema.TypeDecimal {
		what = "A sum that overflows"
	}
	if what == "" {
		return ""
	}
	return what + " fails the Update with [sidecar.ErrValue]."
}

// moves has the words for a value that goes up and for one that goes down,
// and how the highest and the lowest of several are called. Those for numbers
// stand at the empty type.
var moves = map[schema.Type]map[schema.Kind][2]string{
	"":                  {schema.Max: {"higher", "highest"}, schema.Min: {"lower", "lowest"}},
	schema.TypeTime:     {schema.Max: {"later", "latest"}, schema.Min: {"earlier", "earliest"}},
	schema.TypeDuration: {schema.Max: {"longer", "longest"}, schema.Min: {"shorter", "shortest"}},
}

func movesOf(f schema.Field) [2]string {
	words, ok := moves[f.Type]
	if !ok {
		words = moves[""]
	}
	return words[f.EffectiveKind()]
}

// combines says what a field's kind means for who reads it. A plain value
// needs no words.
func combines(f schema.Field) string {
	switch f.EffectiveKind() {
	case schema.Max, schema.Min:
		return "It only ever gets " + movesOf(f)[0] + "."
	case schema.Counter:
		return "It is a sum."
	case schema.Once:
		return "It is claimed at most once, for good, and its value is the time of the claim."
	case schema.Event:
		return "It is the time at which the event was done last."
	case schema.Set:
		return "It is a set, whose elements come in order and once each."
	case schema.Map:
		if f.Value != nil && combines(*f.Value) != "" {
			return "At each key, " + lower(combines(*f.Value))
		}
	}
	return ""
}

// lower returns a sentence as it continues another.
func lower(sentence string) string { return strings.ToLower(sentence[:1]) + sentence[1:] }

// settles says what several settings of one field come to in a test's state.
func settles(f schema.Field) string {
	switch f.EffectiveKind() {
	case schema.Max, schema.Min:
		return "Of several, the " + movesOf(f)[1] + " counts."
	case schema.Counter:
		return "Several add up."
	case schema.Once:
		return "It is claimed at that time. Of several, the first counts."
	case schema.Event:
		return "It was done at that time. Of several, the last counts."
	case schema.Set:
		return "Several are put together."
	case schema.Map:
		if f.Value == nil {
			return "The keys are there also if nothing is at them."
		}
		return "At one key, " + lower(settles(*f.Value))
	}
	return "Of several, the last counts."
}

// About says what an owner's writer package writes and who the owner is.
func (o owner) About() string {
	about := "Package " + o.Package + " writes " + o.Name + ".json, the sidecar of owner " + o.Name
	if doc := sentence(o.Doc); doc != "" {
		return about + ": " + doc
	}
	return about + "."
}

// Shown says whose fields a file of the view package has.
func (o owner) Shown() string {
	shown := "What is below belongs to owner " + o.Name
	if doc := sentence(o.Doc); doc != "" {
		return shown + ": " + doc
	}
	return shown + "."
}

// Sharing, Opening, Updating and Closing say what an owner's mode means for a Writer.

func (o owner) Sharing() string {
	if o.exclusive() {
		return "One process at a time holds one."
	}
	return "Many processes may hold one and take turns."
}

func (o owner) Opening() string {
	if o.exclusive() {
		return "It takes the owner's lease and begins an epoch; it returns [sidecar.ErrBusy] while another process holds the lease."
	}
	return ""
}

func (o owner) Updating() string {
	if o.exclusive() {
		return "It returns [sidecar.ErrFenced] once another process has the lease."
	}
	if o.defers {
		return "What others deferred meanwhile may come between a Get and what fn does then; each Add, Raise, Lower, Insert and Remove is one step."
	}
	return ""
}

func (o owner) Closing() string {
	if o.exclusive() {
		return "Close ends the Writer once its Updates are done, and gives the lease back. Closing again is harmless."
	}
	return "Close ends the Writer once its Updates are done. Closing again is harmless."
}

func (o owner) exclusive() bool { return o.Mode == string(schema.Exclusive) }
