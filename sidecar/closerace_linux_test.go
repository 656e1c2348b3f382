package sidecar

import (
	"context"
	"errors"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// Updates, handoffs and closes at once end in one of their ways, and what was
// acknowledged is there; whoever comes next gets the lease.
func TestCloseUpdateAndHandoffAtOnce(t *testing.T) {
	sleeper := exec.Command("sleep", "600") // a successor that never comes
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { sleeper.Process.Kill(); sleeper.Wait() }()
	id := identityOf(t, sleeper.Process.Pid)
	dir := newState(t)
	acknowledged := 0
	for range rounds(10, 500) {
		w, err := Open(t.Context(), dir, nil, "watchdog", nil)
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range 3 {
					_, err := w.Update(t.Context(), beat)
					mu.Lock()
					if err == nil {
						acknowledged++
					} else if !errors.Is(err, ErrClosed) {
						t.Errorf("update: %v", err)
					}
					mu.Unlock()
				}
			})
		}
		for range 2 {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
				defer cancel()
				if err := w.Handoff(ctx, id); !errors.Is(err, ErrClosed) && !errors.Is(err, ErrDeadline) && !errors.Is(err, ErrBusy) {
					t.Errorf("handoff: %v", err)
				}
			})
			all.Go(func() {
				if err := w.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			})
		}
		all.Wait()
	}
	w := mustOpen(t, dir)
	if v := update(t, w, beat).Version; v.Revision != 1 {
		t.Errorf("version %v", v)
	}
	acknowledged++
	beats := 0
	update(t, w, func(tx *Tx) error {
		raw, _ := tx.Get("beats")
		beats = mustAtoi(t, string(raw))
		return nil
	})
	if beats != acknowledged {
		t.Errorf("%d beats, %d were acknowledged", beats, acknowledged)
	}
}
