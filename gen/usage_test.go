package gen_test

import (
	"go/parser"
	"go/token"
	"path"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/schema/declare"
)

// Every generated package shows in its comment how it is used, in code that compiles
// as the body of a function.
func TestPackageCommentsHaveAnExampleThatCompiles(t *testing.T) {
	const owners = `state: shop
owners:
  till: {fields: {FIELD}}
  manager: {fields: {opened: {type: time}}}
`
	for _, fields := range []string{
		"zeit: {type: time}", "n: {type: uint, kind: counter}", "high: {type: decimal, kind: max}", "low: {type: duration, kind: min}",
		"names: {type: string, kind: set}", "mood: {type: enum, values: [good, bad]}", "answer: {type: json}", "lines: {type: list, of: {type: string}}",
		"where: {type: record, fields: {host: {type: string}}}", "cut: {kind: once}", "sale: {kind: event}",
		"seen: {type: uint, depends_on: [opened]}", "more: {type: uint, kind: counter, depends_on: [opened]}",
		"by_key: {kind: map, value: {type: enum, values: [a, b]}}", "wares: {kind: map, record: {sold: {type: uint, kind: counter}, tags: {type: list, of: {type: string}}}}",
	} {
		for _, instances := range []string{"", "instances: {by: day}\n"} {
			t.Run(fields+instances, func(t *testing.T) {
				src, err := declare.Parse("owners/shop/owners.yaml", "owners/shop", []byte(instances+strings.Replace(owners, "FIELD", fields, 1)))
				if err != nil {
					t.Fatal(err)
				}
				checkExamples(t, src)
			})
		}
	}
	src, _ := shop(t)
	checkExamples(t, src)
}

func checkExamples(t *testing.T, src *declare.Source) {
	t.Helper()
	files := generate(t, src)
	examples := 0
	for _, file := range files {
		if !strings.HasSuffix(file.Path, ".go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file.Path, file.Data, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		_, code, ok := strings.Cut(tree.Doc.Text(), "\n# Example\n\n")
		if !ok {
			if tree.Doc != nil {
				t.Errorf("%s: the package's comment has no example", file.Path)
			}
			continue
		}
		examples++
		m := newModule(t, files)
		text := usage(tree.Name.Name, path.Join(shopModule, path.Dir(file.Path)), code)
		m.add(t, path.Join(shopModule, "owners/shop/usage"), text)
		if _, err := m.Import(path.Join(shopModule, "owners/shop/usage")); err != nil {
			t.Errorf("%s: %v\n%s", file.Path, err, text)
		}
	}
	if want := len(src.Declaration.Owners) + 2; examples != want {
		t.Errorf("%d examples, want %d", examples, want)
	}
}

// usage returns a file with the example code of the package name.
func usage(name, importPath, code string) string {
	imports := map[string]string{name: importPath, "fmt": "fmt", "shop": path.Join(shopModule, "owners/shop"), "time": "time",
		"decimal": "github.com/shopspring/decimal", "jsontext": "github.com/go-json-experiment/json/jsontext"}
	text := "package usage\n\nimport (\n\t\"context\"\n\t\"testing\"\n"
	for pkg, importPath := range imports {
		if strings.Contains(code, " "+pkg+".") || strings.Contains(code, "\t"+pkg+".") || strings.HasPrefix(code, pkg+".") || strings.Contains(code, "\n"+pkg+".") || strings.Contains(code, "]"+pkg+".") {
			text += "\t\"" + importPath + "\"\n"
		}
	}
	if !strings.Contains(code, "return err\n") || strings.Contains(code, ".View(t, ") {
		code += "\treturn nil\n"
	}
	return text + ")\n\nfunc use(ctx context.Context, t testing.TB, dir, id string) error {\n" + code + "}\n"
}
