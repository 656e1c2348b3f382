package gen_test

import (
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"regexp"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/gen"
	"github.com/freehold-dev/freehold/schema/declare"
)

// parsed returns the Go files among files.
func parsed(t reporter, files []gen.File) (*token.FileSet, []*ast.File) {
	t.Helper()
	fset := token.NewFileSet()
	var trees []*ast.File
	for _, file := range files {
		if !strings.HasSuffix(file.Path, ".go") {
			continue
		}
		tree, err := parser.ParseFile(fset, file.Path, file.Data, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		trees = append(trees, tree)
	}
	return fset, trees
}

func TestGeneratedBodiesHaveAtMostThreeStatements(t *testing.T) {
	src, _ := shop(t)
	fset, trees := parsed(t, generate(t, src))
	for _, tree := range trees {
		for _, decl := range tree.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := len(f.Body.List); n > 3 {
				t.Errorf("%s: %s has %d statements", fset.Position(f.Pos()), f.Name.Name, n)
			}
			ast.Inspect(f.Body, func(n ast.Node) bool {
				switch n.(type) {
				case *ast.ForStmt, *ast.RangeStmt, *ast.GoStmt, *ast.DeferStmt, *ast.SelectStmt:
					t.Errorf("%s: %s has logic", fset.Position(n.Pos()), f.Name.Name)
				}
				return true
			})
		}
	}
}

func TestGeneratedExportedNamesAreDocumented(t *testing.T) {
	src, _ := shop(t)
	fset, trees := parsed(t, generate(t, src))
	comments := map[string]int{} // by package
	for _, tree := range trees {
		comments[tree.Name.Name] += len(tree.Doc.Text())
	}
	for name, n := range comments {
		if n == 0 {
			t.Errorf("package %s has no comment", name)
		}
	}
	undocumented := 0
	for _, tree := range trees {
		for _, decl := range tree.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				// A field without a text about which there is no more to say.
				if name := decl.Name.Name; name == "NothingSaid" && tree.Name.Name == "tillfile" && decl.Doc == nil {
					undocumented++
				} else if !strings.Contains(strings.SplitN(decl.Doc.Text(), "\n", 2)[0], name) {
					t.Errorf("%s: the comment of %s does not begin with it: %q", fset.Position(decl.Pos()), name, decl.Doc.Text())
				}
			case *ast.GenDecl:
				if decl.Tok != token.IMPORT && decl.Doc.Text() == "" {
					t.Errorf("%s: a declaration has no comment", fset.Position(decl.Pos()))
				}
			}
		}
	}
	if undocumented != 1 {
		t.Errorf("%d accessors without a comment, want 1: filler says nothing", undocumented)
	}
}

// TestAccessorsCarryTheFieldsOwnText looks for each field's text, unit and
// owner in the comments of its accessors.
func TestAccessorsCarryTheFieldsOwnText(t *testing.T) {
	src, _ := shop(t)
	_, trees := parsed(t, generate(t, src))
	comments := map[string][]string{} // of functions, by name
	for _, tree := range trees {
		for _, decl := range tree.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				text := strings.Join(strings.Fields(f.Doc.Text()), " ")
				comments[f.Name.Name] = append(comments[f.Name.Name], text)
			}
		}
	}
	for name, wants := range map[string][]string{
		"BalanceCents": {"What is in the drawer, negative if we owe. Unit: cents."},
		"TurnoverUSD":  {"Money taken since the shop opened its doors for the very first time."},
		"BestDay":      {"The best day's share of the year."},
	} {
		if len(comments[name]) != 3 {
			t.Errorf("%s has %d comments, want one each in writer, view and test package", name, len(comments[name]))
		}
		for _, comment := range comments[name] {
			for _, want := range wants {
				if !strings.HasPrefix(comment, name+": "+want) {
					t.Errorf("the comment of %s is %q, which lacks %q", name, comment, want)
				}
			}
		}
	}
}

// TestNoTwoCommentsDifferOnlyByAName compares comments with every capitalised
// name and every declared name replaced. Equal comments in two packages are
// one comment, and the same goes for methods that satisfy an interface. Of
// fields without a text there is nothing to say but their names.
func TestNoTwoCommentsDifferOnlyByAName(t *testing.T) {
	src, _ := shop(t)
	names := []string{"shop_state", "mood", "manager", "till", "silent", "a_string", "nothing_said", "wares", "empty_drawers", "shelf", "sold", "smells", "last_sale", "coupons"}
	undocumented := regexp.MustCompile(`^(AString|NothingSaid|EmptyDrawers|Since|EmptyDrawersSince|At|Street): `)
	name := regexp.MustCompile(`\b(` + strings.Join(names, "|") + `|[A-Z]\w*[A-Z]\w*)\b`)
	fset, trees := parsed(t, generate(t, src))
	seen := map[string]*ast.CommentGroup{}
	for _, tree := range trees {
		for _, group := range tree.Comments {
			text := strings.Join(strings.Fields(group.Text()), " ")
			key := name.ReplaceAllString(text, "NAME")
			if undocumented.MatchString(text) {
				continue
			}
			if other, ok := seen[key]; ok && strings.Join(strings.Fields(other.Text()), " ") != text {
				t.Errorf("%s and %s differ only by a name: %q", fset.Position(group.Pos()), fset.Position(other.Pos()), text)
			}
			seen[key] = group
		}
	}
}

func TestGeneratedGoIsFormatted(t *testing.T) {
	src, _ := shop(t)
	for _, file := range generate(t, src) {
		if !strings.HasSuffix(file.Path, ".go") {
			continue
		}
		text, err := format.Source(file.Data)
		if err != nil {
			t.Fatal(err)
		}
		if string(text) != string(file.Data) {
			t.Errorf("gofmt would change %s", file.Path)
		}
	}
}

// TestHandlesWrapOneUnexportedField holds that no generated type can be taken
// apart or put together by others, but for the members of a record.
func TestHandlesWrapOneUnexportedField(t *testing.T) {
	src, _ := shop(t)
	fset, trees := parsed(t, generate(t, src))
	for _, tree := range trees {
		ast.Inspect(tree, func(n ast.Node) bool {
			s, ok := n.(*ast.StructType)
			if !ok {
				return true
			}
			unexported := 0
			for _, f := range s.Fields.List {
				if text := types.ExprString(f.Type); len(f.Names) == 1 && !f.Names[0].IsExported() {
					unexported++
				} else if len(f.Names) != 1 || !strings.HasPrefix(text, "schema.Optional[") { // a member of a record
					t.Errorf("%s: a generated struct has a field of type %s", fset.Position(f.Pos()), text)
				}
			}
			if unexported != 1 {
				t.Errorf("%s: a generated struct has %d unexported fields", fset.Position(s.Pos()), unexported)
			}
			return true
		})
	}
}

// TestImportsFormNoCycle holds that the view package imports nothing of the
// module, and a writer package nothing but the view package.
//
// Case 147: no generated package imports itself, by any way round.
func TestImportsFormNoCycle(t *testing.T) {
	src, _ := shop(t)
	dependents, err := declare.Parse("owners/shop/owners.yaml", "owners/shop", []byte(`state: shop
owners:
  till:
    fields:
      opened: {type: time, kind: event}
      target: {type: record, fields: {host: {type: string}}}
  guard:
    fields:
      seen_at: {type: time, depends_on: [opened, target]}
      why: {type: enum, values: [late, early]}
  clerk:
    fields:
      last: {type: uint, depends_on: [opened, why]}
      target_seen: {type: record, fields: {host: {type: string}}, depends_on: [target]}
`))
	if err != nil {
		t.Fatal(err)
	}
	for name, src := range map[string]*declare.Source{"shop": src, "dependents": dependents} {
		t.Run(name, func(t *testing.T) {
			files := generate(t, src)
			if name == "dependents" { // the shop has its own test
				for _, path := range []string{"/till/internal/tillfile", "/guard/internal/guardfile", "/clerk/internal/clerkfile"} {
					if _, err := newModule(t, files).Import(shopModule + "/owners/shop" + path); err != nil {
						t.Error(err)
					}
				}
			}
			importsOneWay(t, files)
		})
	}
}

func importsOneWay(t *testing.T, files []gen.File) {
	t.Helper()
	_, trees := parsed(t, files)
	for _, tree := range trees {
		var own []string
		for _, spec := range tree.Imports {
			if path := strings.Trim(spec.Path.Value, `"`); strings.HasPrefix(path, shopModule) {
				own = append(own, path)
			}
		}
		want := shopModule + "/owners/shop"
		if tree.Name.Name == "shop" {
			want = ""
		}
		if got := strings.Join(own, " "); got != want {
			t.Errorf("package %s imports %q of its module, want %q", tree.Name.Name, got, want)
		}
	}
}
