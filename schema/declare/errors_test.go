package declare_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/declare"
	"github.com/freehold-dev/freehold/schema/errorstest"
)

var said = errorstest.Golden{
	Update: update,
	Also:   []string{"mistakes/*.txtar"},
	Wraps:  []string{".."},
	Untold: map[string]string{
		"yaml: the parser gave up (%v)": "only a text that makes the YAML library panic provokes it; none is known",
		"owners.yaml is laid out in a way that a line cannot be added to: add it by hand": "guards against a layout that the rules before it do not know; none is known",
	},
}

// TestErrorsSayWhatToDo provokes what the tables in testdata/mistakes do not:
// texts that no editor shows, and errors of the other functions.
func TestErrorsSayWhatToDo(t *testing.T) {
	field := func(f string) string { return "state: runtime\nowners:\n  a:\n    fields:\n      x: " + f + "\n" }
	for how, c := range map[string]struct{ folder, text string }{
		"parse: a vast file":         {".", strings.Repeat("# more\n", declare.MaxSize)},
		"parse: a long file":         {".", strings.Repeat("\n", 20_000)},
		"parse: a dense file":        {".", strings.Repeat("[", 40_000)},
		"parse: a byte order mark":   {".", "\xef\xbb\xbfstate: runtime\n"},
		"parse: UTF-16":              {".", "\xff\xfes\x00"},
		"parse: not UTF-8":           {".", "state: r\xff\n"},
		"parse: a carriage return":   {".", "state: r\rowners: {}\n"},
		"parse: a line separator":    {".", "state: r\u2028\n"},
		"parse: an escape":           {".", "state: \x1b[2J\n"},
		"parse: a hidden direction":  {".", field("{type: bool, doc: \"a\\u202eb\"}")},
		"parse: an escaped escape":   {".", "\"state\\e[2J\": runtime\n"},
		"parse: NUL":                 {".", "state: r\x00\n"},
		"parse: a long doc":          {".", field("{type: bool, doc: " + strings.Repeat("x", 2001) + "}")},
		"parse: a long unit":         {".", field("{type: int, unit: " + strings.Repeat("x", 101) + "}")},
		"parse: a kind for a type":   {".", field("{type: counter}")},
		"parse: many values":         {".", field("{type: enum, values: [" + values(2000) + "]}")},
		"parse: many owners":         {".", "state: runtime\nowners: {" + strings.ReplaceAll(fields(schema.MaxOwners+1), "type: int", "") + "}\n"},
		"parse: many fields":         {".", "state: runtime\nowners:\n  a:\n    fields: {" + fields(schema.MaxFields+1) + "}\n"},
		"parse: many members":        {".", field("{type: record, fields: {" + fields(schema.MaxFields+1) + "}}")},
		"parse: a wait without unit": {".", "state: runtime\nowners:\n  a:\n    busy: {wait: 250}\n    fields:\n      x: {type: bool}\n"},
		"parse: an odd folder":       {"own ers/a\x1b", field("{type: bool}")},
		"parse: a folder for tests":  {"testdata/a", field("{type: bool}")},
		"parse: an internal folder":  {"a/internal/b", "state: runtime\nowners:\n  a:\n    home: cmd/a\n    fields:\n      x: {type: bool}\n"},
	} {
		_, err := declare.Parse("owners.yaml", c.folder, []byte(c.text))
		said.Same(t, how, err)
	}
	for how, text := range map[string]string{
		"exceptions: a mapping":       "rule: UNIT_CHANGED\n",
		"exceptions: a text":          "- UNIT_CHANGED\n",
		"exceptions: two documents":   "- {rule: R, reason: R}\n---\n[]\n",
		"exceptions: no rule":         "- {reason: R}\n",
		"exceptions: a key twice":     "- {rule: R, rule: R, reason: R}\n",
		"exceptions: a number":        "- {rule: R, field: 1, reason: R}\n",
		"exceptions: a blank reason":  "- {rule: R, reason: ' '}\n",
		"exceptions: an unknown key":  "- {rule: R, state: s, reason: R}\n",
		"exceptions: a carriage turn": "- {rule: R\r}\n",
	} {
		_, err := declare.ParseExceptions("owners.breaking.yaml", []byte(text))
		said.Same(t, how, err)
	}
	flow := []byte("state: runtime\nowners: {a: {fields: {x: {type: bool}}}}\n")
	_, err := declare.AddField(flow, "a", "y", schema.Field{Type: schema.TypeBool})
	said.Same(t, "add a field in braces", err)
	_, err = declare.AddField(flow, "b\x1b", "y", schema.Field{Type: schema.TypeBool})
	said.Same(t, "add a field of no owner", err)
}

func values(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprint("v", i)
	}
	return strings.Join(all, ",")
}

func fields(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("f%d: {type: int}", i)
	}
	return strings.Join(all, ",")
}

// TestErrorsSayWhatToDoOfSchemas is about declarations that came from elsewhere.
func TestErrorsSayWhatToDoOfSchemas(t *testing.T) {
	strange := schema.Field{Type: "money"}
	for how, f := range map[string]schema.Field{
		"a type of a newer release":            strange,
		"a list of it":                         {Type: schema.TypeList, Of: &strange},
		"a list of nothing":                    {Type: schema.TypeList},
		"a record with it":                     {Type: schema.TypeRecord, Fields: map[string]schema.Field{"m": strange}},
		"a map of it":                          {Kind: schema.Map, Value: &strange},
		"a map of records with a member of it": {Kind: schema.Map, Record: map[string]schema.Field{"m": strange}},
	} {
		d := &schema.Declaration{State: "runtime", Owners: map[string]schema.Owner{"a": {Fields: map[string]schema.Field{"x": f}}}}
		_, err := declare.SidecarSchema(d, "a")
		said.Same(t, "schema: "+how, err)
		_, err = declare.ViewSchema(d)
		said.Same(t, "schema of the view: "+how, err)
	}
	_, err := declare.SidecarSchema(&schema.Declaration{State: "runtime", Owners: map[string]schema.Owner{"a": {}, "b": {}}}, "c")
	said.Same(t, "schema: no such owner", err)
}

// TestErrorsAreAllTold fails for an error that no test of the package provokes.
func TestErrorsAreAllTold(t *testing.T) { said.Complete(t) }
