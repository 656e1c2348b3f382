package verbs

var (
	ifVersion  = Flag{Name: "if-version", Usage: "commit only if the sidecar is at `VERSION`, as commits and views print it"}
	forFlag    = Flag{Name: "for", Usage: "the process `PID` that this is for, one that has started this command: in a script $$ (default the parent)"}
	formatFlag = Flag{Name: "format", Usage: "print `FORMAT`: env for lines NAME='value', json for an object, raw for values alone"}
	seenFlag   = Flag{Name: "seen", Usage: "the `TOKEN` that observe printed before the data was gathered (default $" + seenVariable + ")"}
)

// table has the verbs, the writing ones first.
var table = []Verb{
	{
		Name: "set", Operands: "OWNER FIELD=VALUE...",
		Short: "give fields values",
		Long: `Set fields of kind value, as their owner and in one commit.

The declared type says how a value is read: true or false; an integer; a number;
a decimal such as 12.50; text; an instant such as 2026-08-11T09:12:44.031Z, or now; a
duration such as 1m30s; a value of the enum. If every field has its value
already, nothing is written and the answer is "unchanged".`,
		Example: `  freehold set reset context_cleared=true
  freehold set reset context_cleared=true --program my-hook --json`,
		Flags: []Flag{ifVersion, seenFlag}, check: readable, steps: assignments,
	},
	{
		Name: "clear", Operands: "OWNER FIELD...",
		Short: "make fields unset",
		Long: `Make fields of kind value unset, as their owner and in one commit. Unset
differs from zero, false and the empty text. To clear a member of a map, run
"freehold apply"; "freehold delete" deletes the whole key.`,
		Example: "  freehold clear reset context_cleared",
		Flags:   []Flag{ifVersion}, steps: clearings,
	},
	{
		Name: "add", Operands: "OWNER FIELD VALUE",
		Short: "add to a counter",
		Long: `Add VALUE, which may be negative, to a field of kind counter, as its owner. Sums
are exact; a sum that does not fit the type is refused. An unset counter counts
from zero.`,
		Example: `  freehold add cost total_usd 0.25
  freehold add cost total_usd -0.25`,
		Flags: []Flag{ifVersion, seenFlag}, steps: values,
	},
	{
		Name: "raise", Operands: "OWNER FIELD VALUE",
		Short: "move a max field up",
		Long: `Move a field of kind max up to VALUE, as its owner. If the field is there or
beyond already, nothing is written and the answer is "unchanged", with the value
that stays. Instants of different offsets compare as instants.`,
		Example: "  freehold raise reset last_context_reset_at 2026-08-11T09:12:44.031Z",
		Flags:   []Flag{ifVersion, seenFlag}, steps: values,
	},
	{
		Name: "lower", Operands: "OWNER FIELD VALUE",
		Short: "move a min field down",
		Long: `Move a field of kind min down to VALUE, as its owner. If the field is there or
below already, nothing is written and the answer is "unchanged", with the value
that stays.`,
		Example: "  freehold lower worker fastest_run 1m30s",
		Flags:   []Flag{ifVersion, seenFlag}, steps: values,
	},
	{
		Name: "insert", Operands: "OWNER FIELD VALUE...",
		Short: "put elements into a set, or keys into a map",
		Long: `Put elements into a field of kind set, as its owner and in one commit. The
declared type of the elements says how a VALUE is read. If the set has all of
them already, nothing is written and the answer is "unchanged".

For a map with declared members each VALUE is a key. A key that is missing is
created, without members. Only the owner of the keys may create one.`,
		Example: `  freehold insert tagger labels urgent "needs review"
  freehold insert creator skills deploy`,
		Flags: []Flag{ifVersion}, steps: values,
	},
	{
		Name: "remove", Operands: "OWNER FIELD VALUE...",
		Short: "take elements out of a set",
		Long: `Take elements out of a field of kind set, as its owner and in one commit. If the
set has none of them, nothing is written and the answer is "unchanged".`,
		Example: "  freehold remove tagger labels urgent",
		Flags:   []Flag{ifVersion}, steps: values,
	},
	{
		Name: "put", Operands: "OWNER MAP KEY MEMBER=VALUE...",
		Short: "write at a key of a map",
		Long: `Write members of a map at KEY, as their owner and in one commit. The kind of a
member says how: a value is set, VALUE is added to a counter, a max is raised and
a min lowered. For a map with one value at each key, the operand is a VALUE alone.

A missing key is created if OWNER is the owner of the keys. Other owners may write
at existing keys only (exit status 4).`,
		Example: `  freehold put creator skills deploy created_by=agent
  freehold put tool skills deploy use_count=1 last_used_at=2026-08-11T09:12:44.031Z
  freehold put hook seen 0b7c1c1e 17`,
		Flags: []Flag{ifVersion}, steps: puts,
	},
	{
		Name: "delete", Operands: "OWNER MAP KEY...",
		Short: "delete keys of a map",
		Long: `Delete keys of a map, as the owner of the keys and in one commit. The members of
other owners at a deleted key disappear from views too; a key of the same name
begins anew. If no key is there, nothing is written and the answer is "unchanged".`,
		Example: "  freehold delete creator skills deploy",
		Flags:   []Flag{ifVersion}, steps: values,
	},
	{
		Name: "apply", Operands: "OWNER",
		Short: "commit a JSON patch from standard input",
		Long: `Read a JSON array of operations from standard input and apply them in order, as
OWNER and in one commit. An operation is an object with "field", "op" and
"value"; for a map also "key", "member" and "at"; for a field that depends on
others also "seen", a token that observe printed:

  [{"field": "context_cleared", "op": "set", "value": true},
   {"field": "note", "op": "clear"},
   {"field": "turns", "op": "add", "value": 1},
   {"field": "labels", "op": "insert", "value": "urgent"},
   {"field": "skills", "op": "set", "key": "deploy", "member": "pinned", "value": true},
   {"field": "skills", "op": "delete", "key": "review"}]

op is set or clear for kind value, add for a counter, raise for a max, lower for
a min, insert or remove for an element of a set; the same for the members of a
map. A map with one value at each key needs no "member". insert and delete
without "member" and "value" are for the key itself. "at" is the version of the
commit that created the key; if the key was created anew since, that is a
conflict. Values are written as in the sidecar: decimals, instants and durations
are strings.`,
		Example: `  echo '[{"field":"context_cleared","op":"set","value":true}]' | freehold apply reset`,
		Flags:   []Flag{ifVersion, seenFlag}, check: readPatch,
	},
	{
		Name: "claim", Operands: "OWNER FIELD",
		Short: "claim a once field, which one process ever wins",
		Long: `Claim a field of kind once, as its owner. Of all calls in all processes, one ever
wins: its exit status is 0, and the claim survives power loss and the death of the
winner. Every other call has lost: its exit status is 1, and the answer names the
winner. An owner that is not exclusive takes no lock here and waits for nobody. The
claim is recorded for the parent of the command, or for --for, so that others can
tell whether the winner still runs.

With any other exit status this call has not won: 7 if the claim could not be
written, as on a full disk; 3 if another file stands in its place; 8 if the claim
was made and may not survive power loss.`,
		Example: `  freehold claim hook pretool_fired && echo only once
  freehold claim hook pretool_fired --for $$`,
		Flags: []Flag{forFlag}, Acts: true, run: claim,
	},
	{
		Name: "begin", Operands: "OWNER FIELD",
		Short: "begin an event before its effect",
		Long: `Begin an event, as its owner and before its effect, and print a token. Give the
token to done after the effect. Until then, values that depend on the event are
ambiguous to readers. Events may overlap; each token ends its own. The beginning is
recorded for the parent of the command, or for --for.`,
		Example: `  token=$(freehold begin reset last_context_reset_at)
  freehold done reset last_context_reset_at "$token"`,
		Flags: []Flag{forFlag}, Acts: true, run: begin,
	},
	{
		Name: "done", Operands: "OWNER FIELD TOKEN",
		Short: "end an event after its effect, or abandon it",
		Long: `End the event that began under TOKEN, as its owner: the effect is there, and the
field becomes the time of this call. With --abandon the effect is not known and
the field keeps its value; since the effect may be there, that is a change of the
field too. "freehold explain" names the open tokens. If TOKEN is not open, the exit
status is 4.`,
		Example: `  freehold done reset last_context_reset_at "$token"
  freehold done reset last_context_reset_at "$token" --abandon`,
		Flags: []Flag{{Name: "abandon", Usage: "end the event without its effect being known", Switch: true}}, run: done,
	},
	{
		Name: "get", Operands: "FIELD [KEY [MEMBER]]...",
		Short: "print the value of a field",
		Long: `Print the value of a field as text, or with --json as the JSON in the sidecar. A
terminal gets control characters as escapes, a pipe or file the plain value. A
list, record, set, map or JSON value is always printed as JSON. A map has the
members of all its owners; KEY and MEMBER name a part of the map. Several fields that
are no maps are printed one a line, of one snapshot: get FIELD FIELD...

--default replaces an unset value only. An undeclared field (exit status 4), an
unusable sidecar (3) and a missing state (64) stay errors. An unset value, or a
missing key, without --default is 1.

With --require-fresh a value that is stale, ambiguous or unknown is not printed:
the exit status is 1, and standard error gives the reason. A field that depends on
nothing is always fresh.`,
		Example: `  freehold get context_cleared
  freehold get turns --default 0
  freehold get skills deploy use_count
  eval "$(freehold get turns context_cleared --format env)"
  freehold get last_prompt_tokens --require-fresh`,
		Flags: []Flag{
			{Name: "default", Usage: "print this `VALUE` for an unset one"},
			formatFlag,
			{Name: "require-fresh", Usage: "print nothing that is stale, ambiguous or unknown", Switch: true},
		},
		Reads: true, run: get,
	},
	{
		Name: "observe", Operands: "FIELD...",
		Short: "print a token of the versions that fields have now",
		Long: `Print a token of the versions that the fields have now, in one snapshot. For a
FIELD that depends on others, the token has the versions of those. Take the token
before the data for a value is gathered, and give it to the command that writes the
value, as --seen TOKEN or in $FREEHOLD_SEEN. Readers then learn whether a field
that the value depends on has changed since.

The token is one word and needs no quotes. With --json the answer also names the
versions.`,
		Example: `  seen=$(freehold observe last_prompt_tokens)   # when the turn starts
  freehold set cost last_prompt_tokens=1234 --seen "$seen"   # when it ends`,
		Reads: true, run: observe,
	},
	{
		Name: "hook", Operands: "[OPERATION...]",
		Short: "do all that a hook does in one call",
		Long: `Read the JSON object that the host of a hook writes on standard input (at most 16 MiB
and 10 seconds; broken UTF-8 is read), carry out the operations in one commit as
--owner, and print the fields of --get. Standard output has nothing else.

An OPERATION is FIELD=VALUE, by the kind of the field: a value is set, VALUE is added to
a counter, a max is raised, a min lowered, an element inserted. Or it is a JSON array
as apply reads it. A VALUE @json:NAME, or @json:NAME.MEMBER, comes from the input; for
an instant, now is the present.

--instance-from NAME takes the instance from the input. --get prints lines NAME='value'
for eval, of an unset field NAME=''; with --format json, or --json, one object. With
--fail-open a failure is a line on standard error and the exit status 0.`,
		Example: `  freehold hook --instance-from session_id --owner hook turns=1 last_tool=@json:tool_name
  freehold hook --get turns,last_tool --fail-open`,
		Flags: []Flag{
			{Name: "owner", Usage: "write as this `OWNER`"},
			{Name: "instance-from", Usage: "the `NAME` in the input that has the id of the instance"},
			{Name: "get", Usage: "print these `FIELDS`, with commas between"},
			formatFlag, seenFlag,
			{Name: "fail-open", Usage: "exit with 0 also on a failure", Switch: true},
		},
	},
}
