package declare

import (
	"fmt"

	"github.com/freehold-dev/freehold/schema"
	"github.com/invopop/jsonschema"
)

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
		oneOf("ok", "missing", "invalid", "foreign", "unreadable", "regressed"))
}

func provenanceSchema(owner string) *jsonschema.Schema {
	return object("",
		property{"owner", described("The only owner that may write the field.", oneOf(owner)), true},
		property{"file", described("The owner's sidecar, or the file of a once field's claim.", pattern("")), true},
		property{"epoch", described("The epoch of the commit that changed the field last.", count()), false},
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
			property{"epoch", described("The epoch of the commit that began it.", count()), true},
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
		property{"epoch", described("The epoch of the owner's last commit.", count()), false},
		property{"revision", described("That commit's revision in the epoch.", count()), false},
		property{"version", described("EPOCH.REVISION.NONCE of that commit, as --if-version takes it; empty if there was none.", pattern("^$|"+versionPattern)), false},
		property{"pending", described("How many pending patches and not in the sidecar yet; the view shows them.", count()), false},
		property{"pending_error", described("Which of them the view does not show, and why.", pattern("")), false},
		property{"error", described("Why the sidecar could not be read, and what to do.", pattern("")), false},
	)
}
