// Package handles reports unsafe, reflect and linkname on generated handles
//
// A Tx, a field's handle and an enum export no field, so that their methods are
// all that a holder can do. These go around the methods:
//
//	raw := *(**sidecar.Tx)(unsafe.Pointer(&tx))             // WRONG
//	v := reflect.ValueOf(&reason).Elem().Field(0)           // WRONG
//	//go:linkname open example.com/m/cost/internal/costfile.Open   WRONG
//
//	tx.RestartReason().Set(runtime.RestartReasonPaneFrozen()) // RIGHT
//
// The types are those of package sidecar and of writer packages that export no
// field, and generated enums. Printing and comparing them is not reported.
package handles
