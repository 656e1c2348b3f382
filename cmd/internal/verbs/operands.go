package verbs

import (
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/schema"
)

// Operands are the words for a command's operands, as its usage line has them:
// "OWNER FIELD=VALUE...". Those in brackets may be left out, and one with "..."
// may be repeated.
type Operands string

// Bounds returns the least and the greatest number of operands; a negative most
// is no bound.
func (o Operands) Bounds() (least, most int) {
	words := strings.Fields(string(o))
	least, most = len(words)-strings.Count(string(o), "["), len(words)
	if strings.HasSuffix(string(o), "...") {
		most = -1
	}
	return least, most
}

// word returns the name of the operand at place i, or "".
func (o Operands) word(i int) string {
	words := strings.Fields(string(o))
	if _, most := o.Bounds(); most < 0 {
		i = min(i, len(words)-1)
	}
	if i >= len(words) {
		return ""
	}
	return strings.Trim(words[i], "[].")
}

// Complete returns the operands that may follow args.
func (o Operands) Complete(d *schema.Declaration, args []string) []string {
	return o.complete(d, args, "")
}

// complete is Complete for a command with a verb, which writes only some fields.
func (o Operands) complete(d *schema.Declaration, args []string, verb schema.Verb) (names []string) {
	word, suffix := o.word(len(args)), ""
	if strings.HasSuffix(word, "=VALUE") {
		suffix = "="
	}
	switch strings.TrimSuffix(word, "=VALUE") {
	case "OWNER":
		return d.OwnerNames()
	case "FIELD", "MAP":
		for _, owner := range d.OwnerNames() {
			if verb != "" && owner != args[0] {
				continue
			}
			for name, f := range d.Owners[owner].Fields {
				if verb == "" || slices.Contains(f.Verbs(), verb) {
					names = append(names, name+suffix)
				}
			}
		}
	case "MEMBER":
		for _, name := range d.Owners[args[0]].Fields[args[1]].MemberNames() {
			names = append(names, name+suffix)
		}
	}
	slices.Sort(names)
	return slices.Compact(names) // a map may have several owners
}
