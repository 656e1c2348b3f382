package reader_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/scratch/document"
	"github.com/google/go-cmp/cmp"
)

// Case 148: two owners commit in turns, so that at every moment cost is level with reset
// or one ahead. A view that is atomic shows that; a view of files read one
// after the other would not (C-148).
func TestAtomicViewsShowOneMoment(t *testing.T) {
	d := &schema.Declaration{State: "race", Owners: map[string]schema.Owner{}}
	for _, owner := range []string{"cost", "other", "reset", "zebra"} {
		d.Owners[owner] = schema.Owner{Fields: map[string]schema.Field{owner + "_n": {Type: schema.TypeUint}}}
	}
	s := newState(t, d)
	turn := func(n int) {
		s.commit("cost", "cost_n", fmt.Sprint(n))
		s.commit("reset", "reset_n", fmt.Sprint(n))
	}
	turn(0)
	s.commit("other")
	s.commit("zebra")
	r := s.open()
	var done atomic.Bool
	var wg sync.WaitGroup
	views := map[reader.Consistency]int{}
	wg.Go(func() {
		last := uint64(0)
		for !done.Load() {
			v, err := r.View(context.Background())
			if err != nil {
				t.Error(err)
				return
			}
			a, errA := reader.FieldOf(v, "cost_n", schema.Uint).Get()
			b, errB := reader.FieldOf(v, "reset_n", schema.Uint).Get()
			if errA != nil || errB != nil {
				t.Errorf("a whole file was expected: %v, %v", errA, errB)
				return
			}
			if v.Consistency() == reader.Atomic && a != b && a != b+1 {
				t.Errorf("an atomic view shows cost at %d and reset at %d", a, b)
			}
			if b < last {
				t.Errorf("reset went back from %d to %d", last, b)
			}
			last = b
			views[v.Consistency()]++
		}
	})
	for n := range 1500 {
		turn(n)
	}
	done.Store(true)
	wg.Wait()
	if views[reader.Atomic] == 0 {
		t.Errorf("no view was atomic: %v", views)
	}
	t.Logf("views: %v", views)
}

// With writers that always get between, View must end, and say that it could
// not show one moment.
func TestViewEndsWhileWritersAreFaster(t *testing.T) {
	s := newState(t, declaration())
	r := s.open()
	ctx := &countingContext{Context: context.Background(), each: func(n int) {
		s.commit("cost", "turns", fmt.Sprint(n))
		s.commit("reset", "cleared", "true")
	}}
	v, err := r.View(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if v.Consistency() != reader.Causal {
		t.Errorf("the view calls itself %s", v.Consistency())
	}
	idle := view(t, r)
	if idle.Consistency() != reader.Atomic {
		t.Errorf("with the writers idle, the view calls itself %s", idle.Consistency())
	}
	if turns(t, idle) != uint64(ctx.n) {
		t.Errorf("read %d, want %d", turns(t, idle), ctx.n)
	}
}

// A view is atomic if the writers let it read every file once within its rounds,
// and whatever they do it ends one pass later.
func TestViewIsAtomicWithinItsRounds(t *testing.T) {
	const files = 3 + 1 // the sidecars and the manifest
	for busy, want := range map[int]reader.Consistency{
		0:                                      reader.Atomic,
		files:                                  reader.Atomic,
		(reader.MostRounds - 2) * files:        reader.Atomic,
		reader.MostRounds*files + 1:            reader.Causal,
		10 * reader.MostRounds * files * files: reader.Causal,
	} {
		s := newState(t, declaration())
		s.commit("watchdog", "note", `"x"`)
		r := s.open()
		ctx := &countingContext{Context: context.Background(), each: func(n int) {
			if n <= busy {
				s.commit("cost", "turns", fmt.Sprint(n))
				s.commit("reset", "cleared", "true")
				s.commit("watchdog", "load", fmt.Sprint(n))
			}
		}}
		v, err := r.View(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if v.Consistency() != want {
			t.Errorf("with writers that commit before each of the first %d reads, the view calls itself %s", busy, v.Consistency())
		}
		if most := (reader.MostRounds+1)*files + 1; ctx.n > most {
			t.Errorf("it took %d reads, more than %d", ctx.n, most)
		}
	}
}

// A countingContext does something each time that it is asked whether it has
// ended, which View does before it reads a file.
type countingContext struct {
	context.Context
	n    int
	each func(n int)
}

func (c *countingContext) Err() error {
	c.n++
	c.each(c.n)
	return nil
}

func TestViewEndsWithItsContext(t *testing.T) {
	r := newState(t, declaration()).open()
	ctx, cancel := context.WithCancelCause(context.Background())
	mine := errors.New("enough")
	cancel(mine)
	if v, err := r.View(ctx); v != nil || !errors.Is(err, mine) {
		t.Errorf("got %v, %v", v, err)
	}
	view(t, r)
}

func TestReadersOfOneCutAgreeOnItsID(t *testing.T) {
	s := newState(t, declaration())
	statetest.Damaged(s.dir, "sidecar-unreadable")
	s.commit("cost", "turns", "1")
	s.put("reset", []byte("damaged"))
	a, b := s.open(), s.open()
	one := view(t, a)
	if two := view(t, b); one.ID() != two.ID() || one.ID() == "" {
		t.Errorf("two readers call one cut %q and %q", one.ID(), two.ID())
	}
	ids := map[string]string{one.ID(): "at first"}
	for _, change := range []struct {
		what string
		do   func()
	}{
		{"another version", func() { s.commit("cost", "turns", "1") }},
		{"another damage", func() { s.put("reset", []byte("Damaged")) }},
		{"no damage", func() { s.commit("reset", "cleared", "true") }},
		{"an owner too large", func() { s.put("reset", make([]byte, document.MaxSize+1)) }},
		{"no damage again", func() { s.commit("reset", "cleared", "true") }},
		{"an owner more", func() { s.commit("watchdog", "note", `"x"`) }},
		{"an owner unreadable", func() { os.Remove(s.path("watchdog")); os.Mkdir(s.path("watchdog"), 0o700) }},
	} {
		what := change.what
		change.do()
		v, w, fresh := view(t, a), view(t, b), view(t, s.open())
		if v.ID() != w.ID() || v.ID() != fresh.ID() {
			t.Errorf("%s: two readers call it %q and %q, and one that opens the state now %q", what, v.ID(), w.ID(), fresh.ID())
		}
		if before, ok := ids[v.ID()]; ok {
			t.Errorf("%s has the id of: %s", what, before)
		}
		ids[v.ID()] = what
	}
}

// A view is a value: what happens later does not reach it.
func TestViewsDoNotChange(t *testing.T) {
	s := newState(t, declaration())
	s.commit("cost", "turns", "1")
	r, err := reader.Open(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	v := view(t, r)
	before, err := v.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	for n := range 10 {
		s.commit("cost", "turns", fmt.Sprint(n+2))
		s.commit("reset", "cleared", "true")
		view(t, r)
	}
	r.Close()
	after, err := v.MarshalJSON()
	if diff := cmp.Diff(string(before), string(after)); diff != "" || err != nil {
		t.Errorf("the view changed (%v), -before +after:\n%s", err, diff)
	}
	if turns(t, v) != 1 {
		t.Errorf("read %d, want 1", turns(t, v))
	}
}

func TestReadersAreSafeForManyGoroutines(t *testing.T) {
	s := newState(t, declaration())
	s.commit("cost", "turns", "0")
	r := s.open()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			last := uint64(0)
			for range 200 {
				v, err := r.View(context.Background())
				if err != nil {
					t.Error(err)
					return
				}
				n, err := reader.FieldOf(v, "turns", schema.Uint).Get()
				if err != nil || n < last {
					t.Errorf("after %d: %d, %v", last, n, err)
					return
				}
				last = n
				if _, err := v.MarshalJSON(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for n := range 200 {
		s.commit("cost", "turns", fmt.Sprint(n))
	}
	wg.Wait()
}
