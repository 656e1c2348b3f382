package sidecar

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/freehold-dev/freehold/schema"
)

// BenchmarkCommitToOneKey shows what a commit to one key of a map costs. It
// writes the whole file, so it grows as the file does; it must not grow faster.
func BenchmarkCommitToOneKey(b *testing.B) {
	for _, keys := range []int{10, 100, 1000, 10000} {
		b.Run(fmt.Sprint(keys), func(b *testing.B) {
			w := benchWriter(b)
			if _, err := w.Update(b.Context(), func(tx *Tx) error {
				for i := range keys {
					seenMap(tx).Key(fmt.Sprintf("fact:%06d", i)).Raise(1)
				}
				return nil
			}); err != nil {
				b.Fatal(err)
			}
			n := uint64(1)
			b.ReportAllocs()
			for b.Loop() {
				n++
				if _, err := w.Update(b.Context(), func(tx *Tx) error {
					seenMap(tx).Key("fact:000007").Raise(n)
					return nil
				}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCommitToManyKeys shows what one commit to all keys of a map costs.
func BenchmarkCommitToManyKeys(b *testing.B) {
	for _, keys := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprint(keys), func(b *testing.B) {
			w := benchWriter(b)
			n := uint64(1)
			for b.Loop() {
				n++
				if _, err := w.Update(b.Context(), func(tx *Tx) error {
					for i := range keys {
						seenMap(tx).Key(fmt.Sprintf("fact:%06d", i)).Raise(n)
						SetOf(tx, "ports", schema.Int).Insert(int64(i))
					}
					return nil
				}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(keys), "ns/key")
		})
	}
}

func benchWriter(b *testing.B) *Writer {
	b.Helper()
	dir := filepath.Join(b.TempDir(), "usage")
	if err := Create(dir, usage()); err != nil {
		b.Fatal(err)
	}
	w, err := Open(b.Context(), dir, usage(), "tool", nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { w.Close() })
	return w
}
