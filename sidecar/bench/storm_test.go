package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
)

// A storm writes with four owners at once, as fast as they can, until it is
// stopped.
type storm struct {
	stop   atomic.Bool
	writes atomic.Int64
	group  sync.WaitGroup
	mu     sync.Mutex
	err    error
}

const stormWriters = 4

// stormed numbers the storms, so that no two write the same values.
var stormed int64

func newStorm(change func(owner int, n int64) error) *storm {
	s := &storm{}
	stormed++
	first := firstValue + 10_000_000*stormed
	for owner := range stormWriters {
		s.group.Go(func() {
			for n := first; !s.stop.Load(); n++ {
				if err := change(owner, n); err != nil {
					s.mu.Lock()
					s.err = errors.Join(s.err, err)
					s.mu.Unlock()
					return
				}
				s.writes.Add(1)
			}
		})
	}
	return s
}

func (s *storm) end() error {
	s.stop.Store(true)
	s.group.Wait()
	return s.err
}

// A stormKind is one kind of view, taken while its owners write.
type stormKind struct {
	name   string
	open   func(dir string) (viewer, error)
	viewer viewer
	times  []time.Duration // of every view
	writes int64
	spent  time.Duration
}

func stormKinds() []*stormKind {
	kinds := []*stormKind{
		{name: "bare", open: openBareFiles},
		{name: "freehold", open: openTypedView},
		{name: "readfile+json", open: openReadFiles},
		{name: "readfile+json-sidecars", open: openReadSidecars},
		{name: "lockedfile+json", open: openLockedFiles},
		{name: "stat+json", open: openStat},
		{name: "bbolt", open: openBoltView},
	}
	for _, d := range sqliteDrivers {
		kinds = append(kinds, &stormKind{name: "sqlite-" + d.short, open: d.openView})
	}
	return kinds
}

const stormTurn = 300 * time.Millisecond

func (k *stormKind) take() error {
	s := newStorm(k.viewer.change)
	start := time.Now()
	for time.Since(start) < stormTurn {
		before := time.Now()
		if _, err := k.viewer.sum(); err != nil {
			return errors.Join(err, s.end())
		}
		k.times = append(k.times, time.Since(before))
	}
	k.spent += time.Since(start)
	err := s.end()
	k.writes += s.writes.Load()
	return err
}

// BenchmarkViewUnderWriters takes views while four owners write.
func BenchmarkViewUnderWriters(b *testing.B) {
	dir := place(b)
	where := describe(dir)
	kinds := stormKinds()
	for i, k := range kinds {
		var err error
		if k.viewer, err = k.open(fmt.Sprintf("%s/%02d-%s", dir, i, k.name)); err != nil {
			b.Fatalf("%s: %v", k.name, err)
		}
		for owner := range owners {
			if err := k.viewer.change(owner, firstValue-1); err != nil {
				b.Fatalf("%s: %v", k.name, err)
			}
		}
	}
	for b.Loop() {
		for _, k := range kinds {
			if err := k.take(); err != nil {
				b.Fatalf("%s: %v", k.name, err)
			}
		}
	}
	for _, k := range kinds {
		if err := k.viewer.close(); err != nil {
			b.Fatalf("%s: %v", k.name, err)
		}
	}
	b.ReportMetric(0, "ns/op")
	keepReport(func(w io.Writer) { printStorm(w, where, kinds) })
}

func printStorm(w io.Writer, where string, kinds []*stormKind) {
	fmt.Fprintf(w, "\nView of five owners while four write; %s\n", where)
	rows := [][]string{{"kind", "p50", "p99", "views/s", "writes/s"}}
	for _, k := range kinds {
		slices.Sort(k.times)
		at := func(share float64) string { return short(k.times[int(share*float64(len(k.times)-1))]) }
		rate := func(n int64) string { return fmt.Sprintf("%.0f", float64(n)/k.spent.Seconds()) }
		rows = append(rows, []string{k.name, at(0.5), at(0.99), rate(int64(len(k.times))), rate(k.writes)})
	}
	write(w, rows)
}

const (
	manyReaders = 1000
	manyViews   = 200 // a second, of all readers together
)

// BenchmarkWritersUnderReaders measures how much a thousand readers, which take
// two hundred views a second between them, slow four writers.
func BenchmarkWritersUnderReaders(b *testing.B) {
	above := place(b)
	dir, where := above+"/state", describe(above)
	d := declaration(schema.Power, owners...)
	var writers []*freehold
	for _, owner := range owners {
		f, err := newFreehold(dir, owner, d)
		if err != nil {
			b.Fatal(err)
		}
		defer f.writer.Close()
		writers = append(writers, f)
	}
	var readers []*reader.Reader
	for range manyReaders {
		r, err := reader.Open(dir)
		if err != nil {
			b.Fatal(err)
		}
		defer r.Close()
		readers = append(readers, r)
	}
	change := func(owner int, n int64) error { return writers[owner].set(n) }
	var slower []float64
	var alone, beside, views int64
	for b.Loop() {
		for _, some := range [][]*reader.Reader{nil, readers} {
			s := newStorm(change)
			n, err := watch(some, 2*stormTurn)
			if err := errors.Join(err, s.end()); err != nil {
				b.Fatal(err)
			}
			if views += n; some == nil {
				alone = s.writes.Load()
			} else {
				beside = s.writes.Load()
			}
		}
		slower = append(slower, 100*(float64(alone)/float64(max(beside, 1))-1))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(slower), "%slower")
	keepReport(func(w io.Writer) {
		fmt.Fprintf(w, "\nFour writers, and %d readers that take %d views a second; %s; %d rounds, %d views\nwriters are slower by %.1f %% (%.1f..%.1f)\n",
			manyReaders, manyViews, where, len(slower), views, median(slower), slices.Min(slower), slices.Max(slower))
	})
}

// watch lets the readers, each a goroutine, take views in turn for a while.
func watch(readers []*reader.Reader, long time.Duration) (views int64, err error) {
	if len(readers) == 0 {
		time.Sleep(long)
		return 0, nil
	}
	var group sync.WaitGroup
	var failed atomic.Pointer[error]
	turns := make([]chan struct{}, len(readers))
	for i, r := range readers {
		turns[i] = make(chan struct{}, 1)
		group.Go(func() {
			for range turns[i] {
				if _, err := r.View(context.Background()); err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	tick := time.NewTicker(time.Second / manyViews)
	for end := time.Now().Add(long); time.Now().Before(end); views++ {
		<-tick.C
		turns[int(views)%len(turns)] <- struct{}{}
	}
	tick.Stop()
	for _, turn := range turns {
		close(turn)
	}
	group.Wait()
	if err := failed.Load(); err != nil {
		return views, *err
	}
	return views, nil
}
