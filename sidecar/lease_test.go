package sidecar

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/actor"
	"github.com/freehold-dev/freehold/sidecar/store"
	"golang.org/x/sys/unix"
)

func openWatchdog(t *testing.T, dir string, o *Options) (*Writer, error) {
	t.Helper()
	w, err := Open(t.Context(), dir, declaration(), "watchdog", o)
	if err == nil {
		t.Cleanup(func() { w.Close() })
	}
	return w, err
}

func mustOpen(t *testing.T, dir string) *Writer {
	t.Helper()
	w, err := openWatchdog(t, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestHeldLeaseIsRefusedByName(t *testing.T) {
	dir := newState(t)
	a := newActor(t, dir)
	epoch := a.Open()
	start := time.Now()
	_, err := openWatchdog(t, dir, nil)
	wantError(t, err, ErrBusy, fmt.Sprintf("process %d holds the lock", a.PID()), `program "actor" since `, fmt.Sprintf("in epoch %d", epoch))
	said.Same(t, "open: the lease is held", err, dir, "STATE")
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("refused after %v, want at once", took)
	}
	start = time.Now()
	_, err = openWatchdog(t, dir, &Options{LeaseWait: 100 * time.Millisecond})
	wantError(t, err, ErrBusy)
	if took := time.Since(start); took < 100*time.Millisecond || took > 10*time.Second {
		t.Errorf("waited %v, want about 100ms", took)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = Open(ctx, dir, nil, "watchdog", &Options{LeaseWait: time.Hour})
	wantError(t, err, context.DeadlineExceeded)
	wantError(t, err, ErrBusy)
}

// edits are what may have become of the record of a lease. None is a takeover:
// whoever takes a lease leaves a later epoch.
var edits = map[string]func(path string, l map[string]any) error{
	"untouched":        func(string, map[string]any) error { return nil },
	"removed":          func(path string, _ map[string]any) error { return os.Remove(path) },
	"empty":            func(path string, _ map[string]any) error { return os.WriteFile(path, nil, 0o600) },
	"garbage":          func(path string, _ map[string]any) error { return os.WriteFile(path, []byte("{\x00"), 0o600) },
	"huge":             func(path string, _ map[string]any) error { return os.Truncate(path, 1<<40) },
	"of a newer form":  edit(func(l map[string]any) { l["format"] = 99 }),
	"another owner's":  edit(func(l map[string]any) { l["owner"] = "cost" }),
	"another state's":  edit(func(l map[string]any) { l["state"] = "elsewhere" }),
	"the last epoch":   edit(func(l map[string]any) { l["epoch"] = uint64(1)<<53 - 1 }),
	"beyond all epoch": edit(func(l map[string]any) { l["epoch"] = json.RawMessage("18446744073709551615") }),
	"an earlier epoch": edit(func(l map[string]any) { l["epoch"] = 7 }),
	"naming nobody":    edit(func(l map[string]any) { delete(l, "holder") }),
	"of the future":    edit(func(l map[string]any) { holder(l)["since"] = "2999-01-01T00:00:00Z" }),
	"of the past":      edit(func(l map[string]any) { holder(l)["since"] = "1999-01-01T00:00:00Z" }),
	"another program":  edit(func(l map[string]any) { holder(l)["program"] = "x\x1b[31m" }),
	"recycled number":  edit(func(l map[string]any) { identity(l)["pid"] = os.Getpid() }),
	"absent number":    edit(func(l map[string]any) { identity(l)["pid"] = 1 << 30 }),
	"negative number":  edit(func(l map[string]any) { identity(l)["pid"] = -1 }),
	"number of init":   edit(func(l map[string]any) { identity(l)["pid"] = 1 }),
	"other start":      edit(func(l map[string]any) { identity(l)["start"] = 1 }),
	"no start":         edit(func(l map[string]any) { delete(identity(l), "start") }),
	"no pidfd":         edit(func(l map[string]any) { delete(identity(l), "pidfd") }),
	"another boot":     edit(func(l map[string]any) { identity(l)["boot"] = "00000000-0000-0000-0000-000000000000" }),
	"another space":    edit(func(l map[string]any) { identity(l)["pid_ns"] = 1 }),
	"a dangling link": func(path string, _ map[string]any) error {
		return errors.Join(os.Remove(path), os.Symlink("gone", path))
	},
	"a link out": func(path string, _ map[string]any) error {
		return errors.Join(os.Remove(path), os.Symlink("/etc/passwd", path))
	},
	"a second name": func(path string, _ map[string]any) error { return os.Link(path, path+".twin") },
	"a pipe": func(path string, _ map[string]any) error {
		return errors.Join(os.Remove(path), unix.Mkfifo(path, 0o600))
	},
	"a directory": func(path string, _ map[string]any) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
	"unreadable":  func(path string, _ map[string]any) error { return os.Chmod(path, 0) },
}

func holder(l map[string]any) map[string]any   { return l["holder"].(map[string]any) }
func identity(l map[string]any) map[string]any { return holder(l)["identity"].(map[string]any) }

func edit(change func(map[string]any)) func(string, map[string]any) error {
	return func(path string, l map[string]any) error {
		change(l)
		text, err := json.Marshal(l)
		if err != nil {
			return err
		}
		return os.WriteFile(path, text, 0o600)
	}
}

// spoil edits the record of watchdog's lease.
func spoil(t *testing.T, dir, how string) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(readFile(t, recordPath(dir))))
	decoder.UseNumber()
	var l map[string]any
	if err := decoder.Decode(&l); err != nil {
		t.Fatal(err)
	}
	if err := edits[how](recordPath(dir), l); err != nil {
		t.Fatal(err)
	}
}

// A live process keeps its lease and goes on writing in its epoch, whatever
// stands in the record; a dead one has none, whatever stands there (C-07, C-08,
// C-12, C-43, C-49, C-124).
func TestRecordNeitherGivesNorKeepsALease(t *testing.T) {
	for how := range edits {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			dir := newState(t)
			Damaged(dir, "unknown")
			a := newActor(t, dir)
			epoch := a.Open()
			a.Must("commit", "applied")
			spoil(t, dir, how)
			if s := leaseState(t, dir); s.PID != a.PID() && runtime.GOOS == "linux" {
				t.Errorf("the kernel names process %d, want %d", s.PID, a.PID())
			}
			_, err := openWatchdog(t, dir, nil)
			wantError(t, err, ErrBusy, fmt.Sprintf("process %d holds the lock", a.PID()))
			if v := a.Must("commit", "applied"); !strings.HasPrefix(v, fmt.Sprint(epoch, ".2.")) {
				t.Errorf("it went on at version %s, want revision 2 of epoch %d", v, epoch)
			}
			if l := record(t, dir); l.Epoch != epoch || l.Holder.Identity.PID != a.PID() || l.Holder.Program != "actor" {
				t.Errorf("the record was not mended: %+v", l)
			}
			a.Kill()
			os.Remove(recordPath(dir) + ".twin")
			spoil(t, dir, how)
			w := mustOpen(t, dir)
			if w.epoch <= epoch {
				t.Errorf("the successor got epoch %d after %d", w.epoch, epoch)
			}
			if l := record(t, dir); l.Epoch != w.epoch || l.Holder.Identity != process.Self() {
				t.Errorf("the record does not name the successor: %+v", l)
			}
		})
	}
}

// However long it is stopped, it comes back as the holder (C-09, C-37).
func TestStoppedHolderKeepsItsLease(t *testing.T) {
	dir := newState(t)
	a := newActor(t, dir)
	epoch := a.Open()
	a.Signal(unix.SIGSTOP)
	a.Stopped()
	start := time.Now()
	_, err := openWatchdog(t, dir, &Options{LeaseWait: 200 * time.Millisecond})
	wantError(t, err, ErrBusy, fmt.Sprintf("process %d holds the lock and is stopped", a.PID()))
	if took := time.Since(start); took < 200*time.Millisecond {
		t.Errorf("gave up after %v", took)
	}
	a.Signal(unix.SIGCONT)
	if v := a.Must("commit", "applied"); !strings.HasPrefix(v, fmt.Sprint(epoch, ".1.")) {
		t.Errorf("it went on at version %s, want epoch %d", v, epoch)
	}
}

// A taker that was stopped while it waited does not finish on top of another
// (C-34).
func TestStoppedTakerComesSecond(t *testing.T) {
	for _, step := range []string{"take.fence", "take.lease"} {
		t.Run(step, func(t *testing.T) {
			dir := newState(t)
			first := newActor(t, dir)
			first.Open()
			slow := newActor(t, dir)
			slow.Must("stop "+step, "ready")
			if step == "take.lease" {
				first.Kill()
			}
			slow.Tell("open 100ms")
			slow.Stopped()
			if s := leaseState(t, dir); s.Fence != 0 { // it shares the door, which is no obstacle
				t.Errorf("process %d is said to keep the fence shut", s.Fence)
			}
			first.Kill()
			second, err := openWatchdog(t, dir, nil)
			if step == "take.lease" { // it has the lease, stopped or not
				wantError(t, err, ErrBusy, fmt.Sprintf("process %d holds the lock and is stopped", slow.PID()))
				slow.Signal(unix.SIGCONT)
				if got := slow.Hear(); !strings.HasPrefix(got, "open") {
					t.Errorf("it said %q", got)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			slow.Signal(unix.SIGCONT)
			if got := slow.Hear(); !strings.HasPrefix(got, "busy") {
				t.Errorf("it said %q while process %d held the lease", got, os.Getpid())
			}
			if l := record(t, dir); l.Epoch != second.epoch || !holds(l, second.epoch) {
				t.Errorf("the record is %+v", l)
			}
		})
	}
}

// The fence stays shared until the lease is taken and its epoch recorded: a
// retirement that shuts the fence finds either no new holder or a recorded one.
func TestTheFenceIsSharedUntilTheEpochIsRecorded(t *testing.T) {
	dir := newState(t)
	fence, err := os.Open(metaPath(dir, "watchdog.fence"))
	if err != nil {
		t.Fatal(err)
	}
	defer fence.Close()
	var steps []string
	failpoint.Set(func(now string) {
		steps = append(steps, now)
		if err := unix.Flock(int(fence.Fd()), unix.LOCK_EX|unix.LOCK_NB); !errors.Is(err, unix.EWOULDBLOCK) {
			t.Errorf("at %s the fence can be shut: %v", now, err)
			unix.Flock(int(fence.Fd()), unix.LOCK_UN)
		}
	})
	defer failpoint.Set(nil)
	mustOpen(t, dir)
	failpoint.Set(nil)
	if want := []string{failpoint.TakeFence, failpoint.TakeLease, failpoint.TakeRecord}; !slices.Equal(steps, want) {
		t.Errorf("an Open has the steps %q, want %q", steps, want)
	}
	if err := unix.Flock(int(fence.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		t.Errorf("after the Open the fence cannot be shut: %v", err)
	}
}

// An Open takes no lease in a state that was moved away while the Open waited.
func TestALeaseWhereNobodyLooksIsNotTaken(t *testing.T) {
	dir := newState(t)
	actor.At(t, failpoint.TakeLease, func() {
		if err := errors.Join(os.Rename(dir, dir+".away"), Create(dir, declaration())); err != nil {
			t.Error(err)
		}
	})
	_, err := openWatchdog(t, dir, nil)
	wantError(t, err, store.Moved)
	if text := read(recordPath(dir + ".away")); text != "" {
		t.Errorf("the record there is now %s", text)
	}
	mustOpen(t, dir)
}

// A Close changes the record under the owner's lock, as a taker of the lease does.
func TestCloseChangesTheRecordUnderTheOwnersLock(t *testing.T) {
	dir := newState(t)
	w, err := openWatchdog(t, dir, &Options{Wait: -1})
	if err != nil {
		t.Fatal(err)
	}
	epoch, other := w.epoch, openOwner(t, dir, "cost", nil)
	lock, err := other.openLock("watchdog.lock")
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if ok, err := lock.Try(); !ok {
		t.Fatal(err)
	}
	wantError(t, w.Close(), ErrBusy)
	if l := record(t, dir); !holds(l, epoch) {
		t.Errorf("the record is now %+v", l)
	}
}

// An Open that waits for the owner's lock does not keep the lease meanwhile.
func TestAnOpenThatWaitsHoldsNothing(t *testing.T) {
	dir := newState(t)
	var files []*os.File
	for _, name := range []string{"watchdog.lock", "watchdog.lease"} {
		f, err := os.Open(metaPath(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		files = append(files, f)
	}
	if err := unix.Flock(int(files[0].Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	taken, ended := make(chan bool), make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	actor.At(t, failpoint.TakeLease, func() { close(taken) })
	go func() {
		_, err := Open(ctx, dir, nil, "watchdog", &Options{Wait: time.Hour})
		ended <- err
	}()
	<-taken
	for end := time.Now().Add(10 * time.Second); unix.Flock(int(files[1].Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil; {
		if time.Now().After(end) {
			t.Error("the lease is not free while the Open waits for the owner's lock")
			break
		}
		time.Sleep(time.Millisecond)
	}
	cancel()
	wantError(t, <-ended, ErrBusy)
}

// An Open whose time is over while it takes the lease has it all the same, or
// nothing is left of it.
func TestOpenCancelledAtEveryStep(t *testing.T) {
	for _, step := range []string{failpoint.TakeFence, failpoint.TakeLease, failpoint.TakeRecord} {
		t.Run(step, func(t *testing.T) {
			dir := newState(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			failpoint.Set(func(now string) {
				if now == step {
					cancel()
				}
			})
			w, err := Open(ctx, dir, nil, "watchdog", nil)
			failpoint.Set(nil)
			if err == nil {
				update(t, w, beat)
				err = w.Close()
			} else {
				err = ignore(err, context.Canceled)
			}
			if err != nil {
				t.Fatal(err)
			}
			newActor(t, dir).Open()
			if s := leaseState(t, dir); s.Fence != 0 || s.Disagreement != "" {
				t.Errorf("the lease is %+v", s)
			}
		})
	}
}

// One of many has the lease, and the record is whole at every look (C-42, C-43).
func TestFreshLeaseOfManyHasOneWinner(t *testing.T) {
	const contenders = 16
	dir := newState(t)
	var stop atomic.Bool
	var readers sync.WaitGroup
	readers.Go(func() { // the record is whole at every instant
		for !stop.Load() {
			if s, err := LeaseStatus(dir, "watchdog"); err != nil || s.RecordErr != nil {
				t.Error(err, s.RecordErr)
				return
			}
		}
	})
	defer readers.Wait()
	defer stop.Store(true)
	actors := make([]*actor.Actor, contenders)
	for i := range actors {
		actors[i] = newActor(t, dir)
	}
	epochs := map[uint64]bool{}
	for round := range counted(t, 20) {
		for _, a := range actors {
			a.Tell("open")
		}
		var winner *actor.Actor
		for _, a := range actors {
			switch said := a.Hear(); {
			case strings.HasPrefix(said, "open "):
				if winner != nil {
					t.Fatalf("round %d: two winners", round)
				}
				winner = a
				if epochs[record(t, dir).Epoch] {
					t.Fatalf("round %d: an epoch was issued again", round)
				}
				epochs[record(t, dir).Epoch] = true
			case !strings.HasPrefix(said, "busy"):
				t.Fatalf("round %d: %s", round, said)
			}
		}
		if winner == nil {
			t.Fatalf("round %d: nobody won", round)
		}
		winner.Must("close", "closed")
	}
}

func TestWaitersGetTheLeaseOneByOne(t *testing.T) {
	dir := newState(t)
	a := newActor(t, dir)
	a.Open()
	const waiting = 8
	var actors []*actor.Actor
	for range waiting {
		b := newActor(t, dir)
		b.Tell("open 1m")
		actors = append(actors, b)
	}
	last := record(t, dir).Epoch
	a.Kill()
	got := make(chan *actor.Actor)
	for _, b := range actors {
		go func() { b.Lines <- <-b.Lines; got <- b }()
	}
	for range waiting {
		b := <-got
		if said := b.Hear(); !strings.HasPrefix(said, "open ") {
			t.Fatal(said)
		}
		if l := record(t, dir); l.Epoch <= last || l.Holder.Identity.PID != b.PID() {
			t.Fatalf("after epoch %d the record is %+v, and process %d says that it is the holder", last, l, b.PID())
		} else {
			last = l.Epoch
		}
		b.Kill()
	}
}

// A Writer that nobody remembers still is the owner's live one: its lease goes
// with Close or with the process, not with the garbage.
func TestLeakedWriterKeepsItsLease(t *testing.T) {
	dir := newState(t)
	func() {
		w, err := Open(t.Context(), dir, nil, "watchdog", nil)
		if err != nil {
			t.Fatal(err)
		}
		runtime.AddCleanup(w, func(int) {}, 0)
	}()
	for range 20 {
		runtime.GC()
		a := newActor(t, dir)
		if said := a.Ask("open"); !strings.HasPrefix(said, "busy") {
			t.Fatalf("with a leaked Writer another process opened: %s", said)
		}
		a.Kill()
		if torture {
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// What a newer release put into the record survives an older one's changes.
func TestUnknownMembersOfTheRecordSurvive(t *testing.T) {
	dir := newState(t)
	w := mustOpen(t, dir)
	text := strings.Replace(readFile(t, recordPath(dir)), `"epoch"`, `"news": {"a": [1.50, "x"]}, "epoch"`, 1)
	text = strings.Replace(text, `"holder"`, `"retired": [{"epoch": 5, "identity": {"pid": 3, "nonce": "n"}, "at": "2020-01-01T00:00:00Z", "outcome": "retired", "why": "tired"}], "holder"`, 1)
	if err := os.WriteFile(recordPath(dir), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	update(t, w, beat)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	mustOpen(t, dir)
	now := strings.Join(strings.Fields(readFile(t, recordPath(dir))), "")
	for _, kept := range []string{`"news":{"a":[1.50,"x"]}`, `"why":"tired"`} {
		if !strings.Contains(now, kept) {
			t.Errorf("%s is gone from %s", kept, now)
		}
	}
}

func ignore(err, want error) error {
	if errors.Is(err, want) {
		return nil
	}
	return fmt.Errorf("got %v, want %v", err, want)
}
