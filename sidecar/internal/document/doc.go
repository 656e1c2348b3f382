// Package document is the bytes of a sidecar and of a claim: how they are read,
// changed and written. It does no I/O and takes no locks; package
// [github.com/freehold-dev/freehold/sidecar] decides when a document is written.
//
// reader/FORMAT.md specifies the format for programs in other languages. In
// short: a sidecar is a JSON object whose first member, "$sidecar", has the
// owner, the version and the provenance of each field; the owner's fields
// follow, one on a line. Members that this release does not know survive
// decoding and encoding in their own bytes and in their place.
//
// Errors are decided in this order: text that is not JSON within the limits, or
// with names that differ in case alone; a missing or another format number; a
// missing or invalid member. All are [status.Invalid] and name the byte, but a
// larger format number is [status.Newer]. Then a wrong sum, another owner or
// another state is [status.Foreign].
package document
