package verbs

import (
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
)

// A Typing is an unfinished command line.
type Typing struct {
	Declaration *schema.Declaration
	Args        []string // the operands before the one that is typed
	Word        string   // its beginning
	// View takes a view of the state, for keys and tokens.
	View func() (*reader.View, error)

	reads bool        // the first operand is a field, not the owner
	verb  schema.Verb // of the operation, which only some fields have; or empty
}

// An offer is a word that may follow, with its description behind a tab.
func offer(word, doc string) string {
	if doc = display.Line(strings.TrimSpace(doc)); doc == "" {
		return word
	}
	return word + "\t" + display.ClipTo(display.Escape(doc), 72)
}

// Complete returns the offers for an operand of the verb.
func (v *Verb) Complete(t Typing) []string {
	if t.reads = v.Reads; !v.Reads {
		t.verb = schema.Verb(v.Name)
	}
	return v.Operands.complete(t)
}

// Complete returns the offers for an operand of a command without a verb.
func (o Operands) Complete(t Typing) []string {
	t.reads = !strings.HasPrefix(string(o), "OWNER")
	return o.complete(t)
}

func (o Operands) complete(t Typing) (offers []string) {
	word := o.word(len(t.Args))
	switch name, valued := strings.CutSuffix(word, "=VALUE"); name {
	case "OWNER":
		for _, owner := range t.Declaration.OwnerNames() {
			offers = append(offers, offer(owner, t.Declaration.Owners[owner].Doc))
		}
	case "FIELD", "MAP":
		if offers = t.fields(valued); valued && strings.Contains(t.Word, "=") {
			offers = t.assigned(t.own().Fields)
		}
	case "KEY":
		offers = t.keys()
	case "MEMBER":
		if f, ok := t.field(); ok {
			offers = members(f, valued)
		}
		if f, _ := t.field(); valued && strings.Contains(t.Word, "=") {
			offers = t.assigned(f.Record)
		}
	case "VALUE":
		if f, ok := t.field(); ok {
			offers = valuesOf("", f)
		}
	case "TOKEN":
		offers = t.tokens()
	}
	slices.Sort(offers)
	return slices.Compact(offers) // a map may have several owners
}

// own returns the declaration of the owner that is named.
func (t Typing) own() schema.Owner {
	if t.reads || len(t.Args) == 0 {
		return schema.Owner{}
	}
	return t.Declaration.Owners[t.Args[0]]
}

// field returns the declaration of the field that is named.
func (t Typing) field() (schema.Field, bool) {
	if t.reads {
		return t.Declaration.Joined(t.Args[0])
	}
	f, ok := t.own().Fields[t.Args[1]]
	return f, ok
}

// fields offers the fields that the verb can write; without a verb all.
func (t Typing) fields(valued bool) (offers []string) {
	for _, owner := range t.Declaration.OwnerNames() {
		if !t.reads && owner != t.Args[0] {
			continue
		}
		for name, f := range t.Declaration.Owners[owner].Fields {
			if t.verb == "" || slices.Contains(f.Verbs(), t.verb) {
				offers = append(offers, offer(name+map[bool]string{true: "="}[valued], f.Doc))
			}
		}
	}
	return offers
}

func members(f schema.Field, valued bool) (offers []string) {
	for _, name := range f.MemberNames() {
		member, _ := f.Member(name)
		offers = append(offers, offer(name+map[bool]string{true: "="}[valued], member.Doc))
	}
	return offers
}

// assigned offers values for the name before the equals sign.
func (t Typing) assigned(fields map[string]schema.Field) []string {
	name, _, _ := strings.Cut(t.Word, "=")
	f, ok := fields[name]
	if !ok {
		return nil
	}
	return valuesOf(name+"=", f)
}

// valuesOf offers the values of an enum or a bool, or those of a set's elements.
func valuesOf(prefix string, f schema.Field) (offers []string) {
	if element, ok := f.Element(); ok {
		element.Doc = f.Doc
		f = element
	}
	all := f.Values
	if f.Type == schema.TypeBool {
		all = []string{"true", "false"}
	}
	for _, value := range all {
		offers = append(offers, offer(prefix+value, f.Doc))
	}
	return offers
}

// keys offers the keys that the map has in the state.
func (t Typing) keys() (offers []string) {
	f, ok := t.field()
	if !ok || f.EffectiveKind() != schema.Map || t.View == nil {
		return nil
	}
	view, err := t.View()
	if err != nil {
		return nil
	}
	name := t.Args[0]
	if !t.reads {
		name = t.Args[1]
	}
	raw, err := view.Field(name).Raw()
	if err != nil {
		return nil
	}
	object, err := schema.ParseObject(raw)
	if err != nil {
		return nil
	}
	for _, m := range object {
		if display.Escape(m.Name) == m.Name { // a shell could not type the others
			offers = append(offers, offer(m.Name, f.Doc))
		}
	}
	return offers
}

// tokens offers the open tokens of an event.
func (t Typing) tokens() (offers []string) {
	if t.View == nil {
		return nil
	}
	view, err := t.View()
	if err != nil {
		return nil
	}
	for _, o := range view.Field(t.Args[1]).Open() {
		offers = append(offers, offer(o.Token.String(), "begun at "+display.Instant(o.BegunAt)+" by "+o.Program))
	}
	return offers
}
