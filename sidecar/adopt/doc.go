// Package adopt takes over the file that programs shared before they came to
// Freehold: it reads the file, finds the owner of every value in it and
// commits the values to the owners' sidecars. It never changes the legacy
// file, and never changes a field that the state knows already; which of the
// two is right then, it cannot tell, and reports both.
//
// [Read] reads the file, [Legacy.Plan] decides what goes where and refuses the
// whole file if one value does not fit, and [Plan.Apply] commits. An Apply that
// was interrupted is run again: what it has committed stays, what is missing
// follows. [Infer] proposes a declaration for a file that has none.
package adopt
