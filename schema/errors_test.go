package schema

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema/errorstest"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/shopspring/decimal"
)

var update = flag.Bool("update", false, "write the golden files anew")

// hostile is text that no terminal should obey: it clears the screen, begins
// a line and turns the direction of writing.
const hostile = "\x1b[2J\n\u202e\x00"

var said = errorstest.Golden{
	Update: update,
	Also:   []string{"../declare/testdata/mistakes/*.txtar"},
	Untold: map[string]string{
		"found": "ends a walk early, and is returned by nothing",
	},
	Unhelped: map[string]string{
		"manifest: …": "package store, which reads it, says to restore it from a backup",
		"convert: …":  "package upgrade, which lists the values, says what to do about them",
		"refusal: …":  "the caller says which owner or verb to use instead",
		"merge: …":    "package store, which opens the state, says what to do about each",
		"limits: …":   "who reads the file says what to do about it",
	},
}

// TestErrorsSayWhatToDo provokes every error of the package.
func TestErrorsSayWhatToDo(t *testing.T) {
	list := Field{Type: TypeList, Of: &Field{Type: TypeInt}}
	record := Field{Type: TypeRecord, Fields: map[string]Field{"port": {Type: TypeUint}}}
	scores := Field{Kind: Map, Value: &Field{Type: TypeInt}}
	for _, v := range []struct {
		how   string
		field Field
		raw   string
	}{
		{"a bool", Field{Type: TypeBool}, "null"},
		{"an int", Field{Type: TypeInt}, "1e400"},
		{"a hostile int", Field{Type: TypeInt}, hostile},
		{"a small int", Field{Type: TypeInt}, "-18446744073709551616"},
		{"a uint", Field{Type: TypeUint}, "1.0"},
		{"a great uint", Field{Type: TypeUint}, "18446744073709551616"},
		{"a float", Field{Type: TypeFloat}, "[1] 2"},
		{"a great float", Field{Type: TypeFloat}, "1e400"},
		{"a decimal", Field{Type: TypeDecimal}, "1.5"},
		{"a long decimal", Field{Type: TypeDecimal}, `"` + strings.Repeat("9", 50) + `"`},
		{"a string", Field{Type: TypeString}, "7"},
		{"a long string", Field{Type: TypeString}, `"` + strings.Repeat("x", MaxString+1) + `"`},
		{"a string that is not UTF-8", Field{Type: TypeString}, `"a` + "\xff" + `"`},
		{"a time", Field{Type: TypeTime}, `"2026-08-11"`},
		{"the zero time", Field{Type: TypeTime}, `"0001-01-01T00:00:00Z"`},
		{"a duration", Field{Type: TypeDuration}, `"\u001b[2J"`},
		{"an enum", Field{Type: TypeEnum, Values: []string{"dead", "frozen"}}, `"x\u001b[2J"`},
		{"an enum, misspelt", Field{Type: TypeEnum, Values: []string{"dead", "frozen"}}, `"frzen"`},
		{"json", Field{Type: TypeJSON}, "{" + hostile},
		{"json, a name twice", Field{Type: TypeJSON}, `{"a":1,"a":2}`},
		{"deep json", Field{Type: TypeJSON}, strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1)},
		{"no such type", Field{Type: Type("money" + hostile)}, "1"},
		{"a list", list, `{"a":1}`},
		{"a long value that is no list", list, `"` + strings.Repeat("\u001b", 50) + `"`},
		{"a list's element", list, `[1,"x"]`},
		{"a long list", list, "[" + strings.Repeat("1,", MaxElements) + "1]"},
		{"a set", Field{Type: TypeString, Kind: Set}, `["a",1]`},
		{"a record", record, `[]`},
		{"a record and more", record, `{"port":1} 2`},
		{"a record's member", record, `{"port":"x"}`},
		{"a record, torn", record, `{"port":` + hostile},
		{"a map", scores, `{"a":1,"a":2}`},
		{"a map's value", scores, `{"a\u202e":"x"}`},
		{"an empty key", scores, `{"":1}`},
		{"a hostile key", scores, `{"a\u0007":1}`},
		{"a long key", scores, `{"` + strings.Repeat("k", MaxKey+1) + `":1}`},
	} {
		_, err := v.field.Normalize([]byte(v.raw))
		said.Same(t, "normalize: "+v.how, err)
	}
	var keys strings.Builder
	for i := range MaxKeys + 1 {
		fmt.Fprintf(&keys, `%c"k%d":1`, "{,"[min(i, 1)], i)
	}
	_, err := scores.Normalize([]byte(keys.String() + "}"))
	said.Same(t, "normalize too many keys", err)
	for how, f := range map[string]Field{"string": {Type: TypeString}, "float": {Type: TypeFloat}, "json": {Type: TypeJSON}} {
		_, err := f.Parse("a\xff")
		said.Same(t, "parse invalid UTF-8 as "+how, err)
	}
	_, err = Field{Type: TypeBool}.Elements([]byte(`true`))
	said.Same(t, "elements of a bool", err)
	said.Same(t, "version from a hostile text", new(Version).UnmarshalText([]byte("1.\x1b[2J")))
	_, err = Field{Type: TypeInt, Kind: Set}.Elements([]byte("[" + strings.Repeat("1,", MaxElements) + "1]"))
	said.Same(t, "elements, too many", err)
	_, err = Field{Type: TypeString}.Compare(nil, nil)
	said.Same(t, "compare strings", err)
	_, err = Field{Type: TypeFloat}.Sum(nil, nil)
	said.Same(t, "sum floats", err)
	for f, most := range map[Type]string{TypeInt: "9223372036854775807", TypeUint: "18446744073709551615", TypeDecimal: `"` + strings.Repeat("9", MaxDecimalDigits) + `"`, TypeDuration: `"2562047h47m16.854775807s"`} {
		_, err := Field{Type: f}.Sum([]byte(most), []byte(most))
		said.Same(t, "overflow of "+string(f), err)
	}
	for how, c := range map[string]struct {
		from, to Field
		raw      string
	}{
		"another shape": {Field{Type: TypeInt}, list, "1"},
		"a set":         {list, Field{Type: TypeInt, Kind: Set}, "[2,1]"},
		"a float":       {Field{Type: TypeInt}, Field{Type: TypeFloat}, "9007199254740993"},
		"a stranger":    {Field{Type: TypeUint}, Field{Type: TypeString}, `"12"`},
	} {
		_, _, misfits := c.from.Convert(c.to, []byte(c.raw))
		said.Same(t, "convert: "+how, errors.New(misfits[0].Why))
	}
	said.Same(t, "key, not UTF-8", CheckKey("a\xff\x1b"))
	for how, id := range map[string]string{"empty": "", "long": strings.Repeat("x", maxInstanceID+1), "not UTF-8": "a\xff", "hostile": "a\x1b[2J"} {
		said.Same(t, "instance: "+how, CheckInstanceID(id))
	}
}

func TestErrorsSayWhatToDoOfCodecs(t *testing.T) {
	encode := func(how string, _ []byte, err error) { said.Same(t, "append "+how, err) }
	raw, err := Float.Append(nil, math.NaN())
	encode("NaN", raw, err)
	raw, err = Decimal.Append(nil, decimal.New(1, 999))
	encode("a vast decimal", raw, err)
	raw, err = String.Append(nil, strings.Repeat("x", MaxString+1))
	encode("a long string", raw, err)
	raw, err = String.Append(nil, "a\xff")
	encode("invalid UTF-8", raw, err)
	raw, err = Time.Append(nil, time.Time{})
	encode("the zero time", raw, err)
	raw, err = Time.Append(nil, time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC))
	encode("the year 10000", raw, err)
	raw, err = JSON.Append(nil, jsontext.Value(hostile))
	encode("no JSON", raw, err)
	raw, err = ListOf(Int).Append(nil, make([]int64, MaxElements+1))
	encode("a long list", raw, err)
	raw, err = ListOf(String).Append(nil, []string{"a\xff"})
	encode("a list with invalid UTF-8", raw, err)
	_, err = ListOf(Int).Decode([]byte(`["x"]`))
	encode("a list, decoded", nil, err)
	_, err = ListOf(Int).Decode([]byte("[" + strings.Repeat("1,", MaxElements) + "1]"))
	encode("a long list, decoded", nil, err)
}

// TestErrorsSayWhatToDoOfManifests is about what a stranger's manifest may say.
func TestErrorsSayWhatToDoOfManifests(t *testing.T) {
	manifest := func(declaration string) string {
		return `{"format":1,"state_id":"` + strings.Repeat("0", 26) + `","locks":{},"declaration":` + declaration + `}`
	}
	owner := func(o string) string { return manifest(`{"state":"s","owners":{"cost":` + o + `}}`) }
	field := func(f string) string { return owner(`{"fields":{"turns":` + f + `}}`) }
	var many strings.Builder
	for i := range MaxFields + 1 {
		fmt.Fprintf(&many, `%s"f%d":{"type":"int"}`, ","[:min(i, 1)], i)
	}
	var crowd strings.Builder
	for i := range MaxOwners + 1 {
		fmt.Fprintf(&crowd, `%s"o%d":{}`, ","[:min(i, 1)], i)
	}
	for how, text := range map[string]string{
		"no JSON": "{" + hostile, "newer format": `{"format":7}`, "no id": `{"format":1}`, "a hostile id": `{"format":1,"state_id":"\u001b\u202e"}`,
		"no locks":       `{"format":1,"state_id":"` + strings.Repeat("0", 26) + `"}`,
		"no format":      `{"state_id":"0"}`,
		"state name":     manifest(`{"state":"S\u001b"}`),
		"owner name":     manifest(`{"state":"s","owners":{"\u001b":{}}}`),
		"owner state":    manifest(`{"state":"s","owners":{"state":{}}}`),
		"instance":       `{"format":1,"state_id":"` + strings.Repeat("0", 26) + `","locks":{},"declaration":{"state":"s","instances":{"by":"session_id"}}}`,
		"no instance":    `{"format":1,"state_id":"` + strings.Repeat("0", 26) + `","locks":{},"instance":"a\u001b","declaration":{"state":"s"}}`,
		"an odd one":     `{"format":1,"state_id":"` + strings.Repeat("0", 26) + `","locks":{},"instance":"a\u001b","declaration":{"state":"s","instances":{"by":"session_id"}}}`,
		"odd by":         `{"format":1,"state_id":"` + strings.Repeat("0", 26) + `","locks":{},"instance":"a","declaration":{"state":"s","instances":{"by":"\u001b"}}}`,
		"mode":           owner(`{"mode":"\u001b"}`),
		"durability":     owner(`{"durability":"\u001b"}`),
		"busy":           owner(`{"busy":{"then":"\u001b"}}`),
		"wait":           owner(`{"busy":{"wait":"\u001b"}}`),
		"home":           owner(`{"home":"../\u001b"}`),
		"field name":     owner(`{"fields":{"\u001b":{"type":"int"}}}`),
		"type":           field(`{"type":"\u001b"}`),
		"kind":           field(`{"type":"int","kind":"\u001b"}`),
		"list of":        field(`{"type":"int","of":{"type":"int"}}`),
		"members":        field(`{"type":"int","fields":{"a":{"type":"int"}}}`),
		"keys":           field(`{"type":"int","keys":true}`),
		"both":           field(`{"kind":"map","value":{"type":"int"},"record":{"a":{"type":"int"}}}`),
		"element":        field(`{"type":"list","of":{"type":"\u001b"}}`),
		"member name":    field(`{"type":"record","fields":{"\u001b":{"type":"int"}}}`),
		"nested":         field(strings.Repeat(`{"type":"list","of":`, MaxNest+1) + `{"type":"int"}` + strings.Repeat("}", MaxNest+1)),
		"many owners":    manifest(`{"state":"s","owners":{` + crowd.String() + `}}`),
		"many fields":    owner(`{"fields":{` + many.String() + `}}`),
		"instances":      strings.Replace(manifest(`{"state":"s","instances":{"by":"\u001b"}}`), `"locks"`, `"instance":"i","locks"`, 1),
		"an id":          strings.Replace(manifest(`{}`), `"locks"`, `"ids":{"\u001b":"x"},"locks"`, 1),
		"upgrade":        strings.Replace(manifest(`{}`), `"locks"`, `"pending":{"id":"\u001b"},"locks"`, 1),
		"its owners":     strings.Replace(manifest(`{}`), `"locks"`, `"pending":{"id":"0000000000000","sidecars":["../\u001b"]},"locks"`, 1),
		"its versions":   strings.Replace(manifest(`{}`), `"locks"`, `"upgraded":{"a\u001b":"1.1.\u001b"},"locks"`, 1),
		"many members":   field(`{"type":"record","fields":{` + many.String() + `}}`),
		"member kind":    field(`{"type":"record","fields":{"a":{"type":"uint","kind":"counter"}}}`),
		"member depends": field(`{"kind":"map","record":{"a":{"type":"int","depends_on":["x"]}}}`),
		"two owners":     manifest(`{"state":"s","owners":{"a":{"fields":{"x":{"type":"int"}}},"b":{"fields":{"x":{"type":"int"}}}}}`),
	} {
		_, err := ParseManifest([]byte(text))
		said.Same(t, "manifest: "+how, err)
	}
	for how, text := range map[string]string{
		"too large a file": strings.Repeat(" ", MaxManifest+1),
		"too much":         `{"x":[` + strings.Repeat("0,", manifestLimits.Values) + "0]}",
		"too deep":         strings.Repeat("[", manifestLimits.Depth+1),
		"too many members": "{" + strings.Repeat(`"a":0,`, manifestLimits.Members) + `"a":0}`,
		"too long a text":  `{"a":"` + strings.Repeat("x", manifestLimits.Text) + `"}`,
		"too much space":   "{" + strings.Repeat(" ", manifestLimits.Text+1) + "}",
	} {
		_, err := ParseManifest([]byte(text))
		said.Same(t, "manifest: "+how, err)
	}
	said.Same(t, "limits: elements", Limits{Elements: 1}.Check([]byte("[1,2]")))
	there := &Declaration{State: "s", Owners: map[string]Owner{"a": {Fields: map[string]Field{"x": {Type: TypeInt}}}}}
	_, _, err := there.Merge(&Declaration{State: "s", Owners: map[string]Owner{"a": {Fields: map[string]Field{"x": {Type: TypeBool}}}}})
	said.Same(t, "merge: another type", err)
	renamed := &Declaration{State: "s", Owners: map[string]Owner{"a": {Fields: map[string]Field{"y": {Type: TypeInt, Was: "x"}}}}}
	_, _, err = there.Merge(renamed)
	said.Same(t, "merge: another name", err)
	upgraded := &Manifest{Declaration: *there}
	upgraded.Replace(renamed)
	_, _, err = upgraded.Merge(there)
	said.Same(t, "merge: what an upgrade removed", err)
	for how, verb := range map[string]Verb{"another kind's": VerbSet, "unknown": hostile} {
		said.Same(t, "verb: "+how, Field{Type: TypeTime, Kind: Event}.CheckVerb(verb))
	}
	_, err = tools.Resolve("user", "note", VerbSet)
	said.Same(t, "refusal: another owner's field", err)
	_, err = tools.Resolve("user", "skills", VerbDelete)
	said.Same(t, "refusal: another owner's keys", err)
	_, err = tools.Resolve("user", "lost", VerbSet)
	said.Same(t, "refusal: a field of no owner", err)
	_, err = tools.Resolve("tool", "note", VerbAdd)
	said.Same(t, "refusal: another verb", err)
	said.Same(t, "manifest: unsound", (&Declaration{State: "S"}).Sound())
}

// TestErrorsAreAllTold fails for an error that the tests above do not provoke.
func TestErrorsAreAllTold(t *testing.T) { said.Complete(t) }
