package verbs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
)

// lookup returns the declaration of owner's field. The error for another owner's
// field names that owner, and the hint the command to call instead: verb, that
// owner and the operands.
func lookup(d *schema.Declaration, owner, field, verb string, operands ...string) (schema.Field, error) {
	if f, ok := d.Owners[owner].Fields[field]; ok {
		return f, suits(owner, field, f, verb)
	}
	if other, ok := d.OwnerOf(field); ok {
		return schema.Field{}, failure.Hint(
			fmt.Errorf("field %s: %w: it belongs to owner %s, and owner %s may not write it", field, sidecar.ErrNotOwner, other, owner),
			fmt.Sprintf("`%s` writes as %s", instead(other, field, d.Owners[other].Fields[field], verb, operands), other),
		)
	}
	err := fmt.Errorf("field %q: %w: no owner of state %s declares it", field, sidecar.ErrNotOwner, d.State)
	if _, ok := d.Owners[owner]; !ok {
		return schema.Field{}, err
	}
	return schema.Field{}, failure.Hint(err, fmt.Sprintf("the fields of %s are %s", owner, strings.Join(d.Owners[owner].FieldNames(), ", ")))
}

// member returns the declaration of a member of the map that is written. The
// error for another owner's member names that owner.
func member(d *schema.Declaration, c *Call, name, operand string) (schema.Field, error) {
	owner, field := c.Args[0], c.Args[1]
	for _, other := range d.OwnersOf(field) {
		f, ok := d.Owners[other].Fields[field].Member(name)
		switch {
		case !ok:
		case other == owner:
			return f, nil
		default:
			return schema.Field{}, failure.Hint(
				fmt.Errorf("field %s, member %s: %w: it belongs to owner %s, and owner %s may not write it", field, name, sidecar.ErrNotOwner, other, owner),
				writesAs(other, "put", []string{field, c.Args[2], operand}),
			)
		}
	}
	f, err := lookup(d, owner, field, "put", field, c.Args[2], operand)
	if err != nil {
		return schema.Field{}, err
	}
	return schema.Field{}, failure.Hint(
		fmt.Errorf("field %s, member %q: %w: no owner of state %s declares it", field, name, sidecar.ErrNotOwner, d.State),
		fmt.Sprintf("the members of %s are %s", owner, strings.Join(f.MemberNames(), ", ")),
	)
}

// writesAs returns the hint to call verb as owner.
func writesAs(owner, verb string, operands []string) string {
	return fmt.Sprintf("`%s` writes as %s", failure.Line(slices.Concat([]string{"freehold", verb, owner}, operands)...), owner)
}

// instead returns the command by which the owner of a field writes it: verb, if
// that suits, with the operands.
func instead(owner, field string, f schema.Field, verb string, operands []string) string {
	kind, command := f.EffectiveKind(), Command(owner, field, f)
	_, parted := partVerbs[kind]
	switch {
	case verb == strings.Fields(command)[1], verb == "apply", verb == "clear" && kind == schema.Value,
		parted && suits(owner, field, f, verb) == nil:
		return failure.Line(append([]string{"freehold", verb, owner}, operands...)...)
	}
	return command
}

// partVerbs are the verbs that write the parts of a field, by its kind, and those
// that are no part of a commit. Package sidecar refuses the others by itself.
var partVerbs = map[schema.Kind][]string{
	schema.Once:  {"claim"},
	schema.Event: {"begin", "done", "apply"},
	schema.Set:   {"insert", "remove", "apply"},
	schema.Map:   {"put", "insert", "delete", "apply"},
}

// suits says why a verb cannot write f, where reading its operands would say
// something else.
func suits(owner, field string, f schema.Field, verb string) error {
	kind := f.EffectiveKind()
	verbs, parted := partVerbs[kind]
	ofParts := false
	for _, others := range partVerbs {
		ofParts = ofParts || slices.Contains(others, verb)
	}
	switch {
	case verb == "apply" && !kind.OnWriter(), !parted && !ofParts:
		return nil
	case slices.Contains(verbs, verb) && (verb != "insert" || f.Value == nil):
		return nil
	}
	return failure.Hint(failure.Usage("field %s: %s is not for a %s", field, verb, display.Kind(f)), "`"+Command(owner, field, f)+"` writes it")
}

// Command returns the command by which owner writes f, with words for its
// operands.
func Command(owner, field string, f schema.Field) string {
	operands := map[schema.Kind]string{
		schema.Value:   "set %s %s=VALUE",
		schema.Counter: "add %s %s VALUE",
		schema.Max:     "raise %s %s VALUE",
		schema.Min:     "lower %s %s VALUE",
		schema.Once:    "claim %s %s",
		schema.Event:   "begin %s %s",
		schema.Set:     "insert %s %s VALUE",
		schema.Map:     "put %s %s KEY MEMBER=VALUE",
	}[f.EffectiveKind()]
	switch {
	case f.Value != nil:
		operands = "put %s %s KEY VALUE"
	case f.EffectiveKind() == schema.Map && len(f.Record) == 0:
		operands = "insert %s %s KEY"
	}
	if f.Dependent() {
		operands += " --seen TOKEN" // without the token the freshness is unknown
	}
	return fmt.Sprintf("freehold "+operands, owner, field)
}
