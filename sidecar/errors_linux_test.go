package sidecar

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// failed returns the error of an Update, which must fail.
func failed(t *testing.T, w *Writer, fn func(*Tx)) error {
	t.Helper()
	_, err := w.Update(t.Context(), func(tx *Tx) error {
		fn(tx)
		return nil
	})
	return err
}

// TestErrorsSayWhatToDo provokes what an Update can be refused for.
func TestErrorsSayWhatToDo(t *testing.T) {
	dir := newState(t)
	Damaged(dir, "sidecar-unreadable")
	w := openOwner(t, dir, "cost", nil)
	same := func(how string, err error) {
		t.Helper()
		said.Same(t, how, err, dir, "STATE")
	}
	same("update: a condition", failed(t, w, func(tx *Tx) { tx.IfVersion(Version{Epoch: 1, Revision: 1, Nonce: "0000000000000"}) }))
	same("update: another owner's field", failed(t, w, func(tx *Tx) { tx.Apply(Op{Field: "cleared", Verb: schema.VerbSet, Value: []byte("true")}) }))
	same("update: a hostile value", failed(t, w, func(tx *Tx) { tx.Apply(Op{Field: "ratio", Verb: schema.VerbSet, Value: []byte("\x1b[2J")}) }))
	same("update: a key of no map", failed(t, w, func(tx *Tx) { tx.GetKey("note", "k", "") }))
	same("update: keys of no map", failed(t, w, func(tx *Tx) { tx.Keys("note") }))
	same("update: no set", failed(t, w, func(tx *Tx) { SetOf(tx, "note", schema.String).Has("x") }))
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	_, err := w.Update(ctx, addTurns(1))
	same("update: given up", err)

	update(t, w, addTurns(1))
	whole := readFile(t, sidecarPath(dir, "cost"))
	for how, text := range map[string]string{
		"foreign": strings.Replace(whole, `"turns":1`, `"turns":2`, 1), "invalid": whole[:40], "too large": strings.Repeat(" ", 1<<20+1),
		"a newer format": strings.Replace(whole, `"format":1`, `"format":2`, 1), "a type of another": `{"turns":"x\u001b[2J"}`, "another owner's field": `{"cleared":true}`,
	} {
		if err := os.WriteFile(sidecarPath(dir, "cost"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		same("update: the sidecar is "+how, failed(t, w, func(*Tx) {}))
		if _, err := Accept(t.Context(), dir, "cost", nil); err != nil {
			same("accept: the sidecar is "+how, err)
		}
	}
	if err := errors.Join(os.Remove(sidecarPath(dir, "cost")), os.Mkdir(sidecarPath(dir, "cost"), 0o700)); err != nil {
		t.Fatal(err)
	}
	same("update: the sidecar is a directory", failed(t, w, func(*Tx) {}))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	same("update: the writer is closed", failed(t, w, func(*Tx) {}))
	_, err = Quarantine(t.Context(), dir, "reset", nil)
	same("quarantine: there is nothing", err)
}

// TestErrorsSayWhatToDoOfMaps is about maps of several owners.
func TestErrorsSayWhatToDoOfMaps(t *testing.T) {
	s := newUsage(t)
	s.update("creator", create)
	s.update("tool", use)
	same := func(how string, err error) {
		t.Helper()
		said.Same(t, how, err, s.dir, "STATE")
	}
	var labels []Op
	for i := range schema.MaxElements + 1 {
		labels = append(labels, Op{Field: "labels", Verb: schema.VerbInsert, Value: []byte(`"` + strings.Repeat("x", i%8) + process.NewNonce() + `"`)})
	}
	w := s.open("tool")
	same("update: too many elements", failed(t, w, func(tx *Tx) {
		for _, op := range labels {
			tx.Apply(op)
		}
	}))
	same("update: too many keys", failed(t, w, func(tx *Tx) {
		for i := range schema.MaxKeys + 1 {
			tx.Apply(Op{Field: "seen", Verb: schema.VerbRaise, Key: fmt.Sprint("k", i), Value: []byte("1")})
		}
	}))
	text := s.text("tool")
	s.overwrite("tool", `{"skills":{"\u001b[2J\u202e":{"use_count":1}}}`)
	_, err := Accept(t.Context(), s.dir, "tool", nil)
	same("accept: a hostile key", err)
	s.overwrite("tool", `{"skills":{"absent":{"use_count":1}}}`)
	_, err = Accept(t.Context(), s.dir, "tool", nil)
	same("accept: a key that nobody created", err)
	s.overwrite("tool", text)
	creator := s.text("creator")
	for how, text := range map[string]string{
		"foreign": strings.Replace(creator, "deploy", "depl0y", 1), "a newer format": strings.Replace(creator, `"format":1`, `"format":2`, 1), "too large": strings.Repeat(" ", 1<<20+1),
	} {
		s.overwrite("creator", text)
		same("update: the keys' sidecar is "+how, failed(t, w, use))
	}
	s.overwrite("creator", strings.Repeat(" ", 1<<20+1))
	s.overwrite("tool", `{"skills":{"absent":{"use_count":1}}}`)
	same("update: a key of another hand's, and the keys' sidecar is too large", failed(t, w, use))
	s.overwrite("tool", text)
	path := sidecarPath(s.dir, "creator")
	if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
		t.Fatal(err)
	}
	same("update: the keys' sidecar is a directory", failed(t, w, use))
}

// TestErrorsSayWhatToDoOfTheQuarantine is about what cannot be kept.
func TestErrorsSayWhatToDoOfTheQuarantine(t *testing.T) {
	dir := newState(t)
	Damaged(dir, "irregular", "sidecar-foreign")
	update(t, openOwner(t, dir, "cost", nil), setNote("first"))
	path := sidecarPath(dir, "cost")
	for _, err := range []error{
		os.WriteFile(path, []byte(strings.Replace(readFile(t, path), "first", "other", 1)), 0o600),
		os.WriteFile(filepath.Join(dir, ".freehold", "quarantine"), nil, 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := Accept(t.Context(), dir, "cost", nil)
	said.Same(t, "accept: no copy can be kept", err, dir, "STATE")
	if err := os.Remove(filepath.Join(dir, ".freehold", "quarantine")); err != nil {
		t.Fatal(err)
	}
	failpoint.Set(func(step string) { // the place of the file is taken again
		if step == failpoint.CommitPublish {
			os.Mkdir(path, 0o700)
		}
	})
	defer failpoint.Set(nil)
	Damaged(dir, "sidecar-unreadable")
	_, err = Quarantine(t.Context(), dir, "cost", nil)
	said.Same(t, "quarantine: no empty one", err, dir, "STATE")
}

// TestErrorsSayWhatToDoOfOwners is about opening and looking.
func TestErrorsSayWhatToDoOfOwners(t *testing.T) {
	dir := newState(t)
	same := func(how string, err error) {
		t.Helper()
		said.Same(t, how, err, dir, "STATE")
	}
	_, err := Open(t.Context(), dir, nil, "nobody\x1b", nil)
	same("open: no such owner", err)
	_, err = LeaseStatus(dir, "cost")
	same("lease: of a shared owner", err)
	shared := openOwner(t, dir, "cost", nil)

	w := mustOpen(t, dir)
	fence, err := w.openLock(statedir.OwnerFence("watchdog"))
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := fence.Try(); !ok {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Open(ctx, dir, nil, "watchdog", nil)
	same("open: the fence is shut", err)
	fence.Close()
	held, release := holdLock(t, dir, "cost")
	defer release()
	same("update: another process holds the lock", failed(t, shared, func(*Tx) {}))
	_ = held

	if err := os.Remove(recordPath(dir)); err != nil {
		t.Fatal(err)
	}
	notices := make(chan error, 9)
	w.notice = func(err error) { notices <- err }
	update(t, w, beat)
	same("notice: the record was gone", <-notices)
	if err := errors.Join(w.Close(), os.WriteFile(recordPath(dir), []byte("{"), 0o600)); err != nil {
		t.Fatal(err)
	}
	next, err := openWatchdog(t, dir, &Options{Notice: func(err error) { notices <- err }})
	if err != nil {
		t.Fatal(err)
	}
	same("notice: the record was damaged", <-notices)
	l := record(t, dir)
	l.Epoch += 1000
	l.Holder.Identity.Nonce = "another"
	writeRecord(t, dir, l)
	same("update: a later epoch has begun", failed(t, next, func(*Tx) {}))
}

// TestErrorsSayWhatToDoOfLostLocks is about a lease whose lock file is gone.
func TestErrorsSayWhatToDoOfLostLocks(t *testing.T) {
	dir := newState(t)
	Damaged(dir, "lock-lost")
	w := mustOpen(t, dir)
	lease := filepath.Join(dir, ".freehold", statedir.OwnerLease("watchdog"))
	if err := os.Remove(lease); err != nil {
		t.Fatal(err)
	}
	said.Same(t, "update: the lease's lock is gone", failed(t, w, func(*Tx) {}), dir, "STATE")
}

// TestErrorsSayWhatToDoOfClaims is about once fields.
func TestErrorsSayWhatToDoOfClaims(t *testing.T) {
	dir := newLatches(t)
	w := openLatches(t, dir, "hook", nil)
	same := func(how string, err error) {
		t.Helper()
		said.Same(t, how, err, dir, "STATE")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	_, _, err := w.Claim(ctx, "fired")
	same("claim: given up", err)
	_, _, err = w.Claim(t.Context(), "turn")
	same("claim: a field that cannot be claimed", err)
	same("update: read a once field", failed(t, w, func(tx *Tx) { tx.Get("fired") }))

	whole := claimsOf
	defer func() { claimsOf = whole }()
	for how, fake := range map[string]fakeClaim{
		"made, and not synced":      {fs.ErrNotExist, true, errors.New("input/output error"), nil},
		"made where nobody looks":   {fs.ErrNotExist, true, store.Lost, nil},
		"not made":                  {fs.ErrNotExist, false, errors.New("no space left on device"), nil},
		"another's, and not synced": {nil, false, nil, errors.New("input/output error")},
		"unreadable":                {errors.New("input/output error"), false, nil, nil},
		"not to be read":            {fs.ErrPermission, false, nil, nil},
		"too large":                 {statedir.ErrTooLarge, false, nil, nil},
	} {
		claimsOf = whole
		if fake.read == nil {
			if _, _, err := w.Claim(t.Context(), "fired"); err != nil {
				t.Fatal(err)
			}
		}
		unwitness(t, dir)
		claimsOf = func(c *statedir.Claim) claimFile { fake := fake; return fakeClaimFile{fake, c} }
		_, by, err := w.Claim(t.Context(), "fired")
		said.Same(t, "claim: "+how, err, dir, "STATE", by.ID, "CLAIM")
	}
	claimsOf = whole
	if err := os.WriteFile(claimPath(dir, "ended"), []byte("{\x1b"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err = w.Claim(t.Context(), "ended")
	same("claim: what stands there is none", err)
	if err := os.WriteFile(sidecarPath(dir, "hook"), []byte(`{"fired":"2026-08-11T09:12:44Z"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Accept(t.Context(), dir, "hook", nil)
	same("accept: a once field in the sidecar", err)
}

// A fakeClaim fails in these ways.
type fakeClaim struct {
	read          error
	made          bool
	publish, sync error
}

type fakeClaimFile struct {
	fakeClaim
	whole *statedir.Claim
}

func (f fakeClaimFile) Read(buf []byte) ([]byte, error) {
	if f.read != nil {
		return nil, f.read
	}
	return f.whole.Read(buf)
}
func (f fakeClaimFile) Publish([]byte) (bool, error) { return f.made, f.publish }
func (f fakeClaimFile) Sync() error                  { return f.sync }

// TestErrorsSayWhatToDoOfQueues is about updates that wait for one another.
func TestErrorsSayWhatToDoOfQueues(t *testing.T) {
	dir := newState(t)
	w := openOwner(t, dir, "cost", &Options{Wait: 20 * time.Millisecond})
	inside, leave := make(chan struct{}), make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.Update(context.Background(), func(*Tx) error { close(inside); <-leave; return nil })
	}()
	<-inside
	said.Same(t, "update: another one of the program takes long", failed(t, w, func(*Tx) {}), dir, "STATE")
	close(leave)
	<-done
}

// TestErrorsAreAllTold fails for an error that no test of the package provokes.
func TestErrorsAreAllTold(t *testing.T) { said.Complete(t) }
