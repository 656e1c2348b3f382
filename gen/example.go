package gen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/schema"
)

// Example returns the end of a package's comment, with the code by which the package
// is used. Code in a comment adds no test to the module that has the package.
func (src source) Example() string {
	s := src.State
	var lines []string
	switch src.template {
	case "writer.tmpl":
		lines = src.writerExample()
	case "view.tmpl":
		lines = s.viewExample()
	case "test.tmpl":
		f, ok := s.shown()
		if !ok {
			lines = []string{"view := " + src.Package + ".View(t)", "_ = view // for the code under test"}
			break
		}
		f.view = s.Package + "."
		lines = append(f.variable(), "view := "+src.Package+".View(t, "+src.Package+"."+f.Go+"("+f.arguments()+"))",
			"_ = view // for the code under test")
	}
	return "//\n// # Example\n//\n//\t" + strings.Join(lines, "\n//\t")
}

// shown returns the field that examples show: one that is no map, if there is one.
func (s *state) shown() (f field, ok bool) {
	if len(s.Fields) == 0 {
		return field{}, false
	}
	return s.Fields[max(0, slices.IndexFunc(s.Fields, func(f field) bool { return !f.IsMap() }))], true
}

// variable declares the value of an example, unless it needs none.
func (f field) variable() []string {
	if f.IsRecordMap() {
		return nil
	}
	return []string{"var value " + f.Type()}
}

// arguments are those of a setting for tests.
func (f field) arguments() string {
	switch {
	case f.IsRecordMap():
		return `"key"`
	case f.IsMap():
		return `"key", value`
	}
	return "value"
}

// open returns the statement that opens the state, and the ones behind it.
func (s *state) open(call, name, more string) []string {
	id := ""
	if s.By != "" {
		id = ", id"
	}
	return []string{fmt.Sprintf("%s, err := %sdir%s%s)", name, call, id, more), "if err != nil {", "\treturn err", "}", "defer " + name + ".Close()"}
}

func (s *state) viewExample() []string {
	f, ok := s.shown()
	lines := append(s.open(s.Package+".Open(", "r", ""), "v, err := r.View(ctx)", "if err != nil {", "\treturn err", "}")
	if !ok {
		return append(lines, "fmt.Println(v.Raw().ID())", "return nil")
	}
	if f.IsMap() {
		return append(lines, "keys, err := v."+f.Go+"().Keys()", "fmt.Println(keys)", "return err")
	}
	return append(lines, "value, err := v."+f.Go+"().Get() // an error if it is unset",
		"writer, _ := v."+f.Go+"().Provenance()", "fmt.Println(value, writer.Program)", "return err")
}

// writerExample shows one commit of the field that is written most simply, or the
// claim or event of an owner that has no other field.
func (src source) writerExample() []string {
	lines := src.State.open(src.Package+".Open(ctx, ", "w", ", nil")
	if len(src.Fields) == 0 {
		return append(lines, "return nil")
	}
	simple := func(f field) bool { return !f.OnWriter() && !f.Dependent() && !f.IsMap() }
	i := slices.IndexFunc(src.Fields, simple)
	if i < 0 {
		i = slices.IndexFunc(src.Fields, func(f field) bool { return !f.OnWriter() })
	}
	if i < 0 {
		f := src.Fields[0]
		if f.spec.EffectiveKind() == schema.Once {
			return append(lines, "won, by, err := w."+f.Go+"().Claim(ctx)", "fmt.Println(won, by)", "return err")
		}
		return append(lines, "token, err := w."+f.Go+"().Begin(ctx) // then comes the effect, and Done(ctx, token)", "fmt.Println(token)", "return err")
	}
	f := src.Fields[i]
	return slices.Concat(f.values(), lines, []string{"_, err = w.Update(ctx, func(tx " + src.Package + ".Tx) error {", "\ttx." + f.write(), "\treturn nil", "})", "return err"})
}

// values declares the variables of write.
func (f field) values() []string {
	if len(f.Members) > 0 {
		return f.Members[0].variable()
	}
	lines := f.variable()
	if f.Dependent() {
		lines = append(lines, "var seen "+f.View()+f.Seen()+" // of View."+f.Observe()+", taken before value was produced")
	}
	return lines
}

// verbs are the methods that write a value, by the name of the kind in package
// sidecar.
var verbs = map[string]string{"Value": "Set", "Max": "Raise", "Min": "Lower", "Counter": "Add", "Set": "Insert"}

// write is the call that writes f in a Tx.
func (f field) write() string {
	switch {
	case len(f.Members) > 0:
		m := f.Members[0]
		return f.Go + `().Key("key").` + m.Go + "()." + verbs[m.Kind()] + "(value)"
	case f.IsRecordMap():
		return f.Go + `().Insert("key")`
	case f.IsMap():
		return f.Go + `().Key("key").` + verbs[f.Kind()] + "(value)"
	case f.Dependent():
		return f.Go + "()." + verbs[f.Kind()] + "(seen, value)"
	}
	return f.Go + "()." + verbs[f.Kind()] + "(value)"
}
