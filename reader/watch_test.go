package reader_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/scratch/statedir"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

// A watching pulls from a watch, as slowly as a test wants.
type watching struct {
	testing.TB
	next func() (*reader.View, error, bool)
}

func pull(tb testing.TB, watch iter.Seq2[*reader.View, error]) *watching {
	next, stop := iter.Pull2(watch)
	tb.Cleanup(stop)
	return &watching{tb, next}
}

// turns returns what the next view has.
func (w *watching) turns() uint64 {
	w.Helper()
	v, err, ok := w.next()
	if err != nil || !ok {
		w.Fatalf("no view: %v, %v", err, ok)
	}
	return turns(w, v)
}

// fails wants the next thing yielded to be an error that wraps target.
func (w *watching) fails(target error) error {
	w.Helper()
	v, err, ok := w.next()
	if !ok || v != nil || !errors.Is(err, target) {
		w.Fatalf("got %v, %v, %v; want an error that wraps %q", v, err, ok, target)
	}
	return err
}

func (w *watching) ends() {
	w.Helper()
	if v, err, ok := w.next(); ok {
		w.Fatalf("the watch goes on with %v, %v", v, err)
	}
}

// Case 75: every replacement is seen, not only the first, and so is a foreign edit.
func TestWatchYieldsAViewAtOnceAndThenEveryChange(t *testing.T) {
	s := newState(t, declaration())
	statetest.Damaged(s.dir, "sidecar-foreign")
	s.commit("cost", "turns", "1")
	w := pull(t, s.open().Watch(t.Context()))
	for n := uint64(1); n < 20; n++ {
		if got := w.turns(); got != n {
			t.Fatalf("%d turns, want %d", got, n)
		}
		s.commit("cost", "turns", fmt.Sprint(n+1))
	}
	w.turns()
	s.put("cost", append(s.text("cost", "turns", "99"), '\n'))
	v, err, _ := w.next()
	if err != nil {
		t.Fatal(err)
	}
	if o, _ := v.Owner("cost"); o.Status != store.Foreign {
		t.Errorf("status %s", o.Status)
	}
}

func TestWatchYieldsAChangeOnceAndOnlyChanges(t *testing.T) {
	s := newState(t, declaration())
	w := pull(t, s.open().Watch(t.Context()))
	w.next()
	text := s.text("cost", "turns", "1")
	for range 50 { // a file that is replaced by the same is no change
		s.put("cost", text)
	}
	if got := w.turns(); got != 1 {
		t.Fatalf("%d turns", got)
	}
	s.put("cost", text)
	s.commit("cost", "turns", "2")
	if got := w.turns(); got != 2 {
		t.Fatalf("%d turns", got)
	}
}

// What comes while the caller is busy comes together, and the last of it comes.
func TestWatchCoalescesBurstsAndNeverMissesTheLast(t *testing.T) {
	s := newState(t, declaration())
	w := pull(t, s.open().Watch(t.Context()))
	w.next()
	for n := 1; n <= 1000; n++ {
		s.commit("cost", "turns", fmt.Sprint(n))
	}
	if got := w.turns(); got != 1000 {
		t.Errorf("%d turns, want 1000", got)
	}

	var writers sync.WaitGroup
	states := map[string]string{"cost": "turns", "watchdog": "load"}
	for owner := range states {
		s.text(owner) // the map is not written below
	}
	for owner, field := range states {
		writers.Go(func() {
			for n := range 300 {
				s.commit(owner, field, fmt.Sprint(n))
			}
		})
	}
	for {
		v, err, _ := w.next()
		if err != nil {
			t.Fatal(err)
		}
		load, _ := reader.FieldOf(v, "load", schema.Float).OrUnset(-1)
		if turns(t, v) == 299 && load == 299 {
			break
		}
	}
	writers.Wait()
}

func TestWatchEndsWhenTheDirectoryIsReplaced(t *testing.T) {
	for what, move := range map[string]func(dir string) string{
		"itself":        func(dir string) string { return dir },
		"what holds it": filepath.Dir, // of which there is no notice
	} {
		t.Run(what, func(t *testing.T) {
			top := filepath.Join(t.TempDir(), "top")
			if err := os.Mkdir(top, 0o700); err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(top, "state")
			if err := store.Create(dir, declaration()); err != nil {
				t.Fatal(err)
			}
			r, err := reader.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			w := pull(t, r.Watch(t.Context()))
			w.next()
			moved := move(dir)
			if err := os.Rename(moved, moved+".x"); err != nil {
				t.Fatal(err)
			}
			if moved == dir { // another state in its place is not taken for it
				if err := store.Create(dir, declaration()); err != nil {
					t.Fatal(err)
				}
			}
			w.fails(store.Moved)
			w.ends()
		})
	}
}

func TestWatchGoesOnAfterAnErrorOfOneView(t *testing.T) {
	s := newState(t, declaration())
	s.commit("cost", "turns", "1")
	w := pull(t, s.open().Watch(t.Context()))
	w.turns()
	manifest := filepath.Join(s.dir, ".freehold", "manifest.json")
	good, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(manifest, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.fails(store.ErrInvalidManifest)
	s.commit("cost", "turns", "2") // the same error is not said again
	if err := os.WriteFile(manifest, good, 0o600); err != nil {
		t.Fatal(err)
	}
	for n := uint64(2); n < 5; n++ {
		if got := w.turns(); got != n {
			t.Fatalf("%d turns, want %d", got, n)
		}
		s.commit("cost", "turns", fmt.Sprint(n+1))
	}
}

// A directory that comes later, with a claim in it, is watched too.
func TestWatchSeesWhatAnUpgradeAdds(t *testing.T) {
	s := newState(t, declaration())
	b := &bell{}
	w := pull(t, s.open().WatchBy(t.Context(), b.start))
	w.next()
	more := declaration()
	more.Owners["cost"].Fields["fired"] = schema.Field{Type: schema.TypeTime, Kind: schema.Once}
	more.Owners["tool"] = schema.Owner{Busy: schema.Busy{Then: schema.Defer}, Fields: map[string]schema.Field{"n": {Type: schema.TypeUint, Kind: schema.Counter}}}
	dir, err := statedir.Open(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if _, err := dir.Upgrade(t.Context(), more, time.Minute); err != nil {
		t.Fatal(err)
	}
	b.rings <- struct{}{}
	v, err, _ := w.next()
	if err != nil || ownerNames(v) != "cost reset tool watchdog" {
		t.Fatalf("got %v, %v", ownerNames(v), err)
	}
	b.rings <- struct{}{}
	s.commit("reset", "cleared", "true")
	w.next()
	want := []string{".", ".freehold", ".freehold/claims/cost", ".freehold/tool.pending"}
	if diff := cmp.Diff(want, b.watched(s.dir)); diff != "" {
		t.Errorf("watched (-want +got):\n%s", diff)
	}
}

// However a watch ends, nothing of it is left.
func TestWatchLeavesNothingBehind(t *testing.T) {
	s := newState(t, declaration())
	r := s.open()
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	before := openFiles(t)
	for range r.Watch(t.Context()) {
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, err := range r.Watch(ctx) {
		if err != nil {
			t.Error(err)
		}
		time.AfterFunc(time.Millisecond, cancel) // in the midst of waiting, most likely
	}
	for range r.Watch(ctx) {
		t.Error("it yields though ctx is done")
	}
	func() {
		defer func() { recover() }()
		for range r.Watch(t.Context()) {
			panic("of the caller")
		}
	}()
	views, errs := 0, []error(nil)
	for _, err := range r.Watch(t.Context()) {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if views++; views == 1 {
			time.AfterFunc(time.Millisecond, func() { r.Close() })
		}
	}
	if views != 1 || len(errs) != 1 || !errors.Is(errs[0], reader.ErrClosed) {
		t.Errorf("a closed reader: %d views, %v", views, errs)
	}
	if after := openFiles(t); after > before {
		t.Errorf("%d open files, %d before", after, before)
	}
}

// openFiles returns how many files this process has open, where that can be
// known.
func openFiles(t *testing.T) int {
	names, err := os.ReadDir("/proc/self/fd")
	if errors.Is(err, os.ErrNotExist) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}
