package sidecar

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"golang.org/x/sys/unix"
)

func identityOf(t *testing.T, pid int) process.Identity {
	t.Helper()
	id, err := process.IdentityOf(pid)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestHandoffPassesTheLeaseToTheNamedOneAlone(t *testing.T) {
	for range rounds(5, 500) {
		dir := newState(t)
		w := mustOpen(t, dir)
		update(t, w, beat)
		next, others := newActor(t, dir), []*actor{newActor(t, dir), newActor(t, dir)}
		for _, a := range append(others, next) {
			a.tell("open 1m")
		}
		if err := w.Handoff(t.Context(), identityOf(t, next.pid())); err != nil {
			t.Fatal(err)
		}
		if said := next.hear(); !strings.HasPrefix(said, "open ") {
			t.Fatalf("the successor said %q", said)
		}
		before := readFile(t, recordPath(dir))
		_, err := w.Update(t.Context(), beat)
		wantError(t, err, ErrFenced, fmt.Sprintf("handed to process %d", next.pid()))
		err = w.Handoff(t.Context(), identityOf(t, next.pid()))
		wantError(t, err, ErrFenced)
		if err := w.Close(); err != nil { // a late release frees nobody else's lease
			t.Fatal(err)
		}
		if readFile(t, recordPath(dir)) != before {
			t.Error("the old process's release changed the record")
		}
		if l := record(t, dir); l.Holder.Identity.PID != next.pid() || l.Handoff != nil || l.Epoch <= w.epoch {
			t.Errorf("the record is %+v", l)
		}
		next.must("commit", "applied")
		for _, a := range others {
			a.silent(0)
		}
		next.kill()
	}
}

// Whatever step a holder is stopped at while it hands over, what it does once
// it is resumed is either the holder's or nothing.
func TestStoppedHandoffWritesNothingStale(t *testing.T) {
	for _, step := range []string{failpoint.HandoffMarked, failpoint.HandoffReleased} {
		t.Run(step, func(t *testing.T) {
			dir := newState(t)
			old, next, third := newActor(t, dir), newActor(t, dir), newActor(t, dir)
			epoch := old.open()
			old.must("commit", "applied")
			old.must("stop "+step, "ready")
			next.tell("open 1m")
			old.tell(fmt.Sprintf("handoff %d 1m", next.pid()))
			old.stopped()
			third.tell("open")
			third.silent(20 * time.Millisecond) // it waits at the fence
			var v string
			if step == failpoint.HandoffReleased {
				if said := next.hear(); !strings.HasPrefix(said, "open ") {
					t.Fatalf("the successor said %q", said)
				}
				v = next.must("commit", "applied")
			} else {
				next.silent(50 * time.Millisecond)
			}
			old.signal(unix.SIGCONT)
			if said := old.hear(); said != "handed over" {
				t.Fatalf("the old process said %q", said)
			}
			if v == "" {
				if said := next.hear(); !strings.HasPrefix(said, "open ") {
					t.Fatalf("the successor said %q", said)
				}
				v = next.must("commit", "applied")
			}
			if said := old.ask("commit"); !strings.HasPrefix(said, "fenced") {
				t.Errorf("the old process said %q", said)
			}
			old.must("close", "closed")
			if got := version(t, dir); got.String() != v || got.Epoch <= epoch {
				t.Errorf("the sidecar is at %v, the successor's commit was %v", got, v)
			}
			if said := third.hear(); !strings.HasPrefix(said, "busy") {
				t.Errorf("a third process said %q", said)
			}
		})
	}
}

func TestHandoffToNobodyTakesTheLeaseBack(t *testing.T) {
	dir := newState(t)
	w := mustOpen(t, dir)
	update(t, w, beat)
	sleeper := exec.Command("sleep", "600")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	id := identityOf(t, sleeper.Process.Pid)
	ctx, cancel := context.WithCancel(t.Context())
	at(t, failpoint.HandoffReleased, cancel)
	var waiting sync.WaitGroup
	waiting.Go(func() { // an update that comes meanwhile waits its turn
		if _, err := w.Update(t.Context(), beat); err != nil {
			t.Error(err)
		}
	})
	err := w.Handoff(ctx, id)
	wantError(t, err, ErrDeadline, "was taken back")
	said.Same(t, "handoff: not folded time", err, dir, "STATE")
	waiting.Wait()
	if v := update(t, w, beat).Version; v.Epoch != w.epoch || v.Revision != 3 {
		t.Errorf("version %v after the lease was taken back in epoch %d", v, w.epoch)
	}
	if l := record(t, dir); l.Handoff != nil || l.Epoch != w.epoch || !l.heldBy(process.Self(), w.epoch) {
		t.Errorf("the record is %+v", l)
	}
	at(t, failpoint.HandoffReleased, func() { sleeper.Process.Kill(); sleeper.Wait() })
	err = w.Handoff(t.Context(), id) // the successor dies in between
	wantError(t, err, ErrGone, "was taken back")
	update(t, w, beat)
	err = w.Handoff(t.Context(), id)
	wantError(t, err, ErrGone)
	_, err = openWatchdog(t, dir, nil)
	wantError(t, err, ErrBusy)
}

// With no time left nothing is let go, however ready the successor is.
func TestHandoffThatIsOverKeepsTheLease(t *testing.T) {
	dir := newState(t)
	w := mustOpen(t, dir)
	next := newActor(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	at(t, failpoint.HandoffMarked, func() { t.Error("the record names the successor") })
	err := w.Handoff(ctx, identityOf(t, next.pid()))
	wantError(t, err, ErrDeadline, "before anything was handed")
	wantError(t, err, context.Canceled)
	update(t, w, beat)
}

// A commit under way is over before the lease goes.
func TestHandoffWaitsForACommit(t *testing.T) {
	dir := newState(t)
	w := mustOpen(t, dir)
	next := newActor(t, dir)
	next.tell("open 1m")
	handoff := make(chan error, 1)
	at(t, failpoint.CommitPublish, func() {
		go func() { handoff <- w.Handoff(t.Context(), identityOf(t, next.pid())) }()
		next.silent(100 * time.Millisecond)
	})
	v := update(t, w, beat).Version
	if err := <-handoff; err != nil {
		t.Fatal(err)
	}
	if said := next.hear(); !strings.HasPrefix(said, "open ") {
		t.Errorf("the successor said %q", said)
	}
	if got := version(t, dir); got != v || v.Epoch != w.epoch {
		t.Errorf("the sidecar is at %v, the commit was %v", got, v)
	}
}

// A successor that stops with the lease in its hands leaves no two holders.
func TestHandoffToAProcessThatStops(t *testing.T) {
	dir := newState(t)
	w := mustOpen(t, dir)
	next := newActor(t, dir)
	next.must("stop "+failpoint.TakeLease, "ready")
	next.tell("open 1m")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { // until it is stopped with the lease in its hands
		for ctx.Err() == nil && !strings.Contains(process.Condition(next.pid()), "is stopped") {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	err := w.Handoff(ctx, identityOf(t, next.pid()))
	wantError(t, err, ErrDeadline)
	wantError(t, err, ErrFenced, fmt.Sprintf("process %d holds the lock and is stopped", next.pid()))
	said.Same(t, "handoff: taken and stopped", err, dir, "STATE")
	_, err = w.Update(t.Context(), beat)
	wantError(t, err, ErrFenced)
	next.signal(unix.SIGCONT)
	if said := next.hear(); !strings.HasPrefix(said, "open ") {
		t.Errorf("resumed, the successor said %q", said)
	}
}

// A process that is being retired hands nothing over, and does not wait.
func TestHandoffDuringRetireIsBusy(t *testing.T) {
	dir := newState(t)
	a, next := newActor(t, dir), newActor(t, dir)
	a.open()
	a.must("ignore", "ready")
	p := prepare(t, dir)
	at(t, failpoint.RetireAfterSignal, func() {
		if said := a.hear(); said != "terminated" {
			t.Errorf("it said %q", said)
		}
		if said := a.ask(fmt.Sprintf("handoff %d 1m", next.pid())); !strings.HasPrefix(said, "busy") {
			t.Errorf("it said %q", said)
		}
		a.must("commit", "applied") // it still is the holder
		a.kill()
	})
	if _, err := p.Retire(t.Context(), brief()); err != nil {
		t.Fatal(err)
	}
	_, err := openWatchdog(t, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
}

// A handoff that was killed half-way leaves a name in the record that lets
// nobody through a fence which somebody else keeps shut.
func TestDeadHandoffOpensNoFence(t *testing.T) {
	dir := newState(t)
	old, next := newActor(t, dir), newActor(t, dir)
	old.open()
	old.must("stop "+failpoint.HandoffMarked, "ready")
	old.tell(fmt.Sprintf("handoff %d 1m", next.pid()))
	old.stopped()
	old.kill()
	r := newActor(t, dir)
	r.must("stop "+failpoint.RetireAfterFence, "ready")
	r.tell("retire 1m")
	r.stopped()
	next.tell("open")
	next.silent(50 * time.Millisecond)
	r.signal(unix.SIGCONT)
	if said := r.hear(); said != "already-gone" {
		t.Errorf("the retirer said %q", said)
	}
	if said := next.hear(); !strings.HasPrefix(said, "open ") {
		t.Errorf("the successor said %q", said)
	}
}

// Nor does it let anybody through a fence that a process keeps shut which has
// got the number of the dead holder.
func TestReusedNumberOpensNoFence(t *testing.T) {
	dir := newState(t)
	next := newActor(t, dir)
	w, err := Open(t.Context(), dir, nil, "watchdog", nil)
	if err != nil {
		t.Fatal(err)
	}
	look, err := lookUp(dir, "watchdog")
	if err != nil {
		t.Fatal(err)
	}
	defer look.close()
	fence := look.fence
	l := record(t, dir)
	w.Close()
	l.Holder.Identity.PIDFD++ // of this process's number, and another one
	l.Holder.Identity.Start++
	l.Handoff = &Successor{Identity: identityOf(t, next.pid())}
	writeRecord(t, dir, l)
	if ok, err := fence.Try(); !ok || err != nil {
		t.Fatal(err)
	}
	next.tell("open")
	next.silent(100 * time.Millisecond)
	if err := fence.Release(); err != nil {
		t.Fatal(err)
	}
	if said := next.hear(); !strings.HasPrefix(said, "open ") {
		t.Errorf("it said %q", said)
	}
}

func TestHandoffIsForLeases(t *testing.T) {
	w := openOwner(t, newState(t), "cost", nil)
	wantError(t, w.Handoff(t.Context(), process.Self()), ErrNoLease)
}
