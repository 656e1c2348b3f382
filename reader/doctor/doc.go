// Package doctor looks a state directory over and says what is wrong with it:
// sidecars and claims that cannot be used, lost locks, leases and patches that
// wait for nobody, what killed processes left, who else may write, copies and
// decoys. It writes nothing and takes no lock that a program could miss; so
// what it finds while programs run may be over by the time that it is read.
//
// Each [Finding] has a stable code and a remedy, which is a command that cures it
// wherever one does. What is only worth knowing is a [Note]. A state without findings is not proven to be right: values that fit
// their fields and were written by their owners' programs are taken at their
// word.
package doctor
