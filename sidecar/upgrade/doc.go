// Package upgrade brings a state directory up to a changed declaration. Removed
// fields go; renamed, moved and retyped fields keep their provenance; either
// every value is converted exactly or none is. It never destroys a value:
// copies of rewritten sidecars stay in .freehold/quarantine, and [Report] lists
// every value that went. The manifest remembers the new versions, so that an
// old sidecar that is put back counts as regressed.
//
// [Run] holds every lock of the state, so that no process commits or defers
// meanwhile. It first folds all pending patches. It is refused if a patch
// cannot be folded, or if a sidecar was changed by another hand or has
// regressed. It stages the new sidecars, replaces the manifest, which is the
// moment of the change, and then moves the sidecars to their places. A reader
// sees the state either before or after that moment. A Run killed before it has
// only folded patches; one killed after it is finished by the next Run, and
// until then no process commits.
//
// The observations of a dependent field move along for the fields on which it
// still depends, under their new names. Others are dropped, even if the sidecar
// is rewritten for that alone: a field that is removed and later declared again
// is new, and has not been observed.
//
// A once field neither moves nor changes its kind, and no other field becomes
// one: declare a new one beside it. The claims of a removed once field stay,
// and hold again if it comes back.
//
// It does not restore values that an earlier upgrade removed, and it cannot
// tell an older declaration from one that removes fields: read the report of a
// DryRun first.
package upgrade
