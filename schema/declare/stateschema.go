package declare

import (
	_ "embed" // for the templates
	"encoding/json"
	"fmt"

	"github.com/freehold-dev/freehold/schema"
	"github.com/invopop/jsonschema"
)

// templates are the parts of the schemas that no declaration changes: of a
// sidecar, of a view, and there of a field's provenance and of an owner. A newer
// release may add members to any object of $sidecar, and an older one keeps them;
// so none is closed.
//
//go:embed schemas.json
var templates []byte

// fromTemplate returns the named template as a schema of its own.
func fromTemplate(name string) *jsonschema.Schema {
	var all map[string]json.RawMessage
	err := json.Unmarshal(templates, &all)
	s := new(jsonschema.Schema)
	if err == nil {
		err = json.Unmarshal(all[name], s)
	}
	if err != nil {
		panic(err) // tests read all of them
	}
	return s
}

// property returns a property of s, which has it.
func property(s *jsonschema.Schema, names ...string) *jsonschema.Schema {
	for _, name := range names {
		s, _ = s.Properties.Get(name)
	}
	return s
}

// SidecarSchema returns the JSON Schema, draft 2020-12, of the sidecar of one
// of d's owners. No field is required, since any may be unset; no other owner's
// field is allowed, nor a once field, which is a file of its own. It
// returns an error if d has no such owner or a type that this release does not
// know.
func SidecarSchema(d *schema.Declaration, owner string) ([]byte, error) {
	o, ok := d.Owners[owner]
	if !ok {
		return nil, unknownOwner(d, owner)
	}
	s := fromTemplate("sidecar")
	for _, name := range o.FieldNames() {
		if o.Fields[name].EffectiveKind() == schema.Once {
			continue
		}
		field, err := fieldSchema(share{owner: owner, field: o.Fields[name]})
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", name, err)
		}
		s.Properties.Set(name, field)
	}
	s.Title = fmt.Sprintf("%s.json, the sidecar of owner %s of state %s", owner, owner, d.State)
	s.Description = o.Doc
	s.Extras = map[string]any{"x-freehold-owner": owner}
	property(s, "$sidecar", "owner").Enum = []any{owner}
	return marshal(s)
}

// ViewSchema returns the JSON Schema, draft 2020-12, of the output of freehold
// view --json for the state that d declares. It returns an error if d has a
// type that this release does not know.
func ViewSchema(d *schema.Declaration) ([]byte, error) {
	s, err := viewSchema(d, func(string) bool { return false })
	if err != nil {
		return nil, err
	}
	return marshal(s)
}

// ViewSchemaAs is [ViewSchema] for forms and type generators that write as the owner:
// readOnly marks all that the owner cannot write. Validators pass over the mark;
// [PatchSchema] is for them.
func ViewSchemaAs(d *schema.Declaration, owner string) ([]byte, error) {
	if _, ok := d.Owners[owner]; !ok {
		return nil, unknownOwner(d, owner)
	}
	s, err := viewSchema(d, func(other string) bool { return other != owner })
	if err != nil {
		return nil, err
	}
	for pair := s.Properties.Oldest(); pair != nil; pair = pair.Next() {
		pair.Value.ReadOnly = pair.Key != "fields"
	}
	return marshal(s)
}

// viewSchema returns the schema of a view. Parts of an owner for which readOnly returns
// true are marked.
func viewSchema(d *schema.Declaration, readOnly func(owner string) bool) (*jsonschema.Schema, error) {
	s := fromTemplate("view")
	for _, name := range d.OwnerNames() {
		o := d.Owners[name]
		owner := fromTemplate("owner")
		owner.Description = o.Doc
		property(s, "owners").Properties.Set(name, owner)
		for _, field := range o.FieldNames() {
			all := shares(d, field)
			for i := range all {
				all[i].readOnly = readOnly(all[i].owner)
			}
			value, err := fieldSchema(all...)
			if err != nil {
				return nil, fmt.Errorf("field %s: %w", field, err)
			}
			property(s, "fields").Properties.Set(field, value)
			property(s, "provenance").Properties.Set(field, provenanceSchema(all))
		}
	}
	s.Title = "A view of state " + d.State
	property(s, "state").Enum = []any{d.State}
	return s, nil
}

// provenanceSchema returns the schema of the provenance of a field that these
// owners have parts of.
func provenanceSchema(all []share) *jsonschema.Schema {
	of := func(s share) *jsonschema.Schema {
		provenance := fromTemplate("provenance")
		property(provenance, "owner").Enum = []any{s.owner}
		return provenance
	}
	first := of(all[0])
	if len(all) > 1 {
		parts := object("Where the other owners' members of the map come from, by owner.")
		for _, other := range all[1:] {
			parts.Properties.Set(other.owner, of(other))
		}
		first.Properties.Set("parts", parts)
	}
	return first
}
