package sidecar

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// The law of the house: several processes, one owner, nothing lost.
func TestProcessesLoseNoIncrement(t *testing.T) {
	dir := newState(t)
	const processes, each = 8, 50
	addTogether(t, dir, processes, each)
	if got, want := stored(t, dir, "turns"), fmt.Sprint(processes*each); got != want {
		t.Errorf("turns is %s, want %s", got, want)
	}
}

// addTogether has as many processes add to cost's turns at the same time, each as
// often.
func addTogether(t *testing.T, dir string, processes, each int) {
	t.Helper()
	var wg sync.WaitGroup
	for range processes {
		cmd := roleProcess(t, "add", dir, fmt.Sprint(each))
		wg.Go(func() {
			if err := cmd.Run(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// hold starts a process that holds owner's lock until release is called.
func holdLock(t *testing.T, dir, owner string) (cmd *exec.Cmd, release func()) {
	t.Helper()
	cmd = roleProcess(t, "hold", dir, owner)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("the holder said %q (%v)", line, err)
	}
	return cmd, sync.OnceFunc(func() {
		in.Close()
		io.Copy(io.Discard, out)
		cmd.Wait()
	})
}

func TestBusyOwnerIsAnErrorInTimeAndChangesNothing(t *testing.T) {
	dir := newState(t)
	w := openOwner(t, dir, "cost", &Options{Wait: 50 * time.Millisecond})
	holder, release := holdLock(t, dir, "cost")
	defer release()
	start := time.Now()
	_, err := w.Update(t.Context(), addTurns(1))
	wantError(t, err, ErrBusy, fmt.Sprintf("process %d holds the lock", holder.Process.Pid))
	if took := time.Since(start); took < 50*time.Millisecond || took > 10*time.Second {
		t.Errorf("waited %v, want about 50ms", took)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = w.Update(ctx, addTurns(1))
	wantError(t, err, context.Canceled)
	release()
	if got := stored(t, dir, "turns"); got != "unset" {
		t.Errorf("turns is %s", got)
	}
	update(t, w, addTurns(1))
}

func TestDeadHolderBlocksNobody(t *testing.T) {
	dir := newState(t)
	holder, release := holdLock(t, dir, "cost")
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	holder.Wait()
	defer release()
	update(t, openOwner(t, dir, "cost", nil), addTurns(1))
}

func TestOwnersDoNotWaitForEachOther(t *testing.T) {
	dir := newState(t)
	_, release := holdLock(t, dir, "cost")
	defer release()
	update(t, openOwner(t, dir, "reset", &Options{Wait: -1}), setCleared)
}

func TestExclusiveOwnerHasOneLiveProcess(t *testing.T) {
	dir := newState(t)
	_, release := holdLock(t, dir, "watchdog")
	defer release()
	_, err := Open(t.Context(), dir, declaration(), "watchdog", &Options{Wait: -1})
	wantError(t, err, ErrBusy, "watchdog is exclusive")
	release()
	a, err := Open(t.Context(), dir, declaration(), "watchdog", nil)
	if err != nil {
		t.Fatal(err)
	}
	first := update(t, a, setReason("dead")).Version
	second := update(t, a, setReason("frozen")).Version
	if second.Epoch != first.Epoch || second.Revision != 2 {
		t.Errorf("versions %v and %v within one lease", first, second)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	b := openOwner(t, dir, "watchdog", nil)
	if third := update(t, b, setReason("dead")).Version; third.Epoch <= first.Epoch || third.Revision != 1 {
		t.Errorf("version %v in the lease after %v", third, first)
	}
}

func setReason(reason string) func(*Tx) error {
	return func(tx *Tx) error {
		tx.Apply(Op{Field: "reason", Verb: schema.VerbSet, Value: []byte(`"` + reason + `"`)})
		return nil
	}
}

// stuck is a publisher that fails in a chosen way.
type stuck struct {
	publisher
	err     error
	visible bool
}

func (p stuck) publish(name string, raw []byte, durable bool) error {
	if p.visible {
		if err := p.publisher.publish(name, raw, durable); err != nil {
			return err
		}
	}
	return p.err
}

func TestIndeterminateCommitStopsTheWriterUntilResolved(t *testing.T) {
	for _, visible := range []bool{true, false} {
		t.Run(fmt.Sprintf("visible=%v", visible), func(t *testing.T) {
			dir := newState(t)
			w := openOwner(t, dir, "cost", nil)
			update(t, w, addTurns(1))
			w.publisher = stuck{w.publisher, fmt.Errorf("%w: fsync: input/output error", ErrIndeterminate), visible}
			c, err := w.Update(t.Context(), addTurns(1))
			wantError(t, err, ErrIndeterminate, "Resolve")
			said.Same(t, "update: the sync failed", err, dir, "STATE")
			if c.Version.IsZero() {
				t.Fatal("no version to ask for")
			}
			c2, err := w.Update(t.Context(), addTurns(1))
			wantError(t, err, ErrClosed, "not applied", "open another", "an earlier commit was indeterminate")
			if errors.Is(err, ErrIndeterminate) || !same(c2, Commit{}) {
				t.Errorf("an Update that is not tried is %+v (%v)", c2, err)
			}
			want := NotApplied
			if visible {
				want = Applied
			}
			got, err := Resolve(t.Context(), dir, "cost", c.Version)
			if err != nil || got != want {
				t.Errorf("resolved as %v (%v), want %v", got, err, want)
			}
		})
	}
}

func TestResolveSaysWhenItCannotKnow(t *testing.T) {
	dir := newState(t)
	w := openOwner(t, dir, "reset", nil) // not durable, so quick
	for range document.MaxRecent / 2 {
		update(t, w, setCleared)
		update(t, w, func(tx *Tx) error { tx.Apply(Op{Field: "cleared", Verb: schema.VerbClear}); return nil })
	}
	_, err := Resolve(t.Context(), dir, "reset", Version{Epoch: 1, Revision: 1, Nonce: process.NewNonce()})
	wantError(t, err, store.Unknown)
	lost := Version{Epoch: w.seen.Epoch, Nonce: process.NewNonce()}
	for _, lost.Revision = range []uint64{w.seen.Revision + 1, w.seen.Revision, w.seen.Revision - document.SureRecent + 1} {
		if got, err := Resolve(t.Context(), dir, "reset", lost); got != NotApplied || err != nil {
			t.Errorf("%v, which never came to be, is %v (%v) at %v", lost, got, err, w.seen)
		}
	}
	lost.Revision--
	_, err = Resolve(t.Context(), dir, "reset", lost)
	wantError(t, err, store.Unknown)
}

func TestFailedPublishIsForgotten(t *testing.T) {
	dir := newState(t)
	w := openOwner(t, dir, "cost", nil)
	whole := w.publisher
	full := errors.New("no space left")
	w.publisher = stuck{whole, full, false}
	c, err := w.Update(t.Context(), addTurns(5))
	wantError(t, err, full)
	if !same(c, Commit{}) {
		t.Errorf("a failed update returned %+v", c)
	}
	w.publisher = whole
	update(t, w, addTurns(1))
	if got := stored(t, dir, "turns"); got != "1" {
		t.Errorf("turns is %s, want 1", got)
	}
}

func TestOpenNamesTheOwnersThereAre(t *testing.T) {
	_, err := Open(t.Context(), newState(t), nil, "nobody", nil)
	wantError(t, err, ErrNotOwner, "nobody", "cost, reset and watchdog")
	_, err = Open(t.Context(), t.TempDir(), declaration(), "cost", nil)
	wantError(t, err, store.NoState)
	dir := t.TempDir() + "/made"
	w := openOwner(t, dir, "cost", &Options{Create: true, Program: strings.Repeat("é", 100)})
	update(t, w, addTurns(1))
}

// While a sync failed, nobody may call what is there durable: neither the
// commit nor the next one that finds nothing to change.
func TestFailedSyncOfAnUnchangedSidecarIsIndeterminate(t *testing.T) {
	dir := newState(t)
	w := openOwner(t, dir, "cost", nil)
	update(t, w, setNote("same"))
	if err := w.dir.Close(); err != nil { // so that its sync fails
		t.Fatal(err)
	}
	b := &batch{w: w, base: w.last}
	wantError(t, b.publish(), ErrIndeterminate)
	_, err := w.Update(t.Context(), setNote("same"))
	wantError(t, err, ErrClosed)
	said.Same(t, "update: the sync of an unchanged sidecar failed", err, dir, "STATE")
}

func TestResolveAfterAQuarantineCannotKnow(t *testing.T) {
	dir := newState(t)
	w := openOwner(t, dir, "cost", nil)
	v := update(t, w, setNote("first")).Version
	if _, err := Quarantine(t.Context(), dir, "cost", nil); err != nil {
		t.Fatal(err)
	}
	update(t, w, setNote("anew"))
	_, err := Resolve(t.Context(), dir, "cost", v)
	wantError(t, err, store.Unknown, "moved aside")
	said.Same(t, "resolve: moved aside since", err, dir, "STATE")
}

// How long a program waits is what it was built with, not what another wrote
// into the manifest.
func TestWaitIsTheProgramsOwn(t *testing.T) {
	dir := newState(t)
	built := declaration()
	cost := built.Owners["cost"]
	cost.Busy.Wait = "7s"
	built.Owners["cost"] = cost
	w, err := Open(t.Context(), dir, built, "cost", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if w.wait != 7*time.Second {
		t.Errorf("waits %v, want 7s", w.wait)
	}
}

// thief is a publisher that publishes nothing and gives the owner's lock to
// another process while it is at it.
type thief struct {
	publisher
	w     *Writer
	other *statedir.Lock
}

var errStolen = errors.New("stolen")

func (p thief) publish(string, []byte, bool) error {
	return errors.Join(errStolen, p.w.lock.Release(), p.other.Acquire(context.Background(), 0))
}

// The time in line counts: who comes to lead late has less time left. A machine
// that is slow may take longer; one that does not count it always does.
func TestWaitingInLineCountsAsWaiting(t *testing.T) {
	var took, wait time.Duration
	for wait = 300 * time.Millisecond; wait < 20*time.Second; wait *= 2 {
		if took = lateLead(t, wait); took <= wait+wait/3 {
			return
		}
	}
	t.Errorf("gave up after %v, want %v", took, wait/2)
}

// lateLead returns how long an Update takes that is in line for two thirds of
// its wait, and then finds that another process has the lock.
func lateLead(t *testing.T, wait time.Duration) (took time.Duration) {
	t.Helper()
	dir := newState(t)
	w := openOwner(t, dir, "cost", &Options{Wait: wait})
	other, err := w.openLock(statedir.OwnerLock("cost"))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	w.publisher = thief{w.publisher, w, other}
	entered, proceed := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := w.Update(t.Context(), func(tx *Tx) error { close(entered); <-proceed; return addTurns(1)(tx) })
		if !errors.Is(err, errStolen) {
			t.Errorf("got %v, want %v", err, errStolen)
		}
	})
	<-entered
	start := time.Now()
	over := make(chan struct{})
	wg.Go(func() {
		defer close(over)
		_, err := w.Update(t.Context(), addTurns(1))
		took = time.Since(start)
		if !errors.Is(err, ErrBusy) {
			t.Errorf("got %v, want %v", err, ErrBusy)
		}
	})
	select {
	case <-time.After(2 * wait / 3):
	case <-over: // on a machine that is very slow
	}
	close(proceed)
	wg.Wait()
	return took
}
