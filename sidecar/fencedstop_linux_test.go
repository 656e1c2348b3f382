package sidecar

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
	"github.com/freehold-dev/freehold/sidecar/retire"
	"golang.org/x/sys/unix"
)

// A holder that was stopped with its commit half done, whatever is tried
// meanwhile to put another in its place, leaves no stale write behind: either
// it still is the holder, or it is dead (C-40, C-101).
func TestStoppedCommitIsNeverStale(t *testing.T) {
	dir := newState(t)
	for round := range rounds(10, 1000) {
		step := []string{failpoint.CommitChecked, failpoint.CommitPublish}[round%2]
		a := newActor(t, dir)
		epoch := a.Open()
		a.Must("commit", "applied")
		a.Must("stop "+step, "ready")
		a.Tell("commit")
		a.Stopped()
		takeovers(t, dir)
		if round%3 == 0 { // resumed, it was the holder all the time
			a.Signal(unix.SIGCONT)
			if said := a.Hear(); !strings.HasPrefix(said, "applied "+fmt.Sprint(epoch, ".2.")) {
				t.Fatalf("round %d: resumed, the holder said %q", round, said)
			}
		}
		prepared, err := retire.Prepare(dir, "watchdog")
		if err != nil {
			t.Fatal(err)
		}
		r, err := prepared.Run(t.Context(), &retire.Options{Grace: 20 * time.Millisecond, Kill: true})
		if err != nil || r.Outcome != retire.Retired {
			t.Fatalf("round %d: %+v (%v)", round, r, err)
		}
		b := newActor(t, dir)
		next := b.Open()
		v := b.Must("commit", "applied")
		if next <= epoch || !strings.HasPrefix(v, fmt.Sprint(next, ".1.")) {
			t.Fatalf("round %d: version %s after epoch %d", round, v, epoch)
		}
		<-a.Exited
		if got := version(t, dir); got.String() != v {
			t.Fatalf("round %d: the sidecar is at %v, the last commit was %v", round, got, v)
		}
		b.Must("close", "closed")
		b.Kill()
	}
}
