// Package upgrade brings a state directory up to a changed declaration: what
// was removed goes, what was renamed, moved to another owner or retyped goes
// along with who wrote it, and every value is converted exactly or none is. It
// never destroys a value: a copy of each sidecar that it rewrites is left in
// .freehold/quarantine, and [Report] says what went. The manifest remembers the
// versions of the new ones, so that an old one that is put back has regressed.
//
// [Run] holds every lock of the state, so that nobody commits meanwhile, or sets
// a patch pending. Those that are deferred it folds first; it is refused if one
// cannot be, or if a sidecar is not as Freehold left it or has regressed. It writes
// the new sidecars beside the state, then replaces the manifest, which is the moment
// at which all of it takes effect, and then moves the sidecars to their places. A
// reader sees the state as it was before that moment or as it is after it. A Run
// that is killed before it has changed nothing but that patches are folded; one
// that is killed after it is finished by the next, and until then nobody commits.
//
// What the writer of a dependent field had observed goes along too, of the fields
// that it depends on afterwards, under the names that they have then. Of others
// it is dropped, and the sidecar written anew if only for that: a field that is
// gone, and is declared again later, is a new one that nobody has observed.
//
// A once field neither moves nor changes its kind, and no other field becomes
// one: declare a new one beside it. The claims of one that is removed stay, and
// hold again if it comes back.
//
// It does not bring back values that an earlier upgrade removed, and it cannot
// tell a declaration that is older from one that removes something: what
// DryRun says is for people to read first.
package upgrade
