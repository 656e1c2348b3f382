// Package doctor finds the faults of a state directory: sidecars and claims that
// cannot be used, lost locks, leases and patches that wait for a process that
// does not run, leftovers of killed processes, other users' rights, copies and
// decoys. It does not prove that a state without findings is right: a value that
// fits its field, in a sidecar with the right sum, counts as right.
//
// [Examine] writes nothing and takes no lock that a program could miss. A finding
// of a state that programs use may be over when the report is read.
package doctor
