package verbs

import (
	"github.com/freehold-dev/freehold/schema"
)

var (
	ifVersion = Flag{Name: "if-version", Usage: "commit only if the sidecar is at `VERSION`, as commits and views print it"}
	seenFlag  = Flag{Name: "seen", Usage: "the `TOKEN` that observe printed before the data was gathered (default $" + seenVariable + ")"}
)

// table has the verbs, the writing ones first.
var table = []Verb{
	{
		Name: "set", Operands: "OWNER FIELD=VALUE...",
		Short: "give fields values",
		Long: `Give fields of kind value new values, as their owner and all in one commit.

A value is read by the field's declared type: true or false; an integer; a
number; a decimal such as 12.50; text; an instant such as
2026-08-11T09:12:44.031Z; a duration such as 1m30s; one of an enum's values.
Where every field has its value already, nothing is written and the answer is
"unchanged".`,
		Example: `  freehold set reset context_cleared=true
  freehold set reset context_cleared=true --program my-hook --json`,
		Least: 2, Most: -1, Wants: "an OWNER and at least one FIELD=VALUE",
		Flags: []Flag{ifVersion, seenFlag}, Complete: fieldsOf(schema.Value, "="), check: readable, draft: assign,
	},
	{
		Name: "clear", Operands: "OWNER FIELD...",
		Short: "make fields unset",
		Long: `Make fields of kind value unset, as their owner and all in one commit. Unset
differs from zero, false and the empty text. Members of a map are cleared by
"freehold apply", or go with their key by "freehold delete".`,
		Example: "  freehold clear reset context_cleared",
		Least:   2, Most: -1, Wants: "an OWNER and at least one FIELD",
		Flags: []Flag{ifVersion}, Complete: fieldsOf(schema.Value, ""), draft: unsetting,
	},
	{
		Name: "add", Operands: "OWNER FIELD N",
		Short: "add to a counter",
		Long: `Add N, which may be negative, to a field of kind counter, as its owner. Sums
are exact; one that does not fit the field's type is refused. An unset counter
counts from zero.`,
		Example: `  freehold add cost total_usd 0.25
  freehold add cost total_usd -0.25`,
		Least: 3, Most: 3, Wants: "an OWNER, a FIELD and N", Number: true,
		Flags: []Flag{ifVersion, seenFlag}, Complete: fieldsOf(schema.Counter, ""), draft: operate,
	},
	{
		Name: "raise", Operands: "OWNER FIELD VALUE",
		Short: "move a max field up",
		Long: `Move a field of kind max up to VALUE, as its owner. Where it is there or beyond
already nothing is written and the answer is "unchanged", with the value that
stays. Instants of different offsets compare as instants.`,
		Example: "  freehold raise reset last_context_reset_at 2026-08-11T09:12:44.031Z",
		Least:   3, Most: 3, Wants: "an OWNER, a FIELD and VALUE", Number: true,
		Flags: []Flag{ifVersion, seenFlag}, Complete: fieldsOf(schema.Max, ""), draft: operate,
	},
	{
		Name: "lower", Operands: "OWNER FIELD VALUE",
		Short: "move a min field down",
		Long: `Move a field of kind min down to VALUE, as its owner. Where it is there or
below already nothing is written and the answer is "unchanged", with the value
that stays.`,
		Example: "  freehold lower worker fastest_run 1m30s",
		Least:   3, Most: 3, Wants: "an OWNER, a FIELD and VALUE", Number: true,
		Flags: []Flag{ifVersion, seenFlag}, Complete: fieldsOf(schema.Min, ""), draft: operate,
	},
	{
		Name: "insert", Operands: "OWNER FIELD VALUE...",
		Short: "put elements into a set, or keys into a map",
		Long: `Put elements into a field of kind set, as its owner and all in one
commit. If all are in the set already, the answer is "unchanged". A VALUE is read
by the type of the set's elements.

Of a map whose members are declared, each VALUE is a key, which is created
without members unless it is there; only the owner that decides the keys may.`,
		Example: `  freehold insert tagger labels urgent "needs review"
  freehold insert creator skills deploy`,
		Least: 3, Most: -1, Wants: "an OWNER, a FIELD and at least one VALUE", Number: true,
		Flags: []Flag{ifVersion}, Complete: fieldsOf(schema.Set, ""), draft: elements,
	},
	{
		Name: "remove", Operands: "OWNER FIELD VALUE...",
		Short: "take elements out of a set",
		Long: `Take elements out of a field of kind set, as its owner and all in one commit.
Where none of them is there the answer is "unchanged".`,
		Example: "  freehold remove tagger labels urgent",
		Least:   3, Most: -1, Wants: "an OWNER, a FIELD and at least one VALUE", Number: true,
		Flags: []Flag{ifVersion}, Complete: fieldsOf(schema.Set, ""), draft: elements,
	},
	{
		Name: "put", Operands: "OWNER MAP KEY MEMBER=VALUE...",
		Short: "write at a key of a map",
		Long: `Write members of a map at KEY, as their owner and all in one commit.
Each member is written by its kind: one of kind value is set, VALUE is added to
a counter, a max is raised and a min lowered. Of a map that has no members but
one value at a key, the operand is a VALUE alone.

A key that is not there is created if OWNER decides which keys the map has. Any
other owner may write only at keys that are there (exit status 4).`,
		Example: `  freehold put creator skills deploy created_by=agent
  freehold put tool skills deploy use_count=1 last_used_at=2026-08-11T09:12:44.031Z
  freehold put hook seen 0b7c1c1e 17`,
		Least: 4, Most: -1, Wants: "an OWNER, a MAP, a KEY and at least one MEMBER=VALUE", Number: true,
		Flags: []Flag{ifVersion}, Complete: membersOf, draft: put,
	},
	{
		Name: "delete", Operands: "OWNER MAP KEY...",
		Short: "delete keys of a map",
		Long: `Delete keys of a map with all that it has there, as the owner that decides the
keys and all in one commit. The values of other owners at a deleted key go with
it: views no longer show it, and a key of the same name that comes later begins
anew. Where none of the keys is there the answer is "unchanged".`,
		Example: "  freehold delete creator skills deploy",
		Least:   3, Most: -1, Wants: "an OWNER, a MAP and at least one KEY", Number: true,
		Flags: []Flag{ifVersion}, Complete: fieldsOf(schema.Map, ""), draft: deletion,
	},
	{
		Name: "apply", Operands: "OWNER",
		Short: "commit a JSON patch from standard input",
		Long: `Read a JSON array of operations from standard input and carry all of them out,
in order, as OWNER and in one commit. Each is an object of "field", "op" and
"value", with nothing else in it but, for a map, "key", "member" and "at", and
for a field that depends on others "seen", a token that observe printed:

  [{"field": "context_cleared", "op": "set", "value": true},
   {"field": "note", "op": "clear"},
   {"field": "turns", "op": "add", "value": 1},
   {"field": "labels", "op": "insert", "value": "urgent"},
   {"field": "skills", "op": "set", "key": "deploy", "member": "pinned", "value": true},
   {"field": "skills", "op": "delete", "key": "review"}]

op is set or clear for a field of kind value, add for a counter, raise for a
max, lower for a min, and insert or remove for an element of a set. So it is for
the members that a map has at a key; of a map with one value at each key,
"member" is left out. insert and delete without "member" and "value" are for the
key itself. "at" is the incarnation of the key that is meant: the version of the
commit that created it; if another is there by now, that is a conflict. Values
are as they stand in the sidecar: decimals, instants and durations are strings.`,
		Example: `  echo '[{"field":"context_cleared","op":"set","value":true}]' | freehold apply reset`,
		Least:   1, Most: 1, Wants: "an OWNER, and a patch on standard input",
		Flags: []Flag{ifVersion, seenFlag}, Complete: Owners, check: readPatch, draft: checkPatch,
	},
	{
		Name: "claim", Operands: "OWNER FIELD",
		Short: "claim a once field, which one process ever wins",
		Long: `Claim a field of kind once, as its owner. Of all calls, in all processes and for
good, one wins: its exit status is 0, and the claim survives power loss. All
others have lost; their exit status is 1, and the answer names the winner. A claim
stands also if its winner died. An owner that is not exclusive takes no lock for
it, so that nobody is waited for.

Any other status means that this call has not won: 7 if the claim could not be
written, as on a full disk, 3 if another file stands in its place, 8 if it
was made and may not survive power loss.`,
		Example: "  freehold claim hook pretool_fired && echo only once",
		Least:   2, Most: 2, Wants: "an OWNER and a FIELD", Complete: fieldsOf(schema.Once, ""), run: claim,
	},
	{
		Name: "begin", Operands: "OWNER FIELD",
		Short: "say that an event is about to take place",
		Long: `Begin an event, as its owner, before it has its effect, and print a token. Give
that to done when the effect is there. In between, and for good if nobody says
done, the values that depend on the event are ambiguous to readers: nobody can
tell whether it took place. Events may overlap; each token ends its own.`,
		Example: `  token=$(freehold begin reset last_context_reset_at)
  freehold done reset last_context_reset_at "$token"`,
		Least: 2, Most: 2, Wants: "an OWNER and a FIELD", Complete: fieldsOf(schema.Event, ""), run: begin,
	},
	{
		Name: "done", Operands: "OWNER FIELD TOKEN",
		Short: "say that an event took place, or was abandoned",
		Long: `End the event that began under TOKEN, as its owner: it had its effect, and the
field's value becomes the time of this call. With --abandon nobody claims that:
the value stays, and since the effect may be there all the same, that is a
change of the field too. explain names the open tokens. If TOKEN is not open,
the exit status is 4.`,
		Example: `  freehold done reset last_context_reset_at "$token"
  freehold done reset last_context_reset_at "$token" --abandon`,
		Least: 3, Most: 3, Wants: "an OWNER, a FIELD and a TOKEN", Complete: fieldsOf(schema.Event, ""), run: done,
		Flags: []Flag{{Name: "abandon", Usage: "close it without saying that it took place", Switch: true}},
	},
	{
		Name: "get", Operands: "FIELD [KEY [MEMBER]]",
		Short: "print the value of a field",
		Long: `Print the value of a field as text, or with --json as the JSON that stands in
the sidecar. A pipe or a file gets the value as it is; on a terminal its control
characters are printed as escapes. A value with parts (a list, a record, a set, a
map, any JSON) is printed as JSON in both cases. Of a map, that is the values
of all owners, joined by key; KEY and MEMBER name a part of it.

--default stands in for an unset value only: an undeclared field (exit status 4),
an unusable sidecar of the owner (3) and a missing state (64) stay errors. Unset
without --default is 1, and so is a key that is not there.

With --require-fresh a value that is stale, ambiguous or unknown is not printed:
the exit status is 1, and standard error says why. So a program that acts on a
value acts on none that was overtaken. A field that depends on nothing is always fresh.`,
		Example: `  freehold get context_cleared
  freehold get turns --default 0
  freehold get skills deploy use_count
  freehold get last_prompt_tokens --require-fresh`,
		Least: 1, Most: 3, Wants: "a FIELD, and for a map perhaps a KEY and a MEMBER", Number: true,
		Reads: true, Complete: Field, run: get,
		Flags: []Flag{
			{Name: "default", Usage: "print this `VALUE` for an unset one"},
			{Name: "require-fresh", Usage: "print nothing that is stale, ambiguous or unknown", Switch: true},
		},
	},
	{
		Name: "observe", Operands: "FIELD...",
		Short: "print a token of the versions that fields have now",
		Long: `Print a token of the versions that the fields have now, at one cut. Of a FIELD
that depends on others, it tells of those. Take it before the data is gathered
from which a value is computed, and give it to the command that writes the
value, as --seen TOKEN or in $FREEHOLD_SEEN: so readers learn whether the fields
that the value depends on have changed since.

The token is one word and needs no quotes. With --json it is an object that
names the versions too.`,
		Example: `  seen=$(freehold observe last_prompt_tokens)   # when the turn starts
  freehold set cost last_prompt_tokens=1234 --seen "$seen"   # when it ends`,
		Least: 1, Most: -1, Wants: "at least one FIELD", Reads: true, Complete: Fields, run: observe,
	},
}
