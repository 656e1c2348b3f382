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
		return nil, fmt.Errorf("state %s has no owner %s: %s", d.State, owner, schema.DidYouMean(owner, "its owners are", d.OwnerNames()))
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
		property{"epoch", described("The epoch of the last commit; it grows when a new hand takes the owner over.", epoch()), true},
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

// ViewSchema returns the JSON Schema, draft 2020-12, of what freehold view
// --json prints for the state that d declares. It returns an error if d has a
// type that this release does not know.
func ViewSchema(d *schema.Declaration) ([]byte, error) {
	fields := closed(object("The fields that are set and readable, by name."))
	provenance := closed(object("Where each field comes from: who wrote or cleared it last, and when."))
	owners := closed(object("The sidecar of each owner."))
	for _, name := range d.OwnerNames() {
		o := d.Owners[name]
		owners.Properties.Set(name, ownerStatusSchema(o.Doc))
		for _, field := range o.FieldNames() {
			all := shares(d, field)
			value, err := fieldSchema(all...)
			if err != nil {
				return nil, fmt.Errorf("field %s: %w", field, err)
			}
			fields.Properties.Set(field, value)
			provenance.Properties.Set(field, sharedProvenanceSchema(all))
		}
	}
	s := closed(object("",
		property{"$schema", pattern(""), false},
		property{"state", described("The name of the state.", oneOf(d.State)), true},
		property{"dir", described("The state directory.", pattern("")), true},
		property{"snapshot", snapshotSchema(), true},
		property{"fields", fields, true},
		property{"provenance", provenance, true},
		property{"owners", owners, true},
	))
	s.Title = "A view of state " + d.State
	return marshal(s)
}

func snapshotSchema() *jsonschema.Schema {
	return object("What the view promises about the moment at which it was taken.",
		property{"consistency", described("atomic: all sidecars stood like this at one moment; causal: nothing in the view had observed something newer than the view holds.",
			oneOf("atomic", "causal")), true},
		property{"id", described("Equal ids mean equal views.", pattern("")), true},
	)
}

func statusSchema() *jsonschema.Schema {
	return described("Whether the owner's sidecar could be read.",
		oneOf("ok", "missing", "invalid", "newer", "foreign", "unreadable", "regressed"))
}

func provenanceSchema(owner string) *jsonschema.Schema {
	return object("",
		property{"owner", described("The only owner that may write the field.", oneOf(owner)), true},
		property{"file", described("The owner's sidecar, or the file of a once field's claim.", pattern("")), true},
		property{"epoch", described("The epoch of the commit that changed the field last.", epoch()), false},
		property{"revision", described("That commit's revision in the epoch.", count()), false},
		property{"claim", described("Of a once field, the id of its claim, which is no commit.", pattern(noncePattern)), false},
		property{"pending_patch", described("The id of the patch that changed the field last, if that is deferred and in no commit yet; epoch and revision are 0 then.", pattern(noncePattern)), false},
		property{"changed_at", described("When that commit, or the claim, was made.", instant()), false},
		property{"program", described("The program that made it.", pattern("")), false},
		property{"pid", described("That program's process id.", between("integer", "0", "9223372036854775807")), false},
		property{"status", statusSchema(), true},
		property{"freshness", described("Whether the field was computed from the newest of what it depends on.",
			oneOf("fresh", "stale", "ambiguous", "unknown")), false},
		property{"reason", described("A stable code for why its freshness is that.",
			oneOf("current", "overtaken", "begun", "unset", "unreadable", "not-observed", "dependency-unreadable", "dependency-behind", "dependency-forked")), false},
		property{"observed", observationSchema(), false},
		property{"open", begunSchema(), false},
	)
}

// begunSchema describes what has begun of an event and is not done.
func begunSchema() *jsonschema.Schema {
	return &jsonschema.Schema{
		Type:        "array",
		Description: "Of an event, what has begun and is neither done nor abandoned, in that order.",
		Items: closed(object("",
			property{"token", described("The token that ends it.", pattern("^[0-9a-v]{26}:[a-z][a-z0-9_]{0,47}:[0-9a-v]{13}$")), true},
			property{"epoch", described("The epoch of the commit that began it.", epoch()), true},
			property{"revision", described("That commit's revision in the epoch.", count()), true},
			property{"begun_at", described("When that commit was made.", instant()), true},
			property{"program", described("The program that made it.", pattern("")), true},
			property{"pid", described("That program's process id.", between("integer", "0", "9223372036854775807")), true},
		)),
	}
}

// sharedProvenanceSchema is provenanceSchema for a field of all these owners.
func sharedProvenanceSchema(all []share) *jsonschema.Schema {
	s := provenanceSchema(all[0].owner)
	if len(all) == 1 {
		return s
	}
	parts := closed(object("Where the other owners' members of the map come from, by owner."))
	for _, other := range all[1:] {
		parts.Properties.Set(other.owner, provenanceSchema(other.owner))
	}
	s.Properties.Set("parts", parts)
	return s
}

func ownerStatusSchema(doc string) *jsonschema.Schema {
	return object(doc,
		property{"status", statusSchema(), true},
		property{"epoch", described("The epoch of the owner's last commit.", epoch()), false},
		property{"revision", described("That commit's revision in the epoch.", count()), false},
		property{"version", described("EPOCH.REVISION.NONCE of that commit, as --if-version takes it; empty if there was none.", pattern("^$|"+versionPattern)), false},
		property{"pending", described("How many pending patches and not in the sidecar yet; the view shows them.", count()), false},
		property{"pending_error", described("Which of them the view does not show, and why.", pattern("")), false},
		property{"error", described("Why the sidecar could not be read, and what to do.", pattern("")), false},
	)
}
