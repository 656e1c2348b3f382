package declare

import (
	"fmt"
	"slices"

	"github.com/freehold-dev/freehold/schema"
	"github.com/invopop/jsonschema"
)

// SidecarSchema returns the JSON Schema, draft 2020-12, of the sidecar of one
// of d's owners. No field is required, since any may be unset; no other
// owner's field is allowed, nor a once field, whose claim is a file of its own. It returns an error if d has no such owner or a
// type that this release does not know.
func SidecarSchema(d *schema.Declaration, owner string) ([]byte, error) {
	o, ok := d.Owners[owner]
	if !ok {
		return nil, fmt.Errorf("state %s has no owner %s: its owners are %s", d.State, owner, list(d.OwnerNames(), "and"))
	}
	s := closed(object(o.Doc, property{"$schema", pattern(""), false}, property{"$sidecar", envelopeSchema(owner), true}))
	for _, name := range o.FieldNames() {
		if o.Fields[name].EffectiveKind() == schema.Once {
			continue
		}
		field, err := fieldSchema(share{owner, o.Fields[name]})
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", name, err)
		}
		s.Properties.Set(name, field)
	}
	s.Title = fmt.Sprintf("%s.json, the sidecar of owner %s of state %s", owner, owner, d.State)
	s.Extras = map[string]any{"x-freehold-owner": owner}
	return marshal(s)
}

// envelopeSchema describes $sidecar. A newer release may add members to any of
// its objects, and an older one keeps them; so none is closed.
func envelopeSchema(owner string) *jsonschema.Schema {
	nonces := func(most uint64) *jsonschema.Schema {
		return &jsonschema.Schema{Type: "array", Items: pattern(noncePattern), MaxItems: &most}
	}
	return object("What Freehold says about this file. Any edit by hand makes the sum wrong, which readers and writers notice.",
		property{"format", described("The format's number.", &jsonschema.Schema{Type: "integer", Const: 1}), true},
		property{"owner", described("The owner whose file this is.", oneOf(owner)), true},
		property{"state", described("The random id of the state.", pattern("^[0-9a-v]+$")), true},
		property{"epoch", described("The epoch of the last commit; it grows when a new hand takes the owner over.", count()), true},
		property{"nonce", described("The random id of the last commit.", pattern(noncePattern)), true},
		property{"revision", described("Counts the commits of the epoch.", count()), true},
		property{"written_at", described("When the last commit was made.", instant()), true},
		property{"writer", writerSchema(), true},
		property{"fields", fieldsSchema(), true},
		property{"folded", described("The ids of pending patches that are in this file already.",
			&jsonschema.Schema{Type: "array", Items: pattern("")}), false},
		property{"taken", described("The highest number of a pending patch that was ever folded.", count()), false},
		property{"left", described("The lower numbers of pending patches still.", &jsonschema.Schema{Type: "array", Items: count()}), false},
		property{"recent", described("The ids of the last commits, the newest last.", nonces(256)), true},
		property{"sum", described("SHA-256 of the file with these digits as zeros.", pattern("^[0-9a-f]{64}$")), true},
	)
}

func writerSchema() *jsonschema.Schema {
	number := func(description string) *jsonschema.Schema {
		return described(description, between("integer", "0", "18446744073709551615"))
	}
	return object("Who made the last commit.",
		property{"program", described("The program's name.", pattern("")), true},
		property{"identity", object("What tells this process from its successor.",
			property{"boot", described("The kernel's random id of the boot.", pattern("")), false},
			property{"pid_ns", number("The inode of the PID namespace."), false},
			property{"pid", number("The process id."), true},
			property{"start", number("The start time in clock ticks since boot."), false},
			property{"nonce", described("Drawn at random once in a process's life.", pattern("^[0-9a-v]+$")), true},
			property{"pidfd", number("The inode of the process's pidfd."), false},
		), true},
	)
}

// fieldsSchema describes $sidecar.fields. It may name fields that this
// declaration does not have: an older build keeps what a newer one wrote.
func fieldsSchema() *jsonschema.Schema {
	s := object("Which commit wrote or cleared each field last.")
	s.PropertyNames = pattern(schema.NameRule)
	entry := object("", slices.Concat(commitProperties(false), []property{
		{"keys", incarnationsSchema(), false},
		{"observed", observationSchema(), false},
		{"open", openSchema(), false},
		{"adopted", described("Of a set or a map, the commit that took a legacy file into it.", pattern(versionPattern)), false},
	})...)
	written := &jsonschema.Schema{}
	for _, p := range commitProperties(true) {
		written.Required = append(written.Required, p.name)
	}
	entry.AnyOf = []*jsonschema.Schema{written, {Required: []string{"open"}}}
	s.AdditionalProperties = entry
	return s
}

// commitProperties describe a commit that did something to a field.
func commitProperties(required bool) []property {
	return []property{
		{"version", described("EPOCH.REVISION.NONCE of the commit.", pattern(versionPattern)), required},
		{"at", described("When it was made.", instant()), required},
		{"program", described("The program that made it.", pattern("")), required},
		{"pid", described("That program's process id.", between("integer", "0", "9223372036854775807")), required},
	}
}

func observationSchema() *jsonschema.Schema {
	return &jsonschema.Schema{
		Type:                 "object",
		Description:          "Of a field that depends on others, the version of each that its writer had seen before the data was produced; empty for one that nobody had written.",
		PropertyNames:        pattern(schema.NameRule),
		AdditionalProperties: pattern("^$|" + versionPattern),
	}
}

func openSchema() *jsonschema.Schema {
	return &jsonschema.Schema{
		Type:                 "object",
		Description:          "Of an event, what has begun and is neither done nor abandoned, by token.",
		PropertyNames:        pattern(noncePattern),
		AdditionalProperties: object("", commitProperties(true)...),
	}
}

func incarnationsSchema() *jsonschema.Schema {
	return &jsonschema.Schema{
		Type:                 "object",
		Description:          "Of a map, the incarnation of each key: the version of the commit that created it, in the sidecar of the owner that decides the keys.",
		PropertyNames:        pattern(keyPattern),
		AdditionalProperties: pattern(versionPattern),
	}
}
