package gen

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/freehold-dev/freehold/schema"
)

// Literal returns the declaration as a Go expression, without what is empty.
func (s *state) Literal() string {
	d := s.declared
	var b strings.Builder
	b.WriteString("&schema.Declaration{\n")
	member(&b, "State", strconv.Quote(d.State), d.State != "")
	member(&b, "Package", strconv.Quote(d.Package), d.Package != "")
	member(&b, "Instances", fmt.Sprintf("schema.Instances{By: %q}", d.Instances.By), d.Instanced())
	b.WriteString("Owners: map[string]schema.Owner{\n")
	for _, name := range d.OwnerNames() {
		writeOwner(&b, name, d.Owners[name])
	}
	b.WriteString("},\n}")
	return b.String()
}

func writeOwner(b *strings.Builder, name string, o schema.Owner) {
	fmt.Fprintf(b, "%q: {\n", name)
	member(b, "Doc", strconv.Quote(o.Doc), o.Doc != "")
	member(b, "Mode", constant(modes, o.Mode), o.Mode != "")
	member(b, "Busy", busy(o.Busy), o.Busy != schema.Busy{})
	member(b, "Durability", constant(durabilities, o.Durability), o.Durability != "")
	member(b, "Home", strconv.Quote(o.Home), o.Home != "")
	b.WriteString("Fields: " + all(o.Fields) + ",\n},\n")
}

func members(f schema.Field) string {
	var values []string
	for _, v := range f.Values {
		values = append(values, strconv.Quote(v))
	}
	var parts []string
	add := func(key, value string, set bool) {
		if set {
			parts = append(parts, key+": "+value)
		}
	}
	add("Type", constant(types, f.Type), f.Type != "")
	add("Kind", constant(kinds, f.Kind), f.Kind != "")
	add("Keys", "true", f.Keys)
	add("Values", "[]string{"+strings.Join(values, ", ")+"}", len(values) > 0)
	add("DependsOn", "[]string{"+field{spec: f}.Dependencies()+"}", f.Dependent())
	add("Unit", strconv.Quote(f.Unit), f.Unit != "")
	add("Go", strconv.Quote(f.Go), f.Go != "")
	add("Legacy", strconv.Quote(f.Legacy), f.Legacy != "")
	add("Was", strconv.Quote(f.Was), f.Was != "")
	add("Doc", strconv.Quote(f.Doc), f.Doc != "")
	add("Of", pointer(f.Of), f.Of != nil)
	add("Value", pointer(f.Value), f.Value != nil)
	add("Fields", all(f.Fields), len(f.Fields) > 0)
	add("Record", all(f.Record), len(f.Record) > 0)
	return strings.Join(parts, ", ")
}

func pointer(f *schema.Field) string {
	if f == nil {
		return ""
	}
	return "&schema.Field{" + members(*f) + "}"
}

// all returns fields as a map, one on a line.
func all(fields map[string]schema.Field) string {
	var b strings.Builder
	b.WriteString("map[string]schema.Field{\n")
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		fmt.Fprintf(&b, "%q: {%s},\n", name, members(fields[name]))
	}
	b.WriteString("}")
	return b.String()
}

func member(b *strings.Builder, key, value string, set bool) {
	if set {
		fmt.Fprintf(b, "%s: %s,\n", key, value)
	}
}

func busy(v schema.Busy) string {
	var parts []string
	if v.Wait != "" {
		parts = append(parts, "Wait: "+strconv.Quote(v.Wait))
	}
	if v.Then != "" {
		parts = append(parts, "Then: "+constant(thens, v.Then))
	}
	return "schema.Busy{" + strings.Join(parts, ", ") + "}"
}

// The names of the constants in package schema.
var (
	modes        = map[schema.Mode]string{schema.Shared: "Shared", schema.Exclusive: "Exclusive"}
	durabilities = map[schema.Durability]string{schema.Power: "Power", schema.Process: "Process"}
	thens        = map[schema.Then]string{schema.Fail: "Fail", schema.Defer: "Defer"}
	kinds        = map[schema.Kind]string{
		schema.Value: "Value", schema.Max: "Max", schema.Min: "Min", schema.Counter: "Counter", schema.Once: "Once", schema.Event: "Event", schema.Set: "Set", schema.Map: "Map",
	}
	types = map[schema.Type]string{
		schema.TypeBool: "TypeBool", schema.TypeInt: "TypeInt", schema.TypeUint: "TypeUint",
		schema.TypeFloat: "TypeFloat", schema.TypeDecimal: "TypeDecimal", schema.TypeString: "TypeString",
		schema.TypeTime: "TypeTime", schema.TypeDuration: "TypeDuration", schema.TypeEnum: "TypeEnum",
		schema.TypeList: "TypeList", schema.TypeRecord: "TypeRecord", schema.TypeJSON: "TypeJSON",
	}
)

// constant returns the expression for v; one without a name is spelt out.
func constant[T ~string](names map[T]string, v T) string {
	if name, ok := names[v]; ok {
		return "schema." + name
	}
	return strconv.Quote(string(v))
}
