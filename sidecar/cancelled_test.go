package sidecar

import (
	"context"
	"fmt"
	"testing"

	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
)

// Row FA15: an Update whose context ends at any of its steps either says so and
// has changed nothing, or was too far and is done; what others had set aside is
// there once in any case, and nobody is kept waiting.
func TestUpdateCancelledAtEveryStep(t *testing.T) {
	for _, step := range []string{
		failpoint.CommitChecked, failpoint.FoldListed, failpoint.CommitPublish, failpoint.FoldPublished, failpoint.FoldUnlinked,
		failpoint.AsideBusy, failpoint.AsideNumbered, failpoint.AsidePut,
	} {
		t.Run(step, func(t *testing.T) {
			dir, w := newSetters(t)
			setAside(t, w, op("n", Add, "1"))
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
				c, err = w.Update(ctx, ops(op("n", Add, "10")))
				failpoint.Set(nil)
			}
			if step[:4] == failpoint.AsideBusy[:4] {
				locked(t, w, call)
			} else {
				call()
			}
			want := "11"
			if err != nil {
				wantError(t, err, context.Canceled)
				want = "1"
			}
			if (err != nil) != (c == Commit{}) {
				t.Errorf("the commit is %+v (%v)", c, err)
			}
			if !hit {
				t.Error("the step was not reached: the test shows nothing")
			}
			other := openSetter(t, dir, "tool", nil)
			update(t, other, ops(op("n", Add, "100")))
			if got := values(t, other, "n")["n"]; got != "1"+want && got != fmt.Sprint("10", want) {
				t.Errorf("n is %s after %v, and 1, 100 and perhaps 10 were added", got, err)
			}
			if names := asideNames(t, w); len(names) > 0 {
				t.Errorf("still set aside: %v", names)
			}
		})
	}
}
