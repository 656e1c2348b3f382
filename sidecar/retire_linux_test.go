package sidecar

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/retire"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/google/go-cmp/cmp"
)

// brief are the options of tests: time enough for a loaded machine, and not
// for a mistake.
func brief() *retire.Options { return &retire.Options{Grace: time.Minute} }

func prepare(t *testing.T, dir string) *retire.Prepared {
	t.Helper()
	p, err := retire.Prepare(dir, "watchdog")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func codes(r retire.Retirement) (codes []string) {
	for _, p := range r.Proofs {
		codes = append(codes, p.Code)
	}
	return codes
}

func has(r retire.Retirement, code string) bool { return slices.Contains(codes(r), code) }

// signalled reports whether a retirement says that it sent anything.
func signalled(r retire.Retirement) bool {
	return has(r, retire.ProofSignalled) || has(r, retire.ProofKilled) || has(r, retire.ProofStopRun)
}

// at calls do once, when this process comes to a step.
func at(t *testing.T, step string, do func()) {
	t.Helper()
	var once sync.Once
	failpoint.Set(func(now string) {
		if now == step {
			once.Do(do)
		}
	})
	t.Cleanup(func() { failpoint.Set(nil) })
}

func TestRetireEndsExactlyTheHolder(t *testing.T) {
	dir := newState(t)
	old := newActor(t, dir)
	epoch := old.open()
	old.must("drain", "ready")
	next := newActor(t, dir)
	next.must("ignore", "ready") // it would say so if it were signalled
	p := prepare(t, dir)
	if p.Epoch != epoch || p.Holder.Identity.PID != old.pid() || p.Holder.Program != "actor" {
		t.Fatalf("prepared %+v", p)
	}
	at(t, failpoint.RetireAfterFence, func() {
		next.tell("open")
		next.silent(50 * time.Millisecond)
	})
	r, err := p.Run(t.Context(), brief())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{retire.ProofFence, retire.ProofRecord, retire.ProofPinned, retire.ProofIdentity, retire.ProofHolding, retire.ProofSignalled, retire.ProofExited, retire.ProofFree, retire.ProofRecorded}
	if diff := cmp.Diff(want, codes(r)); diff != "" || r.Outcome != retire.Retired {
		t.Errorf("%v, proofs (-want +got):\n%s", r.Outcome, diff)
	}
	if said := old.hear(); !strings.HasPrefix(said, fmt.Sprintf("drained %d.1.", epoch)) {
		t.Errorf("the drained process said %q", said)
	}
	if said := next.hear(); !strings.HasPrefix(said, "open ") {
		t.Errorf("the successor said %q", said)
	}
	next.must("commit", "applied")
	l := record(t, dir)
	if l.Epoch <= epoch || l.Holder.Identity.PID != next.pid() {
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
func die(a *actor) {
	a.t.Helper()
	p, err := process.Open(a.pid())
	if err != nil {
		a.t.Fatal(err)
	}
	defer p.Close()
	a.reap.Lock()
	a.t.Cleanup(a.reap.Unlock)
	a.signal(syscall.SIGKILL)
	if ended, err := p.Wait(a.t.Context(), inVain); !ended || err != nil {
		a.t.Fatalf("a killed actor has not ended (%v)", err)
	}
}

// Problem D: the process dies in the window, a supervisor starts a successor.
func TestDeathAtEveryStepNeverHitsTheSuccessor(t *testing.T) {
	for _, step := range failpoint.Retire {
		for round := range rounds(2, 100) {
			end := map[int]func(*actor){0: (*actor).kill, 1: die}[round%2]
			t.Run(fmt.Sprint(step, "/", round), func(t *testing.T) {
				dir := newState(t)
				old := newActor(t, dir)
				old.open()
				old.must("ignore", "ready")
				next := newActor(t, dir)
				next.must("ignore", "ready")
				p := prepare(t, dir)
				hit := false
				at(t, step, func() {
					hit = true
					end(old)
					next.tell("open")
					if step == failpoint.RetireBeforeFence { // nothing keeps it out yet
						next.lines <- next.hear()
					}
				})
				if slices.Index(failpoint.Retire, step) > slices.Index(failpoint.Retire, failpoint.RetireAfterSignal) {
					end(old) // those steps come only after an end
					end = func(*actor) {}
				}
				r, err := p.Run(t.Context(), brief())
				failpoint.Set(nil)
				switch {
				case errors.Is(err, store.IdentityChanged):
					var changed *retire.IdentityChangedError
					if !errors.As(err, &changed) || changed.Prepared.Holder.Identity != p.Holder.Identity || changed.Current.Holder.Identity.PID != next.pid() {
						t.Errorf("got %+v", err)
					}
				case err != nil:
					t.Error(err)
				case signalled(r) != (r.Outcome == retire.Retired) || !has(r, retire.ProofFree):
					t.Errorf("%v: %v", r.Outcome, r.Proofs)
				}
				if signalled(r) && step != failpoint.RetireAfterSignal {
					t.Errorf("something was sent: %v", r.Proofs)
				}
				if !hit {
					next.tell("open")
				}
				if said := next.hear(); !strings.HasPrefix(said, "open ") {
					t.Errorf("the successor said %q", said)
				}
				next.must("commit", "applied")
				next.silent(0)
			})
		}
	}
}

// A holder that gives its lease back in the window was not retired either.
func TestCloseInTheWindowIsAlreadyGone(t *testing.T) {
	for _, step := range failpoint.Retire[:slices.Index(failpoint.Retire, failpoint.RetireAfterHolding)] {
		t.Run(step, func(t *testing.T) {
			dir := newState(t)
			old := newActor(t, dir)
			old.open()
			old.must("ignore", "ready")
			p := prepare(t, dir)
			at(t, step, func() { old.must("close", "closed") })
			r, err := p.Run(t.Context(), brief())
			if err != nil || r.Outcome != retire.AlreadyGone || signalled(r) || !has(r, retire.ProofFree) || has(r, retire.ProofGone) {
				t.Errorf("%v %v (%v)", r.Outcome, r.Proofs, err)
			}
			old.silent(10 * time.Millisecond)
		})
	}
}

func TestRetireThatIsOverSignalsNobody(t *testing.T) {
	dir := newState(t)
	a := newActor(t, dir)
	a.open()
	a.must("ignore", "ready")
	ctx, cancel := context.WithCancel(t.Context())
	at(t, failpoint.RetireBeforeSignal, cancel)
	r, err := prepare(t, dir).Run(ctx, brief())
	wantError(t, err, store.DeadlinePassed, "before anything was sent")
	said.Same(t, "retire: given up before anything was sent", err, dir, "STATE")
	wantError(t, err, context.Canceled)
	if signalled(r) {
		t.Errorf("something was sent: %v", r.Proofs)
	}
	a.silent(10 * time.Millisecond)
}

// Wherever its time is over, a retirement signals nobody from then on, writes
// down what it has seen, and leaves no fence shut; run again it is the first.
func TestRetireCancelledAtEveryStep(t *testing.T) {
	for i, step := range failpoint.Retire {
		for how, run := range map[string]func(*retire.Prepared, context.Context, *retire.Options) (retire.Retirement, error){
			"Run": (*retire.Prepared).Run,
			"RunWith": func(p *retire.Prepared, ctx context.Context, o *retire.Options) (retire.Retirement, error) {
				return p.RunWith(ctx, shell("kill $1", fmt.Sprint(p.Holder.Identity.PID)), o)
			},
		} {
			t.Run(how+"/"+step, func(t *testing.T) {
				dir := newState(t)
				a := newActor(t, dir)
				a.open()
				seen := i >= slices.Index(failpoint.Retire, failpoint.RetireAfterExit)
				if !seen { // its end is not, so that nothing is left to chance
					a.must("ignore", "ready")
				}
				p := prepare(t, dir)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				at(t, step, cancel)
				r, err := run(p, ctx, &retire.Options{Grace: time.Minute, Kill: true})
				failpoint.Set(nil)
				sent := i >= slices.Index(failpoint.Retire, failpoint.RetireAfterSignal)
				switch {
				case signalled(r) != sent || has(r, retire.ProofKilled):
					t.Errorf("what was sent: %v", r.Proofs)
				case seen && (err != nil || r.Outcome != retire.Retired || !has(r, retire.ProofRecorded)):
					t.Errorf("%v (%v)", r, err)
				case !seen && (!errors.Is(err, store.DeadlinePassed) || !errors.Is(err, context.Canceled) || r.Outcome != retire.NotRetired || !a.alive()):
					t.Errorf("%v (%v)", r, err)
				}
				if s := leaseState(t, dir); s.Fence != 0 || seen == (s.PID == a.pid()) {
					t.Errorf("the lease is %+v", s)
				}
				if !seen {
					if r, err := p.Run(t.Context(), &retire.Options{Grace: 10 * time.Millisecond, Kill: true}); err != nil || r.Outcome != retire.Retired {
						t.Errorf("run again: %v (%v)", r, err)
					}
				}
				mustOpen(t, dir)
			})
		}
	}
}

func TestTwoRetirersRetireOnce(t *testing.T) {
	for range rounds(3, 300) {
		dir := newState(t)
		newActor(t, dir).open()
		a, b := newActor(t, dir), newActor(t, dir)
		a.tell("retire 1m")
		b.tell("retire 1m")
		said := []string{a.hear(), b.hear()}
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
	a := newActor(t, dir)
	a.open()
	r := newActor(t, dir)
	r.must("stop "+failpoint.RetireAfterFence, "ready")
	r.tell("retire 1m")
	r.stopped()
	a.must("commit", "applied") // the holder goes on
	named := fmt.Sprintf("process %d holds the lock and is stopped", r.pid())
	if s := leaseState(t, dir); s.Fence != r.pid() || !strings.Contains(s.FenceCondition, "is stopped") {
		t.Errorf("the state of the lease names %d (%s) at the fence", s.Fence, s.FenceCondition)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var notices []error
	_, err := Open(ctx, dir, nil, "watchdog", &Options{Wait: -1, Notice: func(err error) {
		notices = append(notices, err)
		time.AfterFunc(100*time.Millisecond, cancel) // time enough to be told again
	}})
	wantError(t, err, context.Canceled, "the fence is shut", named)
	said.Same(t, "open: the fence is shut", err, dir, "STATE")
	if len(notices) != 1 {
		t.Fatalf("%d notices, want 1", len(notices))
	}
	wantError(t, notices[0], ErrBusy, named)
	ctx, cancel = context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = prepare(t, dir).Run(ctx, brief())
	wantError(t, err, store.DeadlinePassed, named)
	said.Same(t, "retire: the fence is shut", err, dir, "STATE")
	next := newActor(t, dir)
	next.tell("open 1m")
	next.silent(50 * time.Millisecond)
	a.kill() // the lease is free, and the fence still shut
	next.silent(50 * time.Millisecond)
	r.kill()
	if said := next.hear(); !strings.HasPrefix(said, "open ") {
		t.Errorf("once the retirer was killed the waiting process said %q", said)
	}
}

func TestRetireSaysThatOnlyTheRecordIsMissing(t *testing.T) {
	dir := newState(t)
	Damaged(dir, "lock-lost", "unknown")
	newActor(t, dir).open()
	p := prepare(t, dir)
	at(t, failpoint.RetireAfterLease, func() { os.Rename(metaPath(dir, "watchdog.lock"), metaPath(dir, "gone")) })
	r, err := p.Run(t.Context(), brief())
	wantError(t, err, store.Lost, "only the record does not say so")
	said.Same(t, "retire: only the record is missing", err, dir, "STATE")
	if r.Outcome != retire.Retired || has(r, retire.ProofRecorded) {
		t.Errorf("%v %v", r.Outcome, r.Proofs)
	}
}
