package reader_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/scratch/document"
)

const benchOwners = 5

// benchState is five owners of twelve fields each after that many commits.
func benchState(tb testing.TB, commits int) *state {
	d := &schema.Declaration{State: "bench", Owners: map[string]schema.Owner{}}
	for i := range benchOwners {
		fields := map[string]schema.Field{}
		for j := range 12 {
			fields[fmt.Sprintf("field_%d_%d", i, j)] = schema.Field{Type: schema.TypeUint}
		}
		d.Owners[fmt.Sprint("owner_", i)] = schema.Owner{Fields: fields}
	}
	s := newState(tb, d)
	for i := range benchOwners {
		for range commits {
			s.text(fmt.Sprint("owner_", i), benchFields(i)...)
		}
		s.commit(fmt.Sprint("owner_", i), benchFields(i)...)
	}
	return s
}

// benchFields returns values for all fields of an owner.
func benchFields(owner int) []string {
	var fields []string
	for j := range 12 {
		fields = append(fields, fmt.Sprintf("field_%d_%d", owner, j), fmt.Sprint(1000+j))
	}
	return fields
}

// naive reads the five files as people do who have no reader.
func naive(tb testing.TB, dir string) map[string]map[string]any {
	all := map[string]map[string]any{}
	for i := range benchOwners {
		name := fmt.Sprint("owner_", i)
		text, err := os.ReadFile(filepath.Join(dir, name+".json"))
		if err != nil {
			tb.Fatal(err)
		}
		fields := map[string]any{}
		if err := json.Unmarshal(text, &fields); err != nil {
			tb.Fatal(err)
		}
		all[name] = fields
	}
	return all
}

// BenchmarkView takes views of five owners, with a random one changed in between
// and with none, and reads the files naively. The three take turns, so that the
// ratios hold on a machine that others use too, and both of those that are
// compared come right after a commit. The figures are medians.
func BenchmarkView(b *testing.B) {
	for _, commits := range []int{1, 300} {
		b.Run(fmt.Sprintf("commits=%d", commits), func(b *testing.B) {
			s := benchState(b, commits)
			r := s.open()
			view(b, r)
			random := rand.New(rand.NewPCG(1, 2))
			change := func() {
				i := random.IntN(benchOwners)
				owner := fmt.Sprint("owner_", i)
				if commits < document.MaxRecent {
					delete(s.docs, owner) // a young sidecar stays young
				}
				s.commit(owner, benchFields(i)...)
			}
			var unchanged, changed, plain []time.Duration
			for b.Loop() {
				change()
				changed = append(changed, timed(func() { view(b, r) }))
				unchanged = append(unchanged, timed(func() { view(b, r) }))
				change()
				plain = append(plain, timed(func() { naive(b, s.dir) }))
				view(b, r)
			}
			b.ReportMetric(0, "ns/op") // of all that together, which says nothing
			b.ReportMetric(median(unchanged)/benchOwners, "unchanged-ns/sidecar")
			b.ReportMetric(median(changed), "changed-ns/view")
			b.ReportMetric(median(plain), "naive-ns/view")
			b.ReportMetric(median(plain)/median(changed), "naive/changed")
			b.ReportMetric(median(plain)/median(unchanged), "naive/unchanged")
		})
	}
}

func timed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

func median(d []time.Duration) float64 {
	slices.Sort(d)
	return float64(d[len(d)/2])
}

func BenchmarkViewUnchanged(b *testing.B) {
	s := benchState(b, 300)
	r := s.open()
	view(b, r)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.View(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchOwners, "ns/sidecar")
}
