package reader_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
)

func turns(t testing.TB, v *reader.View) uint64 {
	t.Helper()
	n, err := reader.FieldOf(v, "turns", schema.Uint).Get()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Nothing that stat(2) shows tells two versions apart here: size, inode, both
// time stamps that can be set. A reader that trusts any of it shows the old
// value for ever.
func TestSameInodeSizeAndTimeIsNotTakenForUnchanged(t *testing.T) {
	s := newState(t, declaration())
	s.commit("cost", "turns", "100000")
	r := s.open()
	stamp := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var before os.FileInfo
	for n := 100001; n < 100300; n++ {
		// In place, so that the inode stays.
		if err := os.WriteFile(s.path("cost"), s.text("cost", "turns", fmt.Sprint(n)), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(s.path("cost"), stamp, stamp); err != nil {
			t.Fatal(err)
		}
		if got := turns(t, view(t, r)); got != uint64(n) {
			t.Fatalf("read %d, want %d", got, n)
		}
		info, err := os.Stat(s.path("cost"))
		if err != nil {
			t.Fatal(err)
		}
		if before != nil && !os.SameFile(before, info) {
			t.Fatal("it is another file now, so the test shows nothing")
		}
		before = info
	}
}

// A file system gives a replaced file's inode number to the next one.
func TestRenamedFilesAreNeverReadStale(t *testing.T) {
	s := newState(t, declaration())
	r := s.open()
	for n := 100000; n < 101000; n++ {
		s.commit("cost", "turns", fmt.Sprint(n))
		if got := turns(t, view(t, r)); got != uint64(n) {
			t.Fatalf("read %d, want %d", got, n)
		}
	}
}

func TestARestoredFileIsSeen(t *testing.T) {
	s := newState(t, declaration())
	s.commit("cost", "turns", "1")
	old, err := os.ReadFile(s.path("cost"))
	if err != nil {
		t.Fatal(err)
	}
	r := s.open()
	first := view(t, r)
	s.commit("cost", "turns", "2")
	second := view(t, r)
	s.put("cost", old)
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(s.path("cost"), long, long); err != nil {
		t.Fatal(err)
	}
	third := view(t, r)
	if a, b, c := turns(t, first), turns(t, second), turns(t, third); a != 1 || b != 2 || c != 1 {
		t.Errorf("read %d, %d, %d, want 1, 2, 1", a, b, c)
	}
	if first.ID() != third.ID() || first.ID() == second.ID() {
		t.Errorf("cut ids %s, %s, %s", first.ID(), second.ID(), third.ID())
	}
}

func TestEveryChangeOfStatusIsSeen(t *testing.T) {
	s := newState(t, declaration())
	r := s.open()
	status := func() store.Status {
		o, _ := view(t, r).Owner("cost")
		return o.Status
	}
	good := s.text("cost", "turns", "1")
	for _, step := range []struct {
		do   func()
		want store.Status
	}{
		{func() {}, store.Missing},
		{func() { s.put("cost", good) }, store.OK},
		{func() { os.Remove(s.path("cost")) }, store.Missing},
		{func() { s.put("cost", good) }, store.OK},
		{func() { os.Truncate(s.path("cost"), 100) }, store.Invalid},
		{func() { os.Remove(s.path("cost")); os.Mkdir(s.path("cost"), 0o700) }, store.Unreadable},
		{func() { os.Remove(s.path("cost")); os.Symlink("x", s.path("cost")) }, store.Unreadable},
		{func() { os.Remove(s.path("cost")) }, store.Missing},
		{func() { s.put("cost", append(good, '\n')) }, store.Foreign},
		{func() { s.put("cost", good) }, store.OK},
	} {
		step.do()
		for range 2 { // the second comes from what was remembered
			if got := status(); got != step.want {
				t.Fatalf("status %s, want %s", got, step.want)
			}
		}
	}
}

func TestUnchangedStateGivesTheSameViewAndAllocatesNothing(t *testing.T) {
	s := newState(t, declaration())
	for _, owner := range declaration().OwnerNames() {
		s.commit(owner)
	}
	r := s.open()
	v := view(t, r)
	if v.Consistency() != reader.Atomic {
		t.Errorf("an idle state is read as %s", v.Consistency())
	}
	ctx := context.Background()
	allocations := testing.AllocsPerRun(100, func() {
		if again, err := r.View(ctx); again != v || err != nil {
			t.Errorf("got another view, %v", err)
		}
	})
	if allocations != 0 {
		t.Errorf("%v allocations, want none", allocations)
	}
}

func TestUnchangedOwnersAreNotDecodedAgain(t *testing.T) {
	s := newState(t, declaration())
	s.commit("cost", "turns", "1")
	s.commit("reset", "cleared", "true")
	r := s.open()
	view(t, r)
	few := testing.AllocsPerRun(100, func() {
		s.commit("reset", "cleared", "true")
		view(t, r)
	}) - testing.AllocsPerRun(100, func() { s.commit("reset", "cleared", "true") })
	s.commit("cost", "turns", "1")
	both := testing.AllocsPerRun(100, func() {
		s.commit("reset", "cleared", "true")
		s.commit("cost", "turns", "1")
		view(t, r)
	}) - testing.AllocsPerRun(100, func() { s.commit("reset", "cleared", "true"); s.commit("cost", "turns", "1") })
	if few >= both {
		t.Errorf("a view with one changed sidecar allocates %v times, with two %v", few, both)
	}
}
