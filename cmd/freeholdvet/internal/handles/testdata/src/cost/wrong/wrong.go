package wrong

import (
	"reflect"
	"unsafe"

	"github.com/freehold-dev/freehold/sidecar"

	"m/cost/internal/costfile"
	"m/owners"
)

//go:linkname open m/cost/internal/costfile.Open // want `linkname reaches into m/cost/internal/costfile, which only its importers may call: call a verb that an owner's home exports`
func open()

//go:linkname nanotime runtime.nanotime
func nanotime() int64

//go:linkname raw github.com/freehold-dev/freehold/sidecar.(*Tx).Apply // want `linkname reaches into github.com/freehold-dev/freehold/sidecar,`
func raw()

type bag struct {
	n  int
	tx costfile.Tx
}

func unsafely(tx costfile.Tx, w *costfile.Writer, b *bag, v sidecar.Value[bool], mood owners.Mood) {
	_ = *(**sidecar.Tx)(unsafe.Pointer(&tx)) // want `unsafe goes around the methods of sidecar.Tx` `unsafe goes around the methods of costfile.Tx, which are all that its holder may do: call them instead`
	_ = unsafe.Pointer(w)                    // want `unsafe goes around the methods of costfile.Writer`
	_ = unsafe.Pointer(b)                    // want `unsafe goes around the methods of costfile.Tx`
	_ = unsafe.Pointer(&v)                   // want `unsafe goes around the methods of sidecar.Value`
	*(*string)(unsafe.Pointer(&mood)) = "?"  // want `unsafe goes around the methods of owners.Mood`
	s := "?"
	_ = *(*owners.Mood)(unsafe.Pointer(&s)) // want `unsafe goes around the methods of owners.Mood`
	_ = unsafe.Pointer(&s)
	_ = unsafe.Sizeof(tx)
}

func reflectively(tx costfile.Tx, mood owners.Mood, p unsafe.Pointer) {
	reflect.ValueOf(&mood).Elem().SetZero()          // want `reflect goes around the methods of owners.Mood`
	reflect.ValueOf(tx).Field(0).Pointer()           // want `reflect goes around the methods of costfile.Tx`
	reflect.NewAt(reflect.TypeFor[costfile.Tx](), p) // want `reflect goes around the methods of costfile.Tx`
	reflect.New(reflect.TypeOf(mood))                // want `reflect goes around the methods of owners.Mood`
	reflect.ValueOf(owners.Name{})
	reflect.ValueOf(sidecar.Commit{})
	reflect.DeepEqual(mood, mood)
	_ = reflect.TypeOf(tx).String()
	_ = reflect.ValueOf(mood).IsZero() //freehold:allow handles the table of the web page shows any value
}
