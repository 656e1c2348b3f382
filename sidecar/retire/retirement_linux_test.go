package retire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/actor"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/google/go-cmp/cmp"
)

func TestRetireEndsExactlyTheHolder(t *testing.T) {
	dir := newState(t)
	old := actor.New(t, dir)
	epoch := old.Open()
	old.Must("drain", "ready")
	next := actor.New(t, dir)
	next.Must("ignore", "ready") // it would say so if it were signalled
	p := prepare(t, dir)
	if p.Epoch != epoch || p.Holder.Identity.PID != old.PID() || p.Holder.Program != "actor" {
		t.Fatalf("prepared %+v", p)
	}
	actor.At(t, failpoint.RetireAfterFence, func() {
		next.Tell("open")
		next.Silent(50 * time.Millisecond)
	})
	r, err := p.Run(t.Context(), brief())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{proofFence, proofRecord, proofPinned, proofIdentity, proofHolding, proofSignalled, proofExited, proofFree, proofRecorded}
	if diff := cmp.Diff(want, codes(r)); diff != "" || r.Outcome != Retired {
		t.Errorf("%v, proofs (-want +got):\n%s", r.Outcome, diff)
	}
	if said := old.Hear(); !strings.HasPrefix(said, fmt.Sprintf("drained %d.1.", epoch)) {
		t.Errorf("the drained process said %q", said)
	}
	if said := next.Hear(); !strings.HasPrefix(said, "open ") {
		t.Errorf("the successor said %q", said)
	}
	next.Must("commit", "applied")
	l := record(t, dir)
	if l.Epoch <= epoch || l.Holder.Identity.PID != next.PID() {
		t.Errorf("the record does not name the successor: %+v", l)
	}
	if len(l.Retired) != 1 || l.Retired[0].Epoch != epoch || l.Retired[0].Outcome != "retired" || l.Retired[0].Identity != p.Holder.Identity {
		t.Errorf("the record does not name who was retired: %+v", l.Retired)
	}
	if text, err := json.Marshal(r); err != nil || !strings.Contains(string(text), `{"outcome":"retired","proofs":[{"code":"fence_shut","says":"`) {
		t.Errorf("as JSON: %s (%v)", text, err)
	}
}

// die kills an actor and leaves it unreaped until the test ends, as a parent
// does that does not look.
func die(a *actor.Actor) {
	a.T.Helper()
	p, err := process.Open(a.PID())
	if err != nil {
		a.T.Fatal(err)
	}
	defer p.Close()
	a.Reap.Lock()
	a.T.Cleanup(a.Reap.Unlock)
	a.Signal(syscall.SIGKILL)
	if ended, err := p.Wait(a.T.Context(), actor.InVain); !ended || err != nil {
		a.T.Fatalf("a killed actor has not ended (%v)", err)
	}
}

// Problem D: the process dies in the window, a supervisor starts a successor.
func TestDeathAtEveryStepNeverHitsTheSuccessor(t *testing.T) {
	for _, step := range failpoint.Retire {
		for round := range actor.Rounds(2, 100) {
			end := map[int]func(*actor.Actor){0: (*actor.Actor).Kill, 1: die}[round%2]
			t.Run(fmt.Sprint(step, "/", round), func(t *testing.T) {
				dir := newState(t)
				old := actor.New(t, dir)
				old.Open()
				old.Must("ignore", "ready")
				next := actor.New(t, dir)
				next.Must("ignore", "ready")
				p := prepare(t, dir)
				hit := false
				actor.At(t, step, func() {
					hit = true
					end(old)
					next.Tell("open")
					if step == failpoint.RetireBeforeFence { // nothing keeps it out yet
						next.Lines <- next.Hear()
					}
				})
				if slices.Index(failpoint.Retire, step) > slices.Index(failpoint.Retire, failpoint.RetireAfterSignal) {
					end(old) // those steps come only after an end
					end = func(*actor.Actor) {}
				}
				r, err := p.Run(t.Context(), brief())
				failpoint.Set(nil)
				switch {
				case errors.Is(err, store.IdentityChanged):
					if r.Current == nil || r.Current.Holder.Identity.PID != next.PID() {
						t.Errorf("got %+v", err)
					}
				case err != nil:
					t.Error(err)
				case signalled(r) != (r.Outcome == Retired) || !has(r, proofFree):
					t.Errorf("%v: %v", r.Outcome, r.Proofs)
				}
				if signalled(r) && step != failpoint.RetireAfterSignal {
					t.Errorf("something was sent: %v", r.Proofs)
				}
				if !hit {
					next.Tell("open")
				}
				if said := next.Hear(); !strings.HasPrefix(said, "open ") {
					t.Errorf("the successor said %q", said)
				}
				next.Must("commit", "applied")
				next.Silent(0)
			})
		}
	}
}

// A holder that gives its lease back in the window was not retired either.
func TestCloseInTheWindowIsAlreadyGone(t *testing.T) {
	for _, step := range failpoint.Retire[:slices.Index(failpoint.Retire, failpoint.RetireAfterHolding)] {
		t.Run(step, func(t *testing.T) {
			dir := newState(t)
			old := actor.New(t, dir)
			old.Open()
			old.Must("ignore", "ready")
			p := prepare(t, dir)
			actor.At(t, step, func() { old.Must("close", "closed") })
			r, err := p.Run(t.Context(), brief())
			if err != nil || r.Outcome != AlreadyGone || signalled(r) || !has(r, proofFree) || has(r, proofGone) {
				t.Errorf("%v %v (%v)", r.Outcome, r.Proofs, err)
			}
			old.Silent(10 * time.Millisecond)
		})
	}
}

func TestRetireThatIsOverSignalsNobody(t *testing.T) {
	dir := newState(t)
	a := actor.New(t, dir)
	a.Open()
	a.Must("ignore", "ready")
	ctx, cancel := context.WithCancel(t.Context())
	actor.At(t, failpoint.RetireBeforeSignal, cancel)
	r, err := prepare(t, dir).Run(ctx, brief())
	wantError(t, err, store.DeadlinePassed, "before anything was sent")
	said.Same(t, "retire: given up before anything was sent", err, dir, "STATE")
	wantError(t, err, context.Canceled)
	if signalled(r) {
		t.Errorf("something was sent: %v", r.Proofs)
	}
	a.Silent(10 * time.Millisecond)
}

// Wherever its time is over, a retirement signals nobody from then on, writes
// down what it has seen, and leaves no fence shut; run again it is the first.
func TestRetireCancelledAtEveryStep(t *testing.T) {
	for i, step := range failpoint.Retire {
		for how, run := range map[string]func(*Prepared, context.Context, *Options) (Retirement, error){
			"Run": (*Prepared).Run,
			"RunWith": func(p *Prepared, ctx context.Context, o *Options) (Retirement, error) {
				return p.RunWith(ctx, shell("kill $1", fmt.Sprint(p.Holder.Identity.PID)), o)
			},
		} {
			t.Run(how+"/"+step, func(t *testing.T) {
				dir := newState(t)
				a := actor.New(t, dir)
				a.Open()
				seen := i >= slices.Index(failpoint.Retire, failpoint.RetireAfterExit)
				if !seen { // its end is not, so that nothing is left to chance
					a.Must("ignore", "ready")
				}
				p := prepare(t, dir)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				actor.At(t, step, cancel)
				r, err := run(p, ctx, &Options{Grace: time.Minute, Kill: true})
				failpoint.Set(nil)
				sent := i >= slices.Index(failpoint.Retire, failpoint.RetireAfterSignal)
				switch {
				case signalled(r) != sent || has(r, proofKilled):
					t.Errorf("what was sent: %v", r.Proofs)
				case seen && (err != nil || r.Outcome != Retired || !has(r, proofRecorded)):
					t.Errorf("%v (%v)", r, err)
				case !seen && (!errors.Is(err, store.DeadlinePassed) || !errors.Is(err, context.Canceled) || r.Outcome != NotRetired || !a.Alive()):
					t.Errorf("%v (%v)", r, err)
				}
				if s := leaseState(t, dir); s.Fence != 0 || seen == (s.PID == a.PID()) {
					t.Errorf("the lease is %+v", s)
				}
				if !seen {
					if r, err := p.Run(t.Context(), &Options{Grace: 10 * time.Millisecond, Kill: true}); err != nil || r.Outcome != Retired {
						t.Errorf("run again: %v (%v)", r, err)
					}
				}
				mustOpen(t, dir)
			})
		}
	}
}

func TestTwoRetirersRetireOnce(t *testing.T) {
	for range actor.Rounds(3, 300) {
		dir := newState(t)
		actor.New(t, dir).Open()
		a, b := actor.New(t, dir), actor.New(t, dir)
		a.Tell("retire 1m")
		b.Tell("retire 1m")
		said := []string{a.Hear(), b.Hear()}
		slices.Sort(said)
		// The second may come so late that nobody is recorded any more.
		if said[1] != "retired" || said[0] != "already-gone" && !strings.Contains(said[0], store.NoHolder.Error()) {
			t.Fatalf("two retirers said %q", said)
		}
	}
}

// A suspended retirement is named to those who wait at the fence, who wait as
// long as they may, and it leaves no fence shut when it is killed.
func TestSuspendedRetireIsNamedToThoseWhoWait(t *testing.T) {
	dir := newState(t)
	a := actor.New(t, dir)
	a.Open()
	r := actor.New(t, dir)
	r.Must("stop "+failpoint.RetireAfterFence, "ready")
	r.Tell("retire 1m")
	r.Stopped()
	a.Must("commit", "applied") // the holder goes on
	named := fmt.Sprintf("process %d holds the lock and is stopped", r.PID())
	if s := leaseState(t, dir); s.Fence != r.PID() || !strings.Contains(s.FenceCondition, "is stopped") {
		t.Errorf("the state of the lease names %d (%s) at the fence", s.Fence, s.FenceCondition)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var notices []error
	_, err := sidecar.Open(ctx, dir, nil, "watchdog", &sidecar.Options{Wait: -1, Notice: func(err error) {
		notices = append(notices, err)
		time.AfterFunc(100*time.Millisecond, cancel) // time enough to be told again
	}})
	wantError(t, err, context.Canceled, "the fence is shut", named)
	if len(notices) != 1 {
		t.Fatalf("%d notices, want 1", len(notices))
	}
	wantError(t, notices[0], sidecar.ErrBusy, named)
	ctx, cancel = context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = prepare(t, dir).Run(ctx, brief())
	wantError(t, err, store.DeadlinePassed, named)
	said.Same(t, "retire: the fence is shut", err, dir, "STATE")
	next := actor.New(t, dir)
	next.Tell("open 1m")
	next.Silent(50 * time.Millisecond)
	a.Kill() // the lease is free, and the fence still shut
	next.Silent(50 * time.Millisecond)
	r.Kill()
	if said := next.Hear(); !strings.HasPrefix(said, "open ") {
		t.Errorf("once the retirer was killed the waiting process said %q", said)
	}
}

func TestRetireSaysThatOnlyTheRecordIsMissing(t *testing.T) {
	dir := newState(t)
	statetest.Damaged(dir, "lock-lost", "unknown")
	actor.New(t, dir).Open()
	p := prepare(t, dir)
	actor.At(t, failpoint.RetireAfterLease, func() { os.Rename(metaPath(dir, "watchdog.lock"), metaPath(dir, "gone")) })
	r, err := p.Run(t.Context(), brief())
	wantError(t, err, store.Lost, "only the record does not say so")
	said.Same(t, "retire: only the record is missing", err, dir, "STATE")
	if r.Outcome != Retired || has(r, proofRecorded) {
		t.Errorf("%v %v", r.Outcome, r.Proofs)
	}
}
