package declare_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/declare"
	"pgregory.net/rapid"
)

// trickyNames become few Go identifiers, and often ones that generated code
// has already.
var trickyNames = []string{
	"a", "a_", "a_b", "ab", "a__b", "parse_a", "field_a", "a_x", "a_y", "raw", "view", "state", "setting", "reader", "open",
	"declaration", "url", "u_r_l", "type", "func", "init", "string", "error", "tx", "writer", "update", "close", "new",
}

// randomDeclaration draws a declaration in which only the Go names may clash.
func randomDeclaration(t *rapid.T) *schema.Declaration {
	d := &schema.Declaration{State: "runtime", Owners: map[string]schema.Owner{}}
	names := rapid.SliceOfNDistinct(rapid.SampledFrom(trickyNames), 1, 8, rapid.ID[string]).Draw(t, "names")
	for _, name := range names {
		owner := rapid.SampledFrom([]string{"reset", "cost", "go", "main"}).Draw(t, "owner")
		if _, ok := d.Owners[owner]; !ok {
			d.Owners[owner] = schema.Owner{Fields: map[string]schema.Field{}}
		}
		f := randomField(t)
		if rapid.IntRange(0, 5).Draw(t, "override") == 0 {
			f.Go = rapid.SampledFrom([]string{"A", "AB", "B", "Raw", "FieldA", "AX"}).Draw(t, "go")
		}
		d.Owners[owner].Fields[name] = f
	}
	return d
}

// randomField draws a field that is right in itself.
func randomField(t *rapid.T) schema.Field {
	switch kind := rapid.SampledFrom(schema.Kinds()).Draw(t, "kind"); kind {
	case schema.Value:
		return randomValue(t, 1)
	case schema.Map:
		if rapid.Bool().Draw(t, "scalar") {
			value := randomValue(t, 2)
			return schema.Field{Kind: kind, Value: &value}
		}
		return schema.Field{Kind: kind, Record: randomMembers(t, 2)}
	case schema.Set:
		f := randomValue(t, schema.MaxNest+1)
		if f.Type != schema.TypeFloat {
			f.Kind = kind
		}
		return f
	case schema.Once, schema.Event:
		return schema.Field{Type: schema.TypeTime, Kind: kind}
	default:
		return schema.Field{Type: schema.TypeUint, Kind: kind}
	}
}

// randomValue draws the description of a value that nests no deeper than
// declarations may.
func randomValue(t *rapid.T, nest int) schema.Field {
	types := schema.Types()
	if nest > schema.MaxNest {
		types = slices.DeleteFunc(types, func(typ schema.Type) bool { return schema.Set.Allows(typ) == (typ == schema.TypeFloat) })
	}
	f := schema.Field{Type: rapid.SampledFrom(types).Draw(t, "type")}
	switch f.Type {
	case schema.TypeEnum:
		values := rapid.SampledFrom([]string{"x", "y", "x-y", "b", "r-l", "x.y"})
		f.Values = rapid.SliceOfNDistinct(values, 1, 3, rapid.ID[string]).Draw(t, "values")
	case schema.TypeList:
		of := randomValue(t, nest+1)
		if of.Type == schema.TypeList {
			of = schema.Field{Type: schema.TypeString}
		}
		f.Of = &of
	case schema.TypeRecord:
		f.Fields = randomMembers(t, nest+1)
	}
	return f
}

func randomMembers(t *rapid.T, nest int) map[string]schema.Field {
	members := map[string]schema.Field{}
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(append(trickyNames, "json_members", "a_x_y")), 1, 3, rapid.ID[string]).Draw(t, "members") {
		members[name] = randomValue(t, nest)
	}
	return members
}

// TestAcceptedDeclarationsHaveNoClashes compares Parse with Go's own type
// checker, both ways: what Parse accepts has no identifier twice, and what it
// refuses for a clash has one.
func TestAcceptedDeclarationsHaveNoClashes(t *testing.T) {
	accepted, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		d := randomDeclaration(t)
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		_, err = declare.Parse("owners.yaml", "owners/runtime", text) // JSON is YAML
		clash := typeCheck(t, d)
		switch {
		case err == nil && clash != nil:
			t.Fatalf("Parse accepts what Go does not: %v\n%s", clash, text)
		case err == nil:
			accepted++
		case clash == nil:
			t.Fatalf("Parse refuses what Go accepts: %v\n%s", err, text)
		default:
			refused++
		}
		if problems, ok := errors.AsType[declare.Problems](err); ok {
			for _, p := range problems {
				if !strings.Contains(p.What, " becomes ") {
					t.Fatalf("not a clash: %v\n%s", p, text)
				}
			}
		}
	})
	if accepted == 0 || refused == 0 {
		t.Errorf("the declarations were all alike: %d accepted, %d refused", accepted, refused)
	}
}

// typeCheck returns an error if the packages that are generated from d, with
// their bodies left out, do not compile.
func typeCheck(t *rapid.T, d *schema.Declaration) error {
	var view, test strings.Builder
	view.WriteString("package view\ntype Reader struct{}\nfunc Open() {}\nfunc Declaration() {}\ntype View struct{}\nfunc (View) Raw() {}\n")
	test.WriteString("package test\ntype Setting struct{}\nfunc State() {}\nfunc View() {}\n")
	sources := []*strings.Builder{&view, &test}
	for _, name := range d.OwnerNames() {
		var writer strings.Builder
		writer.WriteString("package writer\ntype Writer struct{}\nfunc Open() {}\nfunc (Writer) Update() {}\nfunc (Writer) Close() {}\n" +
			"type Tx struct{}\nfunc (Tx) IfVersion() {}\n")
		for _, field := range d.Owners[name].FieldNames() {
			f := d.Owners[name].Fields[field]
			goName := declare.GoName(field, f)
			receiver := "Tx"
			if f.Kind.OnWriter() {
				receiver = "Writer"
			}
			fmt.Fprintf(&writer, "func (%s) %s() {}\n", receiver, goName)
			fmt.Fprintf(&test, "func %s() {}\n", goName)
			fmt.Fprintf(&view, "func (View) %s() {}\nconst Field%[1]s = 0\n", goName)
			writeTypes(&view, goName, f)
			for _, m := range f.MemberNames() {
				if f.Kind == schema.Map {
					fmt.Fprintf(&test, "func %s() {}\n", declare.GoMemberName(goName, m, f.Record[m]))
				}
			}
		}
		sources = append(sources, &writer)
	}
	for _, source := range sources {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, "x.go", source.String(), parser.SkipObjectResolution)
		if err != nil {
			t.Fatalf("%v\n%s", err, source)
		}
		var config types.Config
		if _, err := config.Check("x", fset, []*ast.File{file}, nil); err != nil {
			return err
		}
	}
	return nil
}

// writeTypes writes the types that the view package declares for f.
func writeTypes(w *strings.Builder, name string, f schema.Field) {
	switch {
	case f.Value != nil:
		writeTypes(w, declare.GoElementName(name, *f.Value), *f.Value)
	case f.Of != nil:
		writeTypes(w, declare.GoElementName(name, *f.Of), *f.Of)
	case f.Kind == schema.Map:
		entry := declare.GoEntryName(name)
		fmt.Fprintf(w, "type %s struct{}\n", entry)
		for _, m := range f.MemberNames() {
			fmt.Fprintf(w, "func (%s) %s() {}\n", entry, declare.GoName(m, f.Record[m]))
			writeTypes(w, declare.GoMemberName(name, m, f.Record[m]), f.Record[m])
		}
	case f.Type == schema.TypeRecord:
		fmt.Fprintf(w, "type %s struct{\n", name)
		for _, m := range f.MemberNames() {
			fmt.Fprintf(w, "%s int\n", declare.GoName(m, f.Fields[m]))
		}
		fmt.Fprintf(w, "}\nfunc (*%s) JSONMembers() {}\n", name)
		for _, m := range f.MemberNames() {
			writeTypes(w, declare.GoMemberName(name, m, f.Fields[m]), f.Fields[m])
		}
	case f.Type == schema.TypeEnum:
		fmt.Fprintf(w, "type %s struct{}\nfunc Parse%[1]s() {}\n", name)
		for _, v := range f.Values {
			fmt.Fprintf(w, "func %s() {}\n", declare.GoValueName(name, v))
		}
	}
}

// TestParseNeverPanics on declarations in which anything may be wrong.
func TestParseNeverPanics(t *testing.T) {
	word := rapid.OneOf(
		rapid.SampledFrom(append([]string{
			"state", "owners", "fields", "type", "kind", "values", "doc", "go", "home", "busy", "wait", "enum", "bool", "max", "mode",
			"", "1", "true", "null", "$sidecar", "..", "/", "*", "&", "<<", "é", "\x00",
		}, trickyNames...)),
		rapid.String(),
	)
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		text := rapid.Map(word, func(s string) any { return s })
		if depth == 0 {
			return text
		}
		return rapid.OneOf(text, rapid.Just[any](nil), rapid.Map(rapid.Int(), func(i int) any { return i }),
			rapid.Map(rapid.SliceOfN(rapid.Deferred(func() *rapid.Generator[any] { return value(depth - 1) }), 0, 3), func(s []any) any { return s }),
			rapid.Map(rapid.MapOfN(word, rapid.Deferred(func() *rapid.Generator[any] { return value(depth - 1) }), 0, 5), func(m map[string]any) any { return m }))
	}
	rapid.Check(t, func(t *rapid.T) {
		file := map[string]any{"state": "runtime", "owners": map[string]any{"a": value(4).Draw(t, "owner"), "b": value(3).Draw(t, "other")}}
		text, err := json.Marshal(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := declare.Parse("owners.yaml", "owners", text); err != nil && err.Error() == "" {
			t.Error("an error without a word")
		}
	})
}
