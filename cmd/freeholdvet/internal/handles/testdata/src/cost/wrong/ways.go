package wrong

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/freehold-dev/freehold/sidecar"

	"m/cost/internal/costfile"
	"m/owners"
)

func cast[To, From any](v *From) *To { return (*To)(unsafe.Pointer(v)) }

func set[T any](v *T, x any) { reflect.ValueOf(v).Elem().Set(reflect.ValueOf(x)) }

func show[T any](v T) string { return fmt.Sprint(v) }

type alias = costfile.Tx

type mine costfile.Tx

func generically(tx costfile.Tx, mood owners.Mood, s string, a alias) {
	_ = cast[*sidecar.Tx](&tx) // want `unsafe goes around the methods of sidecar.Tx` `unsafe goes around the methods of costfile.Tx`
	_ = *cast[owners.Mood](&s) // want `unsafe goes around the methods of owners.Mood`
	set(&mood, "?")            // want `reflect goes around the methods of owners.Mood`
	_ = unsafe.Pointer(&a)     // want `unsafe goes around the methods of costfile.Tx`
	m := mine(tx)
	_ = (*[8]byte)(unsafe.Pointer(&m))                   // want `unsafe goes around the methods of sidecar.Tx`
	_ = unsafe.Slice((*byte)(unsafe.Pointer(&mood)), 16) // want `unsafe goes around the methods of owners.Mood`
	value := reflect.ValueOf
	_ = value(s)
	_ = *cast[uint64](&s)
	set(&s, "x")
	_ = show(mood)
	_ = fmt.Sprintf("%v", tx)
	_ = reflect.DeepEqual(tx, tx)
	_ = mood == owners.Mood{}
}

type ring *ring

func around(r ring) { _ = unsafe.Pointer(r) }
