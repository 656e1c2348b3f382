// Package adopt moves the values of a shared legacy file into sidecars. It
// never changes the legacy file, nor a field that the state has written
// already; where the two differ it reports both, since it cannot tell which is
// right.
//
// [Read] reads the file. [Legacy.Plan] finds the field of every value and
// refuses the whole file if one value does not fit. [Plan.Apply] commits; an
// interrupted Apply is run again and commits the rest. [Infer] proposes a
// declaration for a file without one.
package adopt
