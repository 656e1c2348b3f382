package gen

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// verify parses generated code and makes sure that its declarations are those
// wanted, and that its comments are nothing but comments. The
// templates and the cleaning of texts see to that; this is the second lock on
// the door through which a declaration could put code into a program.
func verify(file string, text []byte, want []string) error {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, numbered(text))
	}
	have := declared(f)
	want = slices.Clone(want)
	slices.Sort(have)
	slices.Sort(want)
	if !slices.Equal(have, want) {
		return fmt.Errorf("%s: the generated code declares %s and should declare %s (a bug in Freehold; please report it)", file, have, want)
	}
	for _, group := range f.Comments {
		for _, c := range group.List {
			if c.Text != "//" && !strings.HasPrefix(c.Text, "// ") && !strings.HasPrefix(c.Text, "//\t") || strings.HasPrefix(c.Text, "// +build") {
				return fmt.Errorf("%s: %q is no plain comment (a bug in Freehold; please report it)", fset.Position(c.Pos()), c.Text)
			}
		}
	}
	return nil
}

// distinct returns an error if two of the names that the files of a package are
// to declare are one.
func distinct(sources []source) error {
	seen := map[string]bool{}
	for _, src := range sources {
		for _, name := range src.want {
			if name != "_" && seen[name] {
				return fmt.Errorf("%s: two things are named %s: rename a field, an enum's value, or say `go: NAME`", src.file, name)
			}
			seen[name] = true
		}
	}
	return nil
}

// declared lists the names that f declares at its top level, methods with
// their receiver's type. Imports are left out: they declare nothing outside
// the file, and an unused one does not compile.
func declared(f *ast.File) []string {
	var names []string
	for _, decl := range f.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			names = append(names, receiver(decl)+decl.Name.Name)
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					names = append(names, spec.Name.Name)
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						names = append(names, name.Name)
					}
				}
			}
		}
	}
	return names
}

func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	t := f.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if name, ok := t.(*ast.Ident); ok {
		return name.Name + "."
	}
	return strconv.Quote(fmt.Sprint(t)) + "."
}

func writerDecls(o owner) []string {
	names := []string{"_", "Writer", "Open", "Writer.Update", "Writer.Close", "Tx", "Tx.IfVersion"}
	for _, f := range o.Fields {
		names = append(append(names, f.WriteType()+"."+f.Go), entryDecls(f, true)...)
	}
	return names
}

// entryDecls lists what stands for what a map has at a key: its type, which is
// in one file of the package, and the members of the field's owner.
func entryDecls(f field, withType bool) []string {
	if !f.IsRecordMap() {
		return nil
	}
	var names []string
	if withType {
		names = append(names, f.Entry())
	}
	for _, m := range f.Own() {
		names = append(names, f.Entry()+"."+m.Go)
	}
	return names
}

func viewDecls(s *state) []string {
	names := []string{"_", "Reader", "Open", "Reader.View", "Reader.Watch", "Reader.Close", "View", "View.Raw", "Declaration"}
	for _, f := range s.Fields {
		names = append(names, "Field"+f.Go)
	}
	return names
}

// ownerDecls lists what the view package has of one owner.
func ownerDecls(data goFile) []string {
	var names []string
	for _, f := range data.Fields {
		if f.Decides() {
			names = append(names, "View."+f.Go)
		}
		names = append(names, entryDecls(f, f.Decides())...)
		if f.Dependent() {
			names = append(names, "View."+f.Observe(), f.Seen(), f.Seen()+".Seen", f.Seen()+".MarshalText", f.Seen()+".UnmarshalText")
		}
	}
	for _, r := range data.Records {
		names = append(names, r.Go, r.Go+".JSONMembers")
	}
	for _, e := range data.Enums {
		names = append(names, e.Go, "Parse"+e.Go, e.Go+".String", e.Go+".MarshalText", e.Go+".UnmarshalText")
		for _, v := range e.Values {
			names = append(names, v.Go)
		}
	}
	return names
}

func testDecls(s *state) []string {
	names := []string{"_", "Setting", "State", "View"}
	for _, f := range s.Fields {
		names = append(names, f.Go)
		if f.Dependent() {
			names = append(names, f.Before(), f.Unobserved())
		}
		for _, m := range f.Members {
			names = append(names, m.Setting(f.Go))
		}
	}
	return names
}
