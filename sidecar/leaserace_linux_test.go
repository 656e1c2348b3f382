package sidecar

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// Updates and closes at once end in one of their ways, every acknowledged commit
// is there, and the next Open gets the lease.
func TestCloseAndUpdateAtOnce(t *testing.T) {
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

// A child that was passed the descriptor can let the lock go. Then its holder
// has it again with its next commit, or is fenced if another process came first,
// even if nothing else tells of that one (C-118).
func TestLockThatAChildLetGo(t *testing.T) {
	for _, taken := range []bool{false, true} {
		t.Run(fmt.Sprintf("taken %v", taken), func(t *testing.T) {
			dir := newState(t)
			w := mustOpen(t, dir)
			update(t, w, beat)
			child := exec.Command("flock", "--unlock", "3")
			child.ExtraFiles = []*os.File{w.lease.File()}
			if out, err := child.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			a := newActor(t, dir)
			if !taken {
				update(t, w, beat)
				if said := a.Ask("open"); !strings.HasPrefix(said, "busy") {
					t.Errorf("another process said %q", said)
				}
				return
			}
			a.Open()
			remove(t, recordPath(dir))
			kept := readFile(t, sidecarPath(dir, "watchdog"))
			for range 2 {
				_, err := w.Update(t.Context(), beat)
				wantError(t, err, ErrFenced, fmt.Sprintf("process %d holds the lock", a.PID()))
			}
			if readFile(t, sidecarPath(dir, "watchdog")) != kept {
				t.Error("the fenced process wrote")
			}
			a.Must("commit", "applied")
		})
	}
}
