// Package document is the format of one sidecar, and of the file of a claim:
// what bytes mean and which bytes are written. It does no I/O and takes no
// locks; package [github.com/freehold-dev/freehold/sidecar] decides when a
// document is written and whether it may be.
//
// The format is said here exactly enough to be read by programs in other
// languages. Package reader says which files a state has and what counts of
// them, package schema what values of each type are, and the test data of
// package reader has states to try it on, with the views that they give.
//
// # A sidecar
//
// A sidecar is a JSON object. Its first member, "$sidecar", says whose file it
// is and who wrote each field when; the owner's fields follow, one on a line:
//
//	{
//	"$sidecar":{"format":1,"owner":"cost","state":"5s0h…","epoch":1786439564031000,"nonce":"8c3t…","revision":7,
//	  "written_at":"2026-08-11T09:12:44.031Z","writer":{"program":"stop-hook","identity":{…}},
//	  "fields":{"turns":{"version":"1786439564031000.7.8c3t…","at":"2026-08-11T09:12:44.031Z","program":"stop-hook","pid":4711}},
//	  "recent":["8c3t…"],"sum":"9f86d0…"},
//	"turns":12
//	}
//
// (The envelope is one line in the file.) That is how it is written. Read, the
// layout and the order of members say nothing.
//
// The members of "$sidecar" are all there, but for folded:
//
//	format      the number 1
//	owner       whose file it is: ^[a-z][a-z0-9_]{0,47}$
//	state       the state id in the manifest
//	epoch, revision, nonce   the version of the commit that wrote the file
//	written_at  when that was, by the writer's clock
//	writer      {program, identity:{boot, pid_ns, pid, start, nonce, pidfd}}; of the identity, pid and nonce are always there; boot and its nonce are texts, the others than pid integers from 0 to 2^64-1
//	fields      by name, the entry of every field that was ever written or begun
//	folded      ids of pending patches that are in the fields already, though their files may still be there; at most 8192
//	recent      nonces of the last commits, newest last, this one's included, 128 or as many as there were, and before those older ones and ids of patches folded; at most 256
//	sum         64 hexadecimal digits, lower case
//
// Epochs and revisions are JSON integers from 0 to 2^53-1, a nonce or an id 13
// characters of 0-9a-v, a version in text EPOCH.REVISION.NONCE with no leading
// zeros, a pid an integer from 0 to 2^31-1. An instant in "$sidecar" has one
// form, RFC 3339 in UTC with Z, upper-case T, and a fraction of up to nine
// digits that does not end in 0; it is not 0001-01-01T00:00:00Z.
//
// An entry says who wrote a field last, or cleared it: version, at, program and
// pid. A field that was cleared has an entry and no value; one that was never
// written has neither. An entry may have
//
//	keys        of a map, by key, the version that created it: its incarnation
//	observed    by name of a field, the version that the writer had seen of it; "" for one that nobody had written
//	open        of an event, by token (a nonce), an entry that says who began it; an event that was never done has this alone
//	adopted     the version in which a legacy file was folded
//
// # The sum
//
// The sum is SHA-256 over all bytes of the file with the sum's own 64 digits as
// zeros. A file whose sum is another one was changed by some other hand.
//
// # Strictness
//
// A file is UTF-8 without BOM, has at most [MaxSize] bytes (a claim [MaxClaim])
// and holds one JSON object and white space. Names that stand twice in any
// object, lone surrogates, and literals such as NaN or 01 are errors. Objects
// and arrays nest at most [MaxDepth] deep, the file's own object counted. The
// file's object, "$sidecar" and every object in it that is described above, but
// for keys, observed and open, have at most [MaxMembers] members, of whose
// names no two are equal under Unicode's simple case folding, and none equals in
// this way, but for its case, one that is described above; other objects
// have at most [MaxKeys] members, whose names may differ in case alone.
// Numbers keep their digits and strings their escapes. Every error names the
// byte at which it stands.
//
// What is wrong is decided in this order: bytes that are no such JSON, or no
// object with a "$sidecar", and another format number are [ErrInvalid]
// (a larger number also [FormatError]); so is a member that has not the form
// above, or lacks; then a wrong sum is [ErrForeign], and then so is another
// owner or state than the file's place says. See [Decode] and
// [Document.Belongs].
//
// Members that this release does not know, anywhere in the file, survive
// decoding and encoding in their own bytes and in their place.
//
// # A claim
//
// The file of a once field is a JSON object with the members format, owner,
// field, state, nonce, at, writer and sum, which mean what they do in a sidecar;
// at is when the field was claimed, and its value. The nonce is the claim's id.
// All that is said above of sums and strictness holds. See [DecodeClaim].
//
// # Versions
//
// Of one owner's versions the one with the larger epoch is newer, and in an
// epoch that with the larger revision. With equal numbers and different nonces
// they are commits of two histories. An older copy of a sidecar was put back if
// somebody has observed a version of it that is newer than the file's; or one of
// the same numbers and another nonce; or one of the file's epoch, less than
// len(recent) and less than 128 revisions older than the file's, whose nonce
// recent does not have. See [Document.Behind]. A sidecar was removed if there is none and somebody
// has observed a version of it: what repairs a state leaves an empty one.
package document
