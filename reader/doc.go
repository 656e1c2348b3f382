// Package reader shows a state: the union of all owners' fields as they stand
// in their sidecars, each with a record of where it comes from. It takes no
// lock, delays no writer and writes nothing; a view is what was true at one
// moment, not what is true now.
//
// Programs mostly use the typed view that freehold generates from a
// declaration; it is made of the types here.
//
//	r, err := reader.Open(dir)
//	defer r.Close()
//	v, err := r.View(ctx)
//	turns, err := reader.FieldOf(v, "turns", schema.Uint).Get()
//
// A map of several owners is joined by key: what an owner has at a key counts
// if it is attached to the incarnation of the key that the view shows.
//
// Whether a value that was computed from other owners' fields is out of date is
// decided by what its writer had seen of them, never by clocks. Act on what is
// fresh alone:
//
//	if tokens := v.LastPromptTokens(); tokens.Freshness().Fresh() {
//
// See [Entry.Freshness]; [View.Observe] returns what there is to be seen. A sidecar
// that is older than somebody in the view has seen it, or gone since, is
// [Regressed].
//
// An owner whose sidecar is damaged, or was edited by another hand, takes only
// its own fields away. Getting one of them is an error that says what happened
// and what to do; it is never the same error as for a field that nobody has
// set.
//
// What follows says it exactly, for readers in other languages. The files'
// own format is in package document, that of values in package schema;
// testdata/vectors has states with their views, and testdata/python two readers
// that were written from these texts: freehold.py, which is a full one, and
// plain.py, of a hundred lines of code, which is a plain one and can be pasted;
// see the end.
//
// # Files
//
// In a state directory:
//
//	OWNER.json                               a sidecar
//	.freehold/manifest.json                  see schema.Manifest
//	.freehold/OWNER.pending/STATEID.N.json     a pending patch, of an owner whose busy.then is "defer"
//	.freehold/claims/OWNER/FIELD             a once field
//	.freehold/upgrade-ID/OWNER.json          a sidecar of an upgrade that is under way
//
// Other files are not for readers: locks, leases, the quarantine, and whatever
// begins with a dot or has no such name, which is being written or was left. The
// manifest's declaration says which owners and fields there are.
//
// If the manifest has a member pending, the sidecar of each owner that it lists
// under sidecars is the file in the directory of that upgrade's id if there is
// one there, and else the usual one. Its member upgraded has, by owner, the
// version that an upgrade gave a sidecar when it wrote it; there need be none.
//
// The state of an instance is a directory in the directory of the states: of the
// id itself if that fits ^[a-z0-9][a-z0-9_-]{0,63}$, else of "~" and the SHA-256
// of the id in base32 with small letters and no padding. The manifest has the id.
//
// A file is read with one open that follows no link and waits for no pipe, and
// only if it is regular and has at most one name. The directory of an owner's
// claims has the inode number that the manifest gives under claims; another
// one could have lost a claim, and so every claim in it is unreadable.
//
// # Statuses
//
// Of each owner's sidecar, the first that is true:
//
//	missing     there is no such file, and neither the manifest nor anybody in the view has a version of it: nothing was ever written
//	unreadable  it cannot be read, or is no plain file; or the directory of pending patches cannot be
//	invalid     it is too long, or not of the format
//	foreign     its sum is wrong, or it belongs to another owner or state
//	regressed   the manifest has something newer of it under upgraded, or somebody in the view has observed that, see document.Document.Behind, or a version though there is no file; whose own sidecar has regressed counts too, and whose patches cannot be read
//	ok
//
// The file of a claim has the same statuses, but for the last but one; a field
// without one is unclaimed. Whatever stands there, nobody else can claim it.
//
// Only what is ok or missing has fields to show. Of those, one whose value is
// not of its type is invalid by itself.
//
// # Pending patches
//
// A patch is a JSON object that ends in ,"sum":"DIGITS"} and a line feed. The sum
// is that of a sidecar. Its members are
//
//	format 1, owner, state, name (see below), id (13 characters as a nonce), at, writer as in a sidecar, and
//	ops [{field, op, key, member, at, value, seen}], of which each has what its op needs
//
// The file's name is the id of the state and a number from 1 to 2^53-1 without
// leading zeros. A file with another name, which is then the patch's name too, has
// no number: an older release deferred it. Else there need be no name.
//
// A patch counts if all that is right, none of its objects has other members or
// more than 64, they nest at most 16 deep, it has no other ops
// than add, raise, lower, insert, remove and delete, its id is not in folded of
// the sidecar, and its number has not passed: it has none, is above taken, or is
// one of left. Of several with one id the first counts. One that does not count
// for any other reason is told of, and so is one that is rejected.
//
// The patches that count are folded by number, after those that have none, by
// at, those of one instant by name. An
// operation on a map means an incarnation of the key, at. For the owner of the
// keys: the one that there is; without at, that or a new one, whose incarnation
// is 0.0.ID with the patch's id; any other is gone. For other owners: what they
// have at the key if that is attached to at; if what they have is older or
// nothing, a new row attached to at; if it is newer, the incarnation is gone. A
// version 0.0.ID means also the incarnation whose nonce is ID, which the patch
// created when it was folded. An operation on what is gone is left out. If
// any other operation cannot be carried out, the whole patch is.
//
// A field that a patch has changed has its provenance: version 0.0.ID, at, the
// writer's program and pid, and as observed what seen says,
// STATEID:FIELD=VERSION,… with an empty version for what nobody had written;
// without seen, nothing. A raise or lower that moves nothing leaves what was
// observed alone, unless its operand is what is there and it has a seen.
//
// The patches are listed and read before the sidecar. They are listed twice: what
// has a number above all of the first list is left out, for one with a lower
// number might have come between. A patch that counts must
// still be there after the sidecar was read: if it is not, it was folded, and
// the sidecar is read again. Then nothing counts twice, and nothing is missed.
//
// # Joining
//
// The owner of a map's keys is the one that declares keys, or the only one. Its
// rows are the map's keys. Each other owner's row at a key counts if its
// incarnation, under keys in the owner's entry, is the same text as that of the
// owner of the keys. A member is taken from the owner that declares it; one that
// nobody declares from the first that has it, the owner of the keys before the
// others by name. What is not of its type is left out, alone.
//
// # Freshness
//
// It is decided by versions and never by clocks. For each field that a value
// depends on, the first that is true:
//
//	unknown    dependency-unreadable  its owner is neither ok nor missing
//	stale      overtaken              the version in its entry is newer than the one observed
//	ambiguous  begun                  it is an event, and something is open
//	unknown    dependency-unreadable  something that its owner has deferred is told of, since it is not shown
//	unknown    not-observed           nothing was observed of it
//	fresh      current                the two are equal; "" equals a field without an entry
//	unknown    dependency-behind      the one observed is newer
//	unknown    dependency-forked      the numbers are equal and the nonces are not
//
// Of several, the first of the heaviest counts: stale, then ambiguous, unknown,
// fresh. Before that, a value whose owner is neither ok nor missing is unknown
// (unreadable), and one that is not set too (unset); a field that depends on
// nothing is fresh (independent). After that, what would be fresh of an owner of
// which something deferred is told of is unknown (unreadable): it may have
// another value. What a pending patch has changed, with the version
// 0.0.ID, is newer than whatever was observed, also than itself: patches that
// come later may go before it.
//
// # The cut
//
// A view is atomic if every file, the manifest included, was read again after
// the last that had changed, and had the same bytes: each commit draws a new
// nonce, so equal bytes are the same commit. An owner that defers
// counts as read again when its patches and then its sidecar were. Bytes decide,
// never inode numbers, sizes or times. The files are read up to eight times.
//
// If writers are faster than that, one more pass reads who depends on others
// before those; who has rows of a map before the owner of its keys, where the
// former allows it; patches before their sidecar, with the look after it; and
// the claims last. The view is then causal: nobody in it has observed anything
// newer than it holds, and a claim that was made before a commit in it is in it.
//
// Its id is the first 16 bytes, in hexadecimal, of the SHA-256 of this text: the
// state id; for each owner by name that is not missing, a line feed, the owner,
// a space, the status, a space, and of ok and regressed the version (of a file
// that is gone nothing), of invalid
// and foreign the SHA-256 of the file in hexadecimal (of no bytes if it is too
// long), of unreadable nothing; then, if pending patches that are not
// folded and the owner has not regressed, a line feed, the owner, " pending", and
// each after a space the ids of those that count, as they are folded, if the
// owner is ok or missing, and the names of the files that are no patches; then
// for each claim that is not missing, by owner and field, the same as for an
// owner with OWNER/FIELD for the name and the claim's nonce for the version.
//
// # Plain readers
//
// A reader that does all of this is a full one. A plain reader does less, and its
// law makes that safe: of the same files it never shows a value, or a verdict
// other than unknown, that a full reader does not show. What it does not know it
// calls unknown, and says why. It shows
//
//	state      the name of the state
//	cut        {consistency: "atomic"}
//	owners     by name the status, see above; or "deferring" in the place of ok and missing
//	fields     by name the value
//	unknown    by name, of each field that may be set and is not shown, why not
//	freshness  by name, of each field that depends on others, {verdict, reason}
//
// An owner is deferring if it defers and its directory of them has a
// file whose name does not begin with a dot, of whatever kind: a plain reader
// does not look into patches. Every field is shown that a full view has, but for
// those that are unknown, for the first of these reasons:
//
//	STATUS  its owner, or its claim, or else, by name, one of the other owners of the map, has a status that is neither ok nor missing
//	value   it is not of its type or extreme, and be it at one of the keys of a map that count
//
// Extreme are integers beyond 9*10^18 on either side of zero, for uint beyond
// 1.8*10^19; instants of the year 1 and durations of a million hours or more;
// strings of more than 16384 characters, escapes counted; a decimal with an
// exponent; and an instant, a decimal or a duration that is spelt in another way
// than the one in which it is stored. Numbers with a point or an exponent are what
// a double makes of them. Of what a map has at a key, members that nobody
// declares are left out.
//
// Freshness is that of a full view, except for a field that is not shown: it is
// unknown, unreadable or unset; and for one that depends on a field whose owner
// is neither ok nor missing, but deferring for one: it is unknown
// (dependency-unreadable) whatever else it depends on.
//
// There is no view if two readings of everything differ, while the manifest has a
// member pending, or with another format of the manifest. It is enough to look
// what a path names before it is opened.
//
// A file is invalid also if it has a count of 9*10^15 or more, or a number that
// the language does not have; and foreign, not invalid, if its sum is wrong and
// what is wrong besides is nothing that a plain reader checks. Of "$sidecar" and of a claim a plain reader checks
// format, nonce, sum, the two counts and the time; of the rest it trusts the sum.
// So the law holds for every file that a release wrote, whatever befell it then,
// and not for one that somebody made up together with its sum.
package reader
