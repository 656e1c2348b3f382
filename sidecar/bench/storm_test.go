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
	"github.com/freehold-dev/freehold/sidecar"
)

// A storm is four processes, each of an owner of its own, that write as fast as
// they can for a while.
type storm []*member

const stormWriters = 4

func newStorm(kind, dir string) (storm, error) {
	var s storm
	for _, owner := range owners[:stormWriters] {
		m, err := newMember(kind, dir, owner)
		if err != nil {
			return nil, errors.Join(err, s.finish())
		}
		s = append(s, m)
	}
	return s, nil
}

func (s storm) begin(long time.Duration) error {
	for _, m := range s {
		if err := m.ask(long); err != nil {
			return err
		}
	}
	return nil
}

// end waits until the while is over and returns how much was written.
func (s storm) end() (writes int64, err error) {
	for _, m := range s {
		n, _, err := m.answer()
		if err != nil {
			return 0, err
		}
		writes += n
	}
	return writes, nil
}

func (s storm) finish() error {
	var errs []error
	for _, m := range s {
		errs = append(errs, m.finish())
	}
	return errors.Join(errs...)
}

// A stormKind is one kind of view, taken while its owners write.
type stormKind struct {
	name   string
	open   func(dir string) (viewer, error)
	write  openSetter
	viewer viewer
	storm  storm
	times  []time.Duration // of every view
	writes int64
	spent  time.Duration
}

func stormKinds() []*stormKind {
	kinds := []*stormKind{
		{name: "bare", open: openBareFiles, write: setProcess},
		{name: "freehold", open: openTypedView, write: setProcess},
		{name: "readfile+json", open: openReadFiles, write: setFile},
		{name: "readfile+json-sidecars", open: openReadSidecars, write: setProcess},
		{name: "lockedfile+json", open: openLockedFiles, write: setLocked},
		{name: "stat+json", open: openStat, write: setFile},
		{name: "flock+bbolt", open: openSharedBolt, write: setBolt},
	}
	for _, d := range sqliteDrivers {
		kinds = append(kinds, &stormKind{name: "sqlite-" + d.short, open: d.openView, write: d.setter})
	}
	return kinds
}

const stormTurn = 300 * time.Millisecond

// start makes the state in dir and the processes that write into it.
func (k *stormKind) start(dir string) (err error) {
	if k.viewer, err = k.open(dir); err != nil {
		return err
	}
	for owner := range owners {
		if err := k.viewer.change(owner, firstValue); err != nil {
			return err
		}
	}
	k.storm, err = newStorm(stormPrefix+k.name, dir)
	return err
}

func (k *stormKind) take() error {
	if err := k.storm.begin(stormTurn); err != nil {
		return err
	}
	start := time.Now()
	for time.Since(start) < stormTurn {
		before := time.Now()
		if _, err := k.viewer.sum(); err != nil {
			return err
		}
		k.times = append(k.times, time.Since(before))
	}
	k.spent += time.Since(start)
	writes, err := k.storm.end()
	k.writes += writes
	return err
}

// finish ends the processes and looks whether the last write of each is seen.
func (k *stormKind) finish() error {
	if err := k.storm.finish(); err != nil {
		return err
	}
	found, err := k.viewer.sum()
	return errors.Join(err, want(found, int64(len(owners))*firstValue+k.writes), k.viewer.close())
}

// BenchmarkViewUnderWriters takes views while four owners write.
func BenchmarkViewUnderWriters(b *testing.B) {
	dir := place(b)
	where := describe(dir)
	kinds := stormKinds()
	for i, k := range kinds {
		if err := k.start(fmt.Sprintf("%s/%02d-%s", dir, i, k.name)); err != nil {
			b.Fatalf("%s: %v", k.name, err)
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
		if err := k.finish(); err != nil {
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
	if err := sidecar.Create(dir, d); err != nil {
		b.Fatal(err)
	}
	s, err := newStorm(durableStorm, dir)
	if err != nil {
		b.Fatal(err)
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
	var slower []float64
	var alone, beside, views int64
	for b.Loop() {
		for _, some := range [][]*reader.Reader{nil, readers} {
			if err := s.begin(2 * stormTurn); err != nil {
				b.Fatal(err)
			}
			n, err := watch(some, 2*stormTurn)
			writes, failed := s.end()
			if err := errors.Join(err, failed); err != nil {
				b.Fatal(err)
			}
			if views += n; some == nil {
				alone = writes
			} else {
				beside = writes
			}
		}
		slower = append(slower, 100*(float64(alone)/float64(max(beside, 1))-1))
	}
	if err := s.finish(); err != nil {
		b.Fatal(err)
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
