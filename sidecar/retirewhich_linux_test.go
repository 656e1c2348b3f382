package sidecar

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/lease"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/retire"
	"github.com/freehold-dev/freehold/sidecar/store"
	"golang.org/x/sys/unix"
)

// The later holder is neither signalled nor said to be the earlier one (C-48).
func TestRetireOfAnEarlierHolderNamesBoth(t *testing.T) {
	dir := newState(t)
	a := newActor(t, dir)
	a.open()
	p := prepare(t, dir)
	a.must("close", "closed")
	b := newActor(t, dir)
	epoch := b.open()
	b.must("ignore", "ready")
	r, err := p.Run(t.Context(), brief())
	wantError(t, err, store.IdentityChanged, fmt.Sprintf("process %d of epoch %d", a.pid(), p.Epoch), fmt.Sprintf("process %d of epoch %d", b.pid(), epoch), "nothing was signalled")
	said.Same(t, "retire: another process took the lease", err, dir, "STATE")
	if r.Outcome != retire.NotRetired || signalled(r) {
		t.Errorf("%v %v", r.Outcome, r.Proofs)
	}
	b.silent(10 * time.Millisecond)
	// Once the later holder is gone too, the earlier one is so much the more.
	b.kill()
	if r, err = p.Run(t.Context(), brief()); err != nil || r.Outcome != retire.AlreadyGone || !has(r, retire.ProofSuperseded) {
		t.Errorf("%v %v (%v)", r.Outcome, r.Proofs, err)
	}
	if l := record(t, dir); l.Holder != nil || l.Epoch != epoch {
		t.Errorf("the record keeps a holder, or lost the epoch: %+v", l)
	}
}

func TestRetireOfAProcessThatWillNotEnd(t *testing.T) {
	for name, stubborn := range map[string]func(a *actor){
		"ignores SIGTERM": func(a *actor) { a.must("ignore", "ready") },
		"is stopped":      func(a *actor) { a.signal(unix.SIGSTOP); a.stopped() },
	} {
		t.Run(name, func(t *testing.T) {
			dir := newState(t)
			a := newActor(t, dir)
			a.open()
			stubborn(a)
			p := prepare(t, dir)
			r, err := p.Run(t.Context(), &retire.Options{Grace: 50 * time.Millisecond})
			wantError(t, err, store.DeadlinePassed, fmt.Sprintf("process %d did not end within 50ms", a.pid()), "SIGKILL")
			if name == "is stopped" {
				wantError(t, err, store.DeadlinePassed, "is stopped")
				said.Same(t, "retire: it is stopped", err)
			}
			if r.Outcome != retire.NotRetired || has(r, retire.ProofExited) || !a.alive() {
				t.Errorf("%v %v", r.Outcome, r.Proofs)
			}
			_, err = openWatchdog(t, dir, nil) // the fence is open again
			wantError(t, err, ErrBusy, "holds the lock")
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			_, err = p.Run(ctx, &retire.Options{Grace: time.Hour, Kill: true})
			wantError(t, err, store.DeadlinePassed)
			wantError(t, err, context.DeadlineExceeded)
			r, err = p.Run(t.Context(), &retire.Options{Grace: 50 * time.Millisecond, Kill: true})
			if err != nil || r.Outcome != retire.Retired || !has(r, retire.ProofKilled) || !has(r, retire.ProofExited) {
				t.Errorf("with Kill: %v %v (%v)", r.Outcome, r.Proofs, err)
			}
			mustOpen(t, dir)
		})
	}
}

func TestRetireByEpochAndNumber(t *testing.T) {
	dir := newState(t)
	a := newActor(t, dir)
	epoch := a.open()
	given := func(epoch uint64, pid int) *retire.Prepared {
		return &retire.Prepared{Dir: dir, Owner: "watchdog", Holding: retire.Holding{Epoch: epoch, Holder: lease.Holder{Identity: process.Identity{PID: pid}}}}
	}
	for _, p := range []*retire.Prepared{given(epoch-1, a.pid()), given(epoch, os.Getpid())} {
		_, err := p.Run(t.Context(), brief())
		wantError(t, err, store.IdentityChanged)
	}
	for _, p := range []*retire.Prepared{given(0, a.pid()), given(epoch, 0), {}} {
		_, err := p.Run(t.Context(), brief())
		said.Same(t, fmt.Sprintf("retire: epoch given %v, process given %v", p.Epoch > 0, p.Holder.Identity.PID > 0), err)
	}
	if r, err := given(epoch, a.pid()).Run(t.Context(), brief()); err != nil || r.Outcome != retire.Retired {
		t.Errorf("%v (%v)", r, err)
	}
	_, err := retire.Prepare(dir, "watchdog")
	wantError(t, err, store.NoHolder)
	_, err = retire.Prepare(dir, "cost")
	wantError(t, err, store.NoLease, "shared")
}

// Whose epoch nobody knows is not said to be another process.
func TestRetireByNumberNeedsARecord(t *testing.T) {
	dir := newState(t)
	a := newActor(t, dir)
	epoch := a.open()
	a.must("ignore", "ready")
	remove(t, recordPath(dir))
	p := &retire.Prepared{Dir: dir, Owner: "watchdog", Holding: retire.Holding{Epoch: epoch, Holder: lease.Holder{Identity: process.Identity{PID: a.pid()}}}}
	r, err := p.Run(t.Context(), brief())
	wantError(t, err, store.NotJudged, "the record of the lease names nobody", fmt.Sprintf("the kernel names process %d", a.pid()))
	said.Same(t, "retire: the record names nobody", err, dir, "STATE")
	if errors.Is(err, store.IdentityChanged) || signalled(r) {
		t.Errorf("%v (%v)", r, err)
	}
}

// An epoch that somebody got wrong is no epoch that has begun.
func TestRetireOfAWrongEpochUsesNoneUp(t *testing.T) {
	dir := newState(t)
	const wrong = document.MaxEpoch
	p := &retire.Prepared{Dir: dir, Owner: "watchdog", Holding: retire.Holding{Epoch: wrong, Holder: lease.Holder{Identity: process.Identity{PID: 4242}}}}
	if r, err := p.Run(t.Context(), brief()); err != nil || r.Outcome != retire.AlreadyGone || has(r, retire.ProofGone) {
		t.Errorf("%v (%v)", r, err)
	}
	if text := readFile(t, recordPath(dir)); strings.Contains(text, `"start"`) || strings.Contains(text, `"pidfd"`) {
		t.Errorf("what is not known is recorded: %s", text)
	}
	if w := mustOpen(t, dir); w.epoch >= wrong {
		t.Errorf("the next epoch is %d", w.epoch)
	}
}

func TestRetireInARemadeStateNamesIt(t *testing.T) {
	dir := newState(t)
	a := newActor(t, dir)
	a.open()
	a.must("ignore", "ready")
	p := prepare(t, dir)
	remove(t, dir)
	if err := Create(dir, declaration()); err != nil {
		t.Fatal(err)
	}
	r, err := p.Run(t.Context(), brief())
	wantError(t, err, store.IdentityChanged, fmt.Sprintf("process %d of epoch %d was to be retired: the state was made anew", a.pid(), p.Epoch))
	said.Same(t, "retire: the state was made anew", err, dir, "STATE")
	if signalled(r) {
		t.Errorf("something was sent: %v", r.Proofs)
	}
}
