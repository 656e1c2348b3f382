package sidecar

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/freehold-dev/freehold/schema"
)

// BenchmarkOpen shows what Open and Close of one owner cost in a state of many.
func BenchmarkOpen(b *testing.B) {
	for _, owners := range []int{1, 10, 100} {
		b.Run(fmt.Sprint(owners), func(b *testing.B) {
			dir, d := filepath.Join(b.TempDir(), "many"), manyOwners(owners)
			if err := Create(dir, d); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				w, err := Open(b.Context(), dir, d, "o000", nil)
				if err != nil {
					b.Fatal(err)
				}
				w.Close()
			}
		})
	}
}

// manyOwners declares n owners with twelve fields each, as BenchmarkView does.
func manyOwners(n int) *schema.Declaration {
	d := &schema.Declaration{State: "many", Owners: map[string]schema.Owner{}}
	for i := range n {
		fields := map[string]schema.Field{}
		for j := range 12 {
			fields[fmt.Sprintf("f%03d_%02d", i, j)] = schema.Field{Type: schema.TypeUint}
		}
		d.Owners[fmt.Sprintf("o%03d", i)] = schema.Owner{Fields: fields}
	}
	return d
}

// BenchmarkUpdate shows what a commit costs beside the disk: with TMPDIR in memory,
// all of it.
func BenchmarkUpdate(b *testing.B) {
	dir, d := filepath.Join(b.TempDir(), "many"), manyOwners(1)
	if err := Create(dir, d); err != nil {
		b.Fatal(err)
	}
	w, err := Open(b.Context(), dir, d, "o000", nil)
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	b.ReportAllocs()
	for n := uint64(0); b.Loop(); n++ {
		if _, err := w.Update(b.Context(), func(tx *Tx) error {
			ValueOf(tx, "f000_03", schema.Uint).Set(n)
			return nil
		}); err != nil {
			b.Fatal(err)
		}
	}
}
