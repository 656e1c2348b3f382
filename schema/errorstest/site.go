package errorstest

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// A site is one place in the source that makes the text of an error.
type site struct {
	at   token.Position
	text string         // as the source writes it, with its verbs
	says *regexp.Regexp // what it comes out as
}

// sites returns every place of the package in dir, as it is built on this
// platform, that makes the text of an error: what fmt.Errorf, errors.New and
// the package's own functions that take a format are given, what the values of
// its error types and maps by them are made of, and what their Error methods say. What names the
// place of another error and nothing else is left out.
func sites(dir string, prose []string, formats map[string]int) ([]site, error) {
	pkg, err := build.ImportDir(dir, 0)
	if err != nil {
		return nil, err
	}
	f := finder{fset: token.NewFileSet(), formats: map[string]int{}, errorTypes: map[string]bool{}}
	var files []*ast.File
	for _, name := range pkg.GoFiles {
		file, err := parser.ParseFile(f.fset, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		if !ast.IsGenerated(file) {
			files = append(files, file)
		}
	}
	for _, file := range files {
		f.declared(file)
	}
	maps.Copy(f.formats, formats)
	for _, name := range prose {
		delete(f.formats, name)
	}
	for _, file := range files {
		ast.Inspect(file, f.visit)
	}
	return f.found, nil
}

type finder struct {
	fset       *token.FileSet
	formats    map[string]int  // functions that take a format, and as which parameter
	errorTypes map[string]bool // types with an Error method, or that embed an error
	found      []site
}

// declared notes what a file declares that makes errors.
func (f *finder) declared(file *ast.File) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.Name == "Error" && d.Recv != nil {
				f.errorTypes[baseName(d.Recv.List[0].Type)] = true
			}
			if at, ok := formatParameter(d.Type); ok {
				f.formats[d.Name.Name] = at
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if spec, ok := spec.(*ast.TypeSpec); ok && embedsError(spec.Type) {
					f.errorTypes[spec.Name.Name] = true
				}
			}
		}
	}
}

// formatParameter is the place of a format among parameters that end with one
// and its arguments.
func formatParameter(f *ast.FuncType) (int, bool) {
	var types []ast.Expr
	for _, field := range f.Params.List {
		for range max(1, len(field.Names)) {
			types = append(types, field.Type)
		}
	}
	n := len(types)
	if n < 2 {
		return 0, false
	}
	rest, ok := types[n-1].(*ast.Ellipsis)
	return n - 2, ok && baseName(rest.Elt) == "any" && baseName(types[n-2]) == "string"
}

func embedsError(t ast.Expr) bool {
	s, ok := t.(*ast.StructType)
	if !ok {
		return false
	}
	for _, field := range s.Fields.List {
		if len(field.Names) == 0 && baseName(field.Type) == "error" {
			return true
		}
	}
	return false
}

// baseName is the name of a type or function without package, pointer and
// receiver.
func baseName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.StarExpr:
		return baseName(e.X)
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

func (f *finder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.FuncDecl:
		if n.Name.Name == "Error" && n.Recv != nil && n.Body != nil {
			ast.Inspect(n.Body, f.method)
			return false
		}
	case *ast.CallExpr:
		if at, ok := f.format(n); ok && at < len(n.Args) {
			f.add(n.Args[at])
		}
	case *ast.CompositeLit:
		of := n.Type
		if m, ok := of.(*ast.MapType); ok {
			of = m.Key
		}
		if f.errorTypes[baseName(of)] {
			for _, e := range n.Elts {
				if pair, ok := e.(*ast.KeyValueExpr); ok {
					e = pair.Value
				}
				f.add(e)
			}
		}
	}
	return true
}

// format returns which argument of a call is the text of an error.
func (f *finder) format(call *ast.CallExpr) (int, bool) {
	if s, ok := call.Fun.(*ast.SelectorExpr); ok {
		if x, ok := s.X.(*ast.Ident); ok && (x.Name == "fmt" || x.Name == "errors") {
			return 0, x.Name+"."+s.Sel.Name == "fmt.Errorf" || x.Name+"."+s.Sel.Name == "errors.New"
		}
	}
	at, ok := f.formats[baseName(call.Fun)]
	return at, ok
}

// method takes each text in an Error method.
func (f *finder) method(n ast.Node) bool {
	if e, ok := n.(ast.Expr); ok {
		if _, isText := pattern(e); isText {
			f.add(e)
			return false
		}
	}
	return true
}

// add takes an expression for the text of an error, if it has words of its own.
func (f *finder) add(e ast.Expr) {
	if call, ok := e.(*ast.CallExpr); ok && baseName(call.Fun) == "Sprintf" && len(call.Args) > 0 {
		e = call.Args[0]
	}
	text, ok := pattern(e)
	if !ok || !words().MatchString(verbs().ReplaceAllString(text, "")) || place().MatchString(text) {
		return
	}
	pieces := verbs().Split(text, -1)
	for i, p := range pieces {
		pieces[i] = regexp.QuoteMeta(p)
	}
	f.found = append(f.found, site{f.fset.Position(e.Pos()), text, regexp.MustCompile(strings.Join(pieces, `(?s:.*)`))})
}

// expression returns what compiles an expression when it is first needed.
func expression(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

var (
	verbs = expression(`%[-+# 0]*[\d*]*(\.[\d*]+)?(\[\d\])?[a-zA-Z%]`)
	words = expression(`\pL{2}`)
	place = expression(`^(%s: )*((owner|field|member|key|element|process|value) %[a-z.0-9]+(, |: | of ))*%[sw]: %w( \(%w\))?$|^(%s: )*((owner|field|member|key|element|process) %[a-z.0-9]+(, |: | of ))+%w( \(%w\))?$`)
)

// pattern is a literal, or a sum with one in it, as a format: what is added to
// it that is no literal counts as a verb.
func pattern(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return pattern(e.X)
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			text, err := strconv.Unquote(e.Value)
			return text, err == nil
		}
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			x, okx := pattern(e.X)
			y, oky := pattern(e.Y)
			return x + y, okx || oky
		}
	}
	return "%v", false
}
