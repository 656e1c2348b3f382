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
		for n := range commits {
			s.text(fmt.Sprint("owner_", i), fmt.Sprintf("field_%d_%d", i, n%12), fmt.Sprint(1000+n))
		}
		s.commit(fmt.Sprint("owner_", i), fmt.Sprintf("field_%d_0", i), "7")
	}
	return s
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

// BenchmarkView takes views of five owners, unchanged and with a random one
// changed in between, and reads the files naively, in turns, so that the ratios hold on a
// machine that others use too. The figures are medians.
func BenchmarkView(b *testing.B) {
	for _, commits := range []int{12, 300} {
		b.Run(fmt.Sprintf("commits=%d", commits), func(b *testing.B) {
			s := benchState(b, commits)
			r := s.open()
			view(b, r)
			random := rand.New(rand.NewPCG(1, 2))
			var unchanged, changed, plain []time.Duration
			for b.Loop() {
				unchanged = append(unchanged, timed(func() { view(b, r) }))
				i := random.IntN(benchOwners)
				s.commit(fmt.Sprint("owner_", i), fmt.Sprintf("field_%d_1", i), fmt.Sprint(len(changed)))
				changed = append(changed, timed(func() { view(b, r) }))
				plain = append(plain, timed(func() { naive(b, s.dir) }))
			}
			b.ReportMetric(0, "ns/op") // of the three and the commit together, which says nothing
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
