// Package upgrade brings a state directory up to a changed declaration. It never
// destroys a value, but it does not restore values that an earlier upgrade
// removed, and an older declaration looks like one that removes fields: read the
// report of a DryRun first.
//
// Removed fields go; renamed, moved and retyped fields keep their provenance;
// either every value is converted exactly or none is. Copies of rewritten sidecars
// stay in .freehold/quarantine, and [Report] lists every value that went.
//
// [Run] holds every lock of the state. A reader sees the state either before or
// after the moment at which the manifest is replaced. A Run killed before has only
// folded patches; one killed after is finished by the next Run, and until then no
// process commits.
package upgrade
