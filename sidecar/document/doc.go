// Package document is the format of one sidecar: what bytes mean and which
// bytes are written. It does no I/O and takes no locks; package
// [github.com/freehold-dev/freehold/sidecar] decides when a document is
// written and whether it may be.
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
// (The envelope is one line in the file.) A field that was cleared has an
// entry under "fields" and no value. The sum is SHA-256 over all bytes of the
// file with the sum's own 64 digits as zeros.
//
// Reading is strict: duplicate names, names that differ only in case, invalid
// UTF-8, lone surrogates, and anything after the object are errors with the
// byte at which they stand. Members that this release does not know, anywhere
// in the file, survive decoding and encoding in their own bytes and in their
// place.
package document
