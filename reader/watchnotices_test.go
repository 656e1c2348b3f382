package reader_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/freehold-dev/freehold/reader"
)

// A bell is notices that a test gives.
type bell struct {
	rings chan struct{}

	mu       sync.Mutex
	dirs     map[string]bool
	overflow bool
	err      error
	closed   bool
}

func (b *bell) start() (reader.Notices, error) {
	b.rings, b.dirs = make(chan struct{}, 1), map[string]bool{}
	return b, nil
}

func (b *bell) Watch(dir string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dirs[dir] = true
	return nil
}

func (b *bell) Overflowed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	lost := b.overflow
	b.overflow = false
	return lost
}

func (b *bell) Err() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

func (b *bell) Rings() <-chan struct{} { return b.rings }
func (b *bell) Close()                 { b.closed = true }

// watched returns the watched directories, relative to dir.
func (b *bell) watched(dir string) []string {
	var dirs []string
	for d := range b.dirs {
		rel, _ := filepath.Rel(dir, d)
		dirs = append(dirs, filepath.ToSlash(rel))
	}
	slices.Sort(dirs)
	return dirs
}

// set changes what the bell says, and rings.
func (b *bell) set(change func()) {
	b.mu.Lock()
	change()
	b.mu.Unlock()
	b.rings <- struct{}{}
}

// Cases 77 and 80: that notices are lost, or come no more, is said, and nothing is
// missed.
func TestWatchSaysWhatBecomesOfItsNotices(t *testing.T) {
	s := newState(t, declaration())
	s.commit("cost", "turns", "1")
	b := &bell{}
	w := pull(t, s.open().WatchBy(t.Context(), b.start))
	w.turns()

	s.commit("cost", "turns", "2")
	b.set(func() { b.overflow = true })
	said.Same(t, "notices that were lost", w.fails(reader.ErrResync), s.dir, "STATE")
	if got := w.turns(); got != 2 {
		t.Errorf("%d turns after an overflow", got)
	}
	broken := errors.New("too many open files")
	b.set(func() { b.err = broken })
	err := w.fails(reader.ErrPolling)
	said.Same(t, "no notices", err, s.dir, "STATE")
	if !errors.Is(err, broken) || !b.closed {
		t.Errorf("%v; the notices are closed: %v", err, b.closed)
	}
	for n := uint64(3); n < 6; n++ {
		s.commit("cost", "turns", fmt.Sprint(n))
		if got := w.turns(); got != n {
			t.Errorf("%d turns, want %d", got, n)
		}
	}
}

func TestWatchPollsWhereThereAreNoNotices(t *testing.T) {
	s := newState(t, declaration())
	s.commit("cost", "turns", "1")
	w := pull(t, s.open().WatchBy(t.Context(), func() (reader.Notices, error) { return nil, errors.New("none to be had") }))
	w.fails(reader.ErrPolling)
	for n := uint64(1); n < 4; n++ {
		if got := w.turns(); got != n {
			t.Errorf("%d turns, want %d", got, n)
		}
		s.commit("cost", "turns", fmt.Sprint(n+1))
	}
}

// A file system may take the watch and never say anything.
func TestWatchNoticesThatNoNoticesCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newState(t, declaration())
		s.commit("cost", "turns", "1")
		b := &bell{}
		w := pull(t, s.open().WatchBy(t.Context(), b.start))
		w.turns()
		start := time.Now()
		s.commit("cost", "turns", "2")
		if got := w.turns(); got != 2 {
			t.Errorf("%d turns", got)
		}
		if waited := time.Since(start); waited > time.Second {
			t.Errorf("it took %v", waited)
		}
		err := w.fails(reader.ErrPolling)
		said.Same(t, "no notice of a change", err, s.dir, "STATE")
		start = time.Now()
		s.commit("cost", "turns", "3")
		if got := w.turns(); got != 3 || time.Since(start) > 100*time.Millisecond {
			t.Errorf("%d turns after %v", got, time.Since(start))
		}
	})
}

// A look that happens to come between a change and its notice proves nothing.
func TestALateNoticeIsNoSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newState(t, declaration())
		s.commit("cost", "turns", "1")
		b := &bell{}
		w := pull(t, s.open().WatchBy(t.Context(), b.start))
		w.turns()
		for n := uint64(2); n < 5; n++ {
			s.commit("cost", "turns", fmt.Sprint(n))
			if got := w.turns(); got != n {
				t.Errorf("%d turns, want %d", got, n)
			}
			b.rings <- struct{}{}
		}
	})
}

// A look takes microseconds, so that an idle watch costs next to nothing.
func TestAnIdleWatchLooksOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newState(t, declaration())
		b := &bell{}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		looks := 0
		counted := func() (reader.Notices, error) {
			n, err := b.start()
			return counting{n, &looks}, err
		}
		views := 0
		for range s.open().WatchBy(ctx, counted) {
			views++
		}
		if views != 1 || looks > 3601 || looks < 3590 {
			t.Errorf("%d views, %d looks in an hour", views, looks)
		}
	})
}

// counting counts the looks of a watch.
type counting struct {
	reader.Notices
	looks *int
}

func (c counting) Overflowed() bool {
	*c.looks++
	return c.Notices.Overflowed()
}
