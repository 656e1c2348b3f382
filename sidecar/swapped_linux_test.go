package sidecar

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
	"github.com/freehold-dev/freehold/sidecar/store"
	"golang.org/x/sys/unix"
)

// Threat T2, row FF1: while somebody exchanges a state's directory with another
// state's, over and over, whoever opens the path and commits has committed to one
// of the two, or to none if it says so, and never with the lock of one in the other.
func TestAStateThatIsSwappedIsOneOrTheOther(t *testing.T) {
	dir := newState(t)
	other := filepath.Join(filepath.Dir(dir), "other")
	if err := Create(other, declaration()); err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan error)
	go func() {
		var err error
		for swaps := 0; err == nil; swaps++ {
			select {
			case <-stop:
				if swaps%2 == 1 {
					err = unix.Renameat2(unix.AT_FDCWD, dir, unix.AT_FDCWD, other, unix.RENAME_EXCHANGE)
				}
				stopped <- err
				return
			default:
			}
			err = unix.Renameat2(unix.AT_FDCWD, dir, unix.AT_FDCWD, other, unix.RENAME_EXCHANGE)
		}
		<-stop
		stopped <- err
	}()
	wanted := rounds(300, 100_000)
	acknowledged, open, refused, ids := 0, 0, 0, map[string]bool{}
	for n := 0; n < wanted || (acknowledged == 0 || refused == 0) && n < 1_000_000; n++ {
		w, err := Open(t.Context(), dir, declaration(), "cost", nil)
		if err == nil {
			for range 2 {
				if _, err = w.Update(t.Context(), addTurns(1)); err != nil {
					break
				}
				acknowledged++
				ids[w.manifest.StateID] = true
			}
			w.Close()
		}
		if err == nil {
			continue
		}
		refused++
		if errors.Is(err, ErrIndeterminate) { // it was moved in the middle of a commit
			open++
		}
		if !errors.Is(err, store.Moved) && !errors.Is(err, store.Lost) {
			t.Errorf("refused by %v", err)
		}
	}
	close(stop)
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	sum := mustAtoi(t, stored(t, dir, "turns")) + mustAtoi(t, stored(t, other, "turns"))
	if sum != acknowledged+open {
		t.Errorf("both have %d turns, and %d were acknowledged, %d left open", sum, acknowledged, open)
	}
	t.Logf("%d acknowledged in %d states, %d refused, %d of them left open", acknowledged, len(ids), refused, open)
}

// moveAway moves a state away at the next commit, and makes another one in its
// place.
func moveAway(t *testing.T, dir string, d *schema.Declaration) {
	failpoint.Set(func(step string) {
		if step != failpoint.CommitPublish {
			return
		}
		failpoint.Set(nil)
		if err := errors.Join(os.Rename(dir, dir+".moved"), Create(dir, d)); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { failpoint.Set(nil) })
}

// Row FF1: what was committed into a directory that was moved away meanwhile is
// not acknowledged. It counts if the directory is put back, and so does the Writer.
func TestACommitWhereNobodyLooksIsNotAcknowledged(t *testing.T) {
	for _, owner := range []string{"cost", "watchdog"} {
		dir := newState(t)
		w, fn := openOwner(t, dir, owner, nil), map[string]func(*Tx) error{"cost": addTurns(1), "watchdog": beat}[owner]
		before := update(t, w, fn).Version
		moveAway(t, dir, declaration())
		c, err := w.Update(t.Context(), fn)
		wantError(t, err, ErrIndeterminate, "counts if that is put back", dir)
		wantError(t, err, store.Moved)
		said.Same(t, "update: "+owner+"'s directory was moved away meanwhile", err, dir, "STATE")
		if got, err := Resolve(t.Context(), dir, owner, c.Version); got != NotApplied || err != nil {
			t.Errorf("where everybody looks it is %v (%v)", got, err)
		}
		_, err = w.Update(t.Context(), fn)
		wantError(t, err, store.Moved)
		if err := errors.Join(os.RemoveAll(dir), os.Rename(dir+".moved", dir)); err != nil {
			t.Fatal(err)
		}
		if got, err := Resolve(t.Context(), dir, owner, c.Version); got != Applied || err != nil {
			t.Errorf("put back, it is %v (%v)", got, err)
		}
		if after := update(t, w, fn).Version; after.Revision != before.Revision+2 {
			t.Errorf("version %v follows %v", after, before)
		}
	}
}

// Row FF1: a commit during which the directory is moved away while it still folds
// pending patches says so, and is certain that nothing of its own is applied.
func TestACommitThatFoldsWhereNobodyLooksSaysSo(t *testing.T) {
	dir, _ := newPile(t)
	w := openSetter(t, dir, "tool", &Options{Wait: time.Minute})
	moveAway(t, dir, setters())
	c, err := w.Update(t.Context(), ops(op("n", schema.VerbAdd, "1000")))
	wantError(t, err, store.Moved, "not applied", dir)
	if errors.Is(err, ErrIndeterminate) || c.Outcome != NotApplied || !c.Version.IsZero() {
		t.Errorf("the commit is %+v (%v)", c, err)
	}
	said.Same(t, "deferred: the directory was moved away while it was folded", err, dir, "STATE")
	if err := errors.Join(os.RemoveAll(dir), os.Rename(dir+".moved", dir)); err != nil {
		t.Fatal(err)
	}
	update(t, w, ops())
	if got := values(t, w, "n")["n"]; got != fmt.Sprint(severalVersions) {
		t.Errorf("put back, and all folded, n is %s, want %d", got, severalVersions)
	}
}
