package sidecar

import (
	"errors"
	"path/filepath"
	"testing"

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
	acknowledged, refused, ids := 0, 0, map[string]bool{}
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
		if !errors.Is(err, ErrReplaced) && !errors.Is(err, ErrLock) {
			t.Errorf("refused by %v", err)
		}
	}
	close(stop)
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	sum := mustAtoi(t, stored(t, dir, "turns")) + mustAtoi(t, stored(t, other, "turns"))
	if sum != acknowledged {
		t.Errorf("both have %d turns, and %d were acknowledged", sum, acknowledged)
	}
	t.Logf("%d acknowledged in %d states, %d refused", acknowledged, len(ids), refused)
}
