package sidecar

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
)

// Row FA15: an Update whose context ends at any of its steps either says so and
// has changed nothing, or was too far and is done; the pending patches of others is
// there once in any case, and nobody is kept waiting.
func TestUpdateCancelledAtEveryStep(t *testing.T) {
	for _, step := range []string{
		failpoint.CommitChecked, failpoint.FoldListed, failpoint.CommitPublish, failpoint.FoldPublished, failpoint.FoldUnlinked,
		failpoint.PendingBusy, failpoint.PendingPut,
	} {
		t.Run(step, func(t *testing.T) {
			dir, w := newSetters(t)
			deferUpdate(t, w, op("n", schema.VerbAdd, "1"))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var c Commit
			var err error
			hit := false
			call := func() {
				failpoint.Set(func(now string) {
					if now == step {
						hit = true
						cancel()
					}
				})
				c, err = w.Update(ctx, ops(op("n", schema.VerbAdd, "10")))
				failpoint.Set(nil)
			}
			if step[:4] == failpoint.PendingBusy[:4] {
				locked(t, w, call)
			} else {
				call()
			}
			want := "11"
			if err != nil {
				wantError(t, err, context.Canceled)
				want = "1"
			}
			if (err != nil) != same(c, Commit{}) {
				t.Errorf("the commit is %+v (%v)", c, err)
			}
			if !hit {
				t.Error("the step was not reached: the test shows nothing")
			}
			other := openSetter(t, dir, "tool", nil)
			update(t, other, ops(op("n", schema.VerbAdd, "100")))
			if got := values(t, other, "n")["n"]; got != "1"+want && got != fmt.Sprint("10", want) {
				t.Errorf("n is %s after %v, and 1, 100 and perhaps 10 were added", got, err)
			}
			nonePending(t, w)
		})
	}
}

// Row FA14, where the lock is not to be had: a function that panics or ends its
// goroutine defers nothing and keeps nobody waiting.
func TestPanicSetsNothingPending(t *testing.T) {
	_, w := newSetters(t)
	locked(t, w, func() {
		for name, leave := range map[string]func(){"panic": func() { panic("boom") }, "Goexit": runtime.Goexit} {
			over := make(chan any)
			go func() {
				defer close(over)
				defer func() {
					if r := recover(); r != nil {
						over <- r
					}
				}()
				w.Update(context.Background(), func(tx *Tx) error { tx.Apply(op("n", schema.VerbAdd, "1")); leave(); return nil })
			}()
			if r := <-over; r != nil && r != "boom" {
				t.Errorf("%s: recovered %v, want the function's own panic", name, r)
			}
		}
		if c := update(t, w, ops(op("n", schema.VerbAdd, "10"))); c.Outcome != Deferred {
			t.Errorf("the next commit is %+v", c)
		}
	})
	if names := pendingNames(t, w); len(names) != 1 {
		t.Errorf("deferred: %v, want one patch", names)
	}
	if got := values(t, w, "n")["n"]; got != "10" {
		t.Errorf("n is %s, want 10", got)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}
