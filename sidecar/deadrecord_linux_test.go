package sidecar

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/actor"
	"github.com/freehold-dev/freehold/sidecar/retire"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// A dead holder leaves a record that many may find at once. Nobody has to break
// or remove anything for the lease, and one of them gets it (C-102, C-120).
func TestDeadRecordOfManyHasOneWinner(t *testing.T) {
	const contenders = 12
	dir := newState(t)
	actors := make([]*actor.Actor, contenders)
	for i := range actors {
		actors[i] = newActor(t, dir)
	}
	for _, how := range []string{"untouched", "recycled number", "another boot", "unreadable", "a dangling link", "a pipe"} {
		dead := newActor(t, dir)
		epoch := dead.Open()
		dead.Kill()
		spoil(t, dir, how)
		for _, a := range actors {
			a.Tell("open")
		}
		var winner *actor.Actor
		for _, a := range actors {
			switch said := a.Hear(); {
			case strings.HasPrefix(said, "open ") && winner == nil:
				winner = a
			case !strings.HasPrefix(said, "busy"):
				t.Fatalf("%s: one said %q", how, said)
			}
		}
		if winner == nil {
			t.Fatalf("%s: nobody won", how)
		}
		if l := record(t, dir); l.Epoch <= epoch || l.Holder.Identity.PID != winner.PID() {
			t.Errorf("%s: after epoch %d the record is %+v, and process %d won", how, epoch, l, winner.PID())
		}
		winner.Must("commit", "applied")
		winner.Must("close", "closed")
	}
}

// A record that is replaced by the same bytes while somebody takes the lease is
// neither believed nor guarded: the taker's stands (C-116).
func TestRecordPutBackWhileALeaseIsTaken(t *testing.T) {
	dir := newState(t)
	a := newActor(t, dir)
	epoch := a.Open()
	a.Kill()
	old := readFile(t, recordPath(dir))
	actor.At(t, failpoint.TakeLease, func() {
		if err := errors.Join(os.WriteFile(recordPath(dir)+".new", []byte(old), 0o600), os.Rename(recordPath(dir)+".new", recordPath(dir))); err != nil {
			t.Error(err)
		}
	})
	w := mustOpen(t, dir)
	if l := record(t, dir); w.epoch <= epoch || !holds(l, w.epoch) {
		t.Errorf("in epoch %d after %d the record is %+v", w.epoch, epoch, l)
	}
	// Put back once more, it takes nothing from the live holder.
	if err := os.WriteFile(recordPath(dir), []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	update(t, w, beat)
	if l := record(t, dir); !holds(l, w.epoch) {
		t.Errorf("the record is %+v", l)
	}
}

// No clock ends a lease, or lets anybody else in (C-09, C-37, C-39, C-124).
func TestNoClockEndsALease(t *testing.T) {
	dir := newState(t)
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	w, err := openWatchdog(t, dir, &Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	for i, jump := range []time.Duration{0, 15 * time.Second, 24 * time.Hour, -48 * time.Hour, 90 * 365 * 24 * time.Hour, -120 * 365 * 24 * time.Hour} {
		now = now.Add(jump)
		_, err := openWatchdog(t, dir, &Options{Clock: clock})
		wantError(t, err, ErrBusy, "is exclusive")
		if v := update(t, w, beat).Version; v.Epoch != w.epoch || v.Revision != uint64(i+1) {
			t.Errorf("after a jump of %v version %v in epoch %d", jump, v, w.epoch)
		}
	}
}

// asStrangersState calls fn as user 65534. If given, it owns the state.
func asStrangersState(t *testing.T, dir string, own bool, fn func() error) error {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root to become another user")
	}
	for parent := filepath.Dir(dir); parent != os.TempDir() && parent != "/"; parent = filepath.Dir(parent) {
		if err := os.Chmod(parent, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if own {
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			return errors.Join(err, os.Lchown(path, 65534, 65534))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	process.Self() // before this process becomes somebody who may not look
	return asStranger(fn)
}

// Another user cannot take a lease that is held, not even where it may write:
// it finds out that it may not, and changes nothing (C-11).
func TestStrangerBreaksNoLease(t *testing.T) {
	dir := newState(t)
	w := mustOpen(t, dir)
	before := readFile(t, recordPath(dir))
	for _, mode := range []os.FileMode{0o700, 0o770, 0o777} {
		for _, path := range []string{dir, dir + "/.freehold"} {
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
		}
		err := asStrangersState(t, dir, false, func() error {
			w, err := Open(t.Context(), dir, nil, "watchdog", nil)
			if err == nil {
				w.Close()
			}
			return err
		})
		if err == nil || !errors.Is(err, store.Unsafe) && !errors.Is(err, fs.ErrPermission) {
			t.Errorf("mode %v: a stranger got %v", mode, err)
		}
	}
	for _, path := range []string{dir, dir + "/.freehold"} {
		if err := os.Chmod(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	update(t, w, beat)
	if readFile(t, recordPath(dir)) != before {
		t.Error("the record changed")
	}
}

// A number that is now another user's process, which may not be signalled,
// keeps no dead holder's lease (C-10), and nobody is retired by it (C-12, C-45).
func TestAnotherUsersNumberKeepsNoLease(t *testing.T) {
	for _, how := range []string{"its own start time", "another start time", "another boot"} {
		t.Run(how, func(t *testing.T) {
			dir := newState(t)
			Damaged(dir, "directory-unsafe")
			a := newActor(t, dir)
			epoch := a.Open()
			a.Kill()
			l := record(t, dir)
			l.Holder.Identity.PID, l.Holder.Identity.PIDFD = 1, 0
			switch first := identityOf(t, 1); how {
			case "its own start time":
				l.Holder.Identity.Start = first.Start
			case "another start time":
				l.Holder.Identity.Start = first.Start + 1
			default:
				l.Holder.Identity.Boot = "00000000-0000-0000-0000-000000000000"
			}
			writeRecord(t, dir, l)
			err := asStrangersState(t, dir, true, func() error {
				p, err := retire.Prepare(dir, "watchdog")
				if err != nil {
					return err
				}
				r, err := p.Run(t.Context(), &retire.Options{Grace: time.Minute})
				sent := func(p retire.Proof) bool { return strings.HasSuffix(p.Code, "_sent") }
				if err != nil || r.Outcome != retire.AlreadyGone || slices.ContainsFunc(r.Proofs, sent) {
					return fmt.Errorf("retired: %v (%w)", r, err)
				}
				w, err := Open(t.Context(), dir, nil, "watchdog", nil)
				if err != nil {
					return err
				}
				defer w.Close()
				if w.epoch <= epoch {
					return fmt.Errorf("epoch %d after %d", w.epoch, epoch)
				}
				_, err = w.Update(t.Context(), beat)
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

func identityOf(t *testing.T, pid int) process.Identity {
	t.Helper()
	id, err := process.IdentityOf(pid)
	if err != nil {
		t.Fatal(err)
	}
	return id
}
