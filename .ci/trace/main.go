// Command trace makes one call of a journey and writes the coverage counters of
// that call alone, for .ci/trace/run.
package main

import (
	"context"
	"log"
	"os"
	"runtime/coverage"

	"github.com/freehold-dev/freehold/owners/runtime"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
)

// Each journey prepares a state and returns the call to be counted.
var journeys = map[string]func(dir string) func(){
	"Open": func(dir string) func() {
		return func() { open(dir) }
	},
	"Update": func(dir string) func() {
		w := open(dir)
		set(w, "a")
		return func() { set(w, "b") }
	},
	"ReaderOpen": func(dir string) func() {
		return func() { read(dir) }
	},
	"View": func(dir string) func() {
		set(open(dir), "a")
		r := read(dir)
		return func() { view(r) }
	},
	"Get": func(dir string) func() {
		set(open(dir), "a")
		v := view(read(dir))
		return func() {
			_, err := v.TmuxSession().Get()
			check(err)
		}
	},
}

func main() {
	log.SetFlags(0)
	dir, counters := os.Args[2], os.Args[3]
	check(sidecar.Create(dir, runtime.Declaration()))
	call := journeys[os.Args[1]](dir)
	check(coverage.ClearCounters())
	call()
	check(coverage.WriteMetaDir(counters))
	check(coverage.WriteCountersDir(counters))
}

func open(dir string) *sidecar.Writer {
	w, err := sidecar.Open(context.Background(), dir, runtime.Declaration(), "lifecycle", nil)
	check(err)
	return w
}

func set(w *sidecar.Writer, value string) {
	_, err := w.Update(context.Background(), func(tx *sidecar.Tx) error {
		sidecar.ValueOf(tx, runtime.FieldTmuxSession, schema.String).Set(value)
		return nil
	})
	check(err)
}

func read(dir string) *runtime.Reader {
	r, err := runtime.Open(dir)
	check(err)
	return r
}

func view(r *runtime.Reader) runtime.View {
	v, err := r.View(context.Background())
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
