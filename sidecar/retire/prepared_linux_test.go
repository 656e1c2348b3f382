package retire

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/lease"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/actor"
	"github.com/freehold-dev/freehold/sidecar/store"
	"golang.org/x/sys/unix"
)

// The later holder is neither signalled nor said to be the earlier one (C-48).
func TestRetireOfAnEarlierHolderNamesBoth(t *testing.T) {
	dir := newState(t)
	a := actor.New(t, dir)
	a.Open()
	p := prepare(t, dir)
	a.Must("close", "closed")
	b := actor.New(t, dir)
	epoch := b.Open()
	b.Must("ignore", "ready")
	r, err := p.Run(t.Context(), brief())
	wantError(t, err, store.IdentityChanged, fmt.Sprintf("process %d of epoch %d", a.PID(), p.Epoch), fmt.Sprintf("process %d of epoch %d", b.PID(), epoch), "nothing was signalled")
	said.Same(t, "retire: another process took the lease", err, dir, "STATE")
	if r.Outcome != NotRetired || signalled(r) {
		t.Errorf("%v %v", r.Outcome, r.Proofs)
	}
	b.Silent(10 * time.Millisecond)
	// Once the later holder is gone too, the earlier one is so much the more.
	b.Kill()
	if r, err = p.Run(t.Context(), brief()); err != nil || r.Outcome != AlreadyGone || !has(r, proofSuperseded) {
		t.Errorf("%v %v (%v)", r.Outcome, r.Proofs, err)
	}
	if l := record(t, dir); l.Holder != nil || l.Epoch != epoch {
		t.Errorf("the record keeps a holder, or lost the epoch: %+v", l)
	}
}

func TestRetireOfAProcessThatWillNotEnd(t *testing.T) {
	for name, stubborn := range map[string]func(a *actor.Actor){
		"ignores SIGTERM": func(a *actor.Actor) { a.Must("ignore", "ready") },
		"is stopped":      func(a *actor.Actor) { a.Signal(unix.SIGSTOP); a.Stopped() },
	} {
		t.Run(name, func(t *testing.T) {
			dir := newState(t)
			a := actor.New(t, dir)
			a.Open()
			stubborn(a)
			p := prepare(t, dir)
			r, err := p.Run(t.Context(), &Options{Grace: 50 * time.Millisecond})
			wantError(t, err, store.DeadlinePassed, fmt.Sprintf("process %d did not end within 50ms", a.PID()), "SIGKILL")
			if name == "is stopped" {
				wantError(t, err, store.DeadlinePassed, "is stopped")
				said.Same(t, "retire: it is stopped", err)
			}
			if r.Outcome != NotRetired || has(r, proofExited) || !a.Alive() {
				t.Errorf("%v %v", r.Outcome, r.Proofs)
			}
			_, err = openWatchdog(dir, 0) // the fence is open again
			wantError(t, err, sidecar.ErrBusy, "holds the lock")
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			_, err = p.Run(ctx, &Options{Grace: time.Hour, Kill: true})
			wantError(t, err, store.DeadlinePassed)
			wantError(t, err, context.DeadlineExceeded)
			r, err = p.Run(t.Context(), &Options{Grace: 50 * time.Millisecond, Kill: true})
			if err != nil || r.Outcome != Retired || !has(r, proofKilled) || !has(r, proofExited) {
				t.Errorf("with Kill: %v %v (%v)", r.Outcome, r.Proofs, err)
			}
			mustOpen(t, dir)
		})
	}
}

func TestRetireByEpochAndNumber(t *testing.T) {
	dir := newState(t)
	a := actor.New(t, dir)
	epoch := a.Open()
	given := func(epoch uint64, pid int) *Prepared {
		return &Prepared{Dir: dir, Owner: "watchdog", Holding: Holding{Epoch: epoch, Holder: lease.Holder{Identity: process.Identity{PID: pid}}}}
	}
	for _, p := range []*Prepared{given(epoch-1, a.PID()), given(epoch, os.Getpid())} {
		_, err := p.Run(t.Context(), brief())
		wantError(t, err, store.IdentityChanged)
	}
	for _, p := range []*Prepared{given(0, a.PID()), given(epoch, 0), {}} {
		_, err := p.Run(t.Context(), brief())
		said.Same(t, fmt.Sprintf("retire: epoch given %v, process given %v", p.Epoch > 0, p.Holder.Identity.PID > 0), err)
	}
	if r, err := given(epoch, a.PID()).Run(t.Context(), brief()); err != nil || r.Outcome != Retired {
		t.Errorf("%v (%v)", r, err)
	}
	_, err := Prepare(dir, "watchdog")
	wantError(t, err, store.NoHolder)
	_, err = Prepare(dir, "cost")
	wantError(t, err, store.NoLease, "shared")
}

// A holder without a known epoch is not called another process.
func TestRetireByNumberNeedsARecord(t *testing.T) {
	dir := newState(t)
	a := actor.New(t, dir)
	epoch := a.Open()
	a.Must("ignore", "ready")
	os.RemoveAll(recordPath(dir))
	p := &Prepared{Dir: dir, Owner: "watchdog", Holding: Holding{Epoch: epoch, Holder: lease.Holder{Identity: process.Identity{PID: a.PID()}}}}
	r, err := p.Run(t.Context(), brief())
	wantError(t, err, store.NotJudged, "the record of the lease names nobody", fmt.Sprintf("the kernel names process %d", a.PID()))
	said.Same(t, "retire: the record names nobody", err, dir, "STATE")
	if errors.Is(err, store.IdentityChanged) || signalled(r) {
		t.Errorf("%v (%v)", r, err)
	}
}

// An epoch that somebody got wrong is no epoch that has begun.
func TestRetireOfAWrongEpochUsesNoneUp(t *testing.T) {
	dir := newState(t)
	const wrong = document.MaxEpoch
	p := &Prepared{Dir: dir, Owner: "watchdog", Holding: Holding{Epoch: wrong, Holder: lease.Holder{Identity: process.Identity{PID: 4242}}}}
	if r, err := p.Run(t.Context(), brief()); err != nil || r.Outcome != AlreadyGone || has(r, proofGone) {
		t.Errorf("%v (%v)", r, err)
	}
	if text := readFile(t, recordPath(dir)); strings.Contains(text, `"start"`) || strings.Contains(text, `"pidfd"`) {
		t.Errorf("unknown facts are recorded: %s", text)
	}
	mustOpen(t, dir)
	if epoch := record(t, dir).Epoch; epoch >= wrong {
		t.Errorf("the next epoch is %d", epoch)
	}
}

func TestRetireInARemadeStateNamesIt(t *testing.T) {
	dir := newState(t)
	a := actor.New(t, dir)
	a.Open()
	a.Must("ignore", "ready")
	p := prepare(t, dir)
	os.RemoveAll(dir)
	if err := statedir.Create(dir, declaration()); err != nil {
		t.Fatal(err)
	}
	r, err := p.Run(t.Context(), brief())
	wantError(t, err, store.IdentityChanged, fmt.Sprintf("process %d of epoch %d was to be retired: the state was made anew", a.PID(), p.Epoch))
	said.Same(t, "retire: the state was made anew", err, dir, "STATE")
	if signalled(r) {
		t.Errorf("something was sent: %v", r.Proofs)
	}
}
