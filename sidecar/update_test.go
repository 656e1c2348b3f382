package sidecar

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
	"github.com/shopspring/decimal"
)

func TestUpdateIsAllOrNothing(t *testing.T) {
	dir := newState(t)
	w := openOwner(t, dir, "cost", nil)
	update(t, w, setNote("before"))
	before := readFile(t, sidecarPath(dir, "cost"))

	boom := errors.New("boom")
	for name, fn := range map[string]func(*Tx) error{
		"error": func(tx *Tx) error {
			setNote("after")(tx)
			return boom
		},
		"invalid value": func(tx *Tx) error {
			addTurns(1)(tx)
			setNote("\xff")(tx)
			return nil
		},
		"overflow": func(tx *Tx) error {
			addTurns(1 << 63)(tx)
			addTurns(1 << 63)(tx)
			return nil
		},
		"foreign field": func(tx *Tx) error {
			addTurns(1)(tx)
			ValueOf(tx, "cleared", schema.Bool).Set(true)
			return nil
		},
		"undeclared field": func(tx *Tx) error {
			addTurns(1)(tx)
			ValueOf(tx, "absent", schema.Bool).Set(true)
			return nil
		},
		"wrong verb": func(tx *Tx) error {
			tx.Apply(Op{Field: "turns", Verb: schema.VerbSet, Value: []byte("1")})
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := w.Update(t.Context(), fn)
			want := map[string]error{"error": boom, "foreign field": ErrNotOwner, "undeclared field": ErrNotOwner}[name]
			if want == nil {
				want = ErrValue
			}
			wantError(t, err, want)
			if !same(c, Commit{}) {
				t.Errorf("a failed update returned %+v", c)
			}
			if after := readFile(t, sidecarPath(dir, "cost")); after != before {
				t.Errorf("the sidecar changed to\n%s", after)
			}
		})
	}
}

func TestErrorsNameTheFieldAndItsOwner(t *testing.T) {
	w := openOwner(t, newState(t), "cost", nil)
	_, err := w.Update(t.Context(), func(tx *Tx) error {
		ValueOf(tx, "cleared", schema.Bool).Set(true)
		return nil
	})
	wantError(t, err, ErrNotOwner, "cleared", "belongs to owner reset", "owner cost may not")
	_, err = w.Update(t.Context(), setNote("a\xffb"))
	wantError(t, err, ErrValue, "cost.json", "field note", "UTF-8 at byte 1")
}

// An update that changes nothing is a visible answer, and keeps the file.
//
// Cases 4 and 105: nothing changed is an answer of its own, and touches no file.
func TestUnchangedKeepsTheFile(t *testing.T) {
	dir := newState(t)
	w := openOwner(t, dir, "cost", nil)
	first := update(t, w, setNote("same"))
	if first.Outcome != Applied {
		t.Fatalf("the first commit is %v", first.Outcome)
	}
	before, err := os.Stat(sidecarPath(dir, "cost"))
	if err != nil {
		t.Fatal(err)
	}
	for name, fn := range map[string]func(*Tx) error{
		"nothing":        func(*Tx) error { return nil },
		"same value":     setNote("same"),
		"there and back": func(tx *Tx) error { setNote("x")(tx); return setNote("same")(tx) },
		"clear unset":    func(tx *Tx) error { ValueOf(tx, "ratio", schema.Float).Clear(); return nil },
	} {
		c := update(t, w, fn)
		if c.Outcome != Unchanged || c.Version != first.Version {
			t.Errorf("%s: %v at version %v, want unchanged at %v", name, c.Outcome, c.Version, first.Version)
		}
		after, err := os.Stat(sidecarPath(dir, "cost"))
		if err != nil {
			t.Fatal(err)
		}
		if !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) {
			t.Errorf("%s: the file was replaced", name)
		}
	}
}

// Zero values are values: unset is something else.
func TestUnsetDiffersFromZero(t *testing.T) {
	w := openOwner(t, newState(t), "cost", nil)
	get := func(tx *Tx) [4]bool {
		_, note := ValueOf(tx, "note", schema.String).Get()
		_, turns := CounterOf(tx, "turns", schema.Uint).Get()
		_, peak := MaxOf(tx, "peak", schema.Int).Get()
		_, earliest := MinOf(tx, "earliest", schema.Time).Get()
		return [4]bool{note, turns, peak, earliest}
	}
	update(t, w, func(tx *Tx) error {
		if got := get(tx); got != [4]bool{} {
			t.Errorf("set in a fresh state: %v", got)
		}
		ValueOf(tx, "note", schema.String).Set("")
		CounterOf(tx, "turns", schema.Uint).Add(0)
		MaxOf(tx, "peak", schema.Int).Raise(0)
		MinOf(tx, "earliest", schema.Time).Lower(time.Unix(0, 0))
		return nil
	})
	update(t, w, func(tx *Tx) error {
		if got := get(tx); got != [4]bool{true, true, true, true} {
			t.Errorf("set after zeros were written: %v", got)
		}
		ValueOf(tx, "note", schema.String).Clear()
		if _, ok := ValueOf(tx, "note", schema.String).Get(); ok {
			t.Error("a cleared field is set")
		}
		return nil
	})
}

func TestKindsCombine(t *testing.T) {
	dir := newState(t)
	w := openOwner(t, dir, "cost", nil)
	at := time.Date(2026, 8, 11, 10, 0, 0, 0, time.FixedZone("", 3600))
	for _, step := range []func(*Tx){
		func(tx *Tx) { MaxOf(tx, "peak", schema.Int).Raise(5) },
		func(tx *Tx) { MaxOf(tx, "peak", schema.Int).Raise(-3) },
		func(tx *Tx) { MinOf(tx, "earliest", schema.Time).Lower(at) },
		func(tx *Tx) { MinOf(tx, "earliest", schema.Time).Lower(at.Add(time.Second).UTC()) },
		func(tx *Tx) { CounterOf(tx, "total", schema.Decimal).Add(decimal.RequireFromString("0.1")) },
		func(tx *Tx) { CounterOf(tx, "total", schema.Decimal).Add(decimal.RequireFromString("0.2")) },
	} {
		update(t, w, func(tx *Tx) error { step(tx); return nil })
	}
	for field, want := range map[string]string{"peak": "5", "earliest": `"2026-08-11T09:00:00Z"`, "total": `"0.3"`} {
		if got := stored(t, dir, field); got != want {
			t.Errorf("%s is %s, want %s", field, got, want)
		}
	}
}

// A value read before somebody else's commit is not written back.
//
// Cases 103 and 104: the base of a commit is what is in the file under the lock,
// never what this writer had read or written before.
func TestCommitBuildsOnWhatIsThereNow(t *testing.T) {
	dir := newState(t)
	a, b := openOwner(t, dir, "cost", nil), openOwner(t, dir, "cost", nil)
	update(t, a, func(tx *Tx) error { setNote("a")(tx); MaxOf(tx, "peak", schema.Int).Raise(1); return nil })
	update(t, b, setNote("b"))
	update(t, a, addTurns(1))
	if got := stored(t, dir, "note"); got != `"b"` {
		t.Errorf("note is %s, want the other writer's \"b\"", got)
	}
}

// Case 2: what was decided on an older version is refused, and the other commit
// stays.
func TestIfVersionRefusesAStaleDecision(t *testing.T) {
	dir := newState(t)
	a, b := openOwner(t, dir, "cost", nil), openOwner(t, dir, "cost", nil)
	seen := update(t, a, setNote("seen")).Version
	update(t, b, setNote("meanwhile"))
	_, err := a.Update(t.Context(), func(tx *Tx) error {
		tx.IfVersion(seen)
		return setNote("decided on what was seen")(tx)
	})
	wantError(t, err, ErrConflict, "decide anew")
	if got := stored(t, dir, "note"); got != `"meanwhile"` {
		t.Errorf("note is %s", got)
	}
	update(t, a, func(tx *Tx) error {
		tx.IfVersion(tx.Version())
		return setNote("anew")(tx)
	})
}

func TestVersionsGrow(t *testing.T) {
	w := openOwner(t, newState(t), "cost", nil)
	a := update(t, w, addTurns(1)).Version
	b := update(t, w, addTurns(1)).Version
	if a.Revision != 1 || b.Revision != 2 || a.Epoch != b.Epoch || a.Nonce == b.Nonce {
		t.Errorf("versions %v and %v", a, b)
	}
	if now := uint64(time.Now().UnixMicro()); a.Epoch > now || a.Epoch < now-uint64(time.Minute.Microseconds()) {
		t.Errorf("the epoch %d is not the clock's", a.Epoch)
	}
}

func TestPanicChangesNothingAndBlocksNobody(t *testing.T) {
	dir := newState(t)
	w := openOwner(t, dir, "cost", nil)
	func() {
		defer func() {
			if got := recover(); got != "boom" {
				t.Errorf("recovered %v, want the function's own panic", got)
			}
		}()
		w.Update(t.Context(), func(tx *Tx) error { setNote("x")(tx); panic("boom") })
	}()
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		w.Update(context.Background(), func(tx *Tx) error { setNote("y")(tx); runtime.Goexit(); return nil })
	}()
	<-finished
	update(t, w, addTurns(1))
	if got := stored(t, dir, "note"); got != "unset" {
		t.Errorf("note is %s", got)
	}
}

func TestMisuseOfATxPanics(t *testing.T) {
	w := openOwner(t, newState(t), "cost", nil)
	var kept *Tx
	update(t, w, func(tx *Tx) error { kept = tx; return nil })
	for name, use := range map[string]func(){
		"kept Tx":     func() { setNote("x")(kept) },
		"kept Get":    func() { ValueOf(kept, "note", schema.String).Get() },
		"kept Clear":  func() { ValueOf(kept, "note", schema.String).Clear() },
		"zero Tx":     func() { setNote("x")(&Tx{}) },
		"nil Tx":      func() { setNote("x")(nil) },
		"zero handle": func() { Value[string]{}.Clear() },
		"zero max":    func() { Max[int64]{}.Get() },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.HasPrefix(got, "freehold: ") {
					t.Errorf("recovered %q, want a message of Freehold's", got)
				}
			}()
			use()
		})
	}
}

func TestGoroutinesShareCommitsAndLoseNothing(t *testing.T) {
	failpoint.Set(func(step string) {
		if step == failpoint.CommitPublish {
			time.Sleep(time.Millisecond) // as on a disk, so that others come meanwhile
		}
	})
	defer failpoint.Set(nil)
	dir := newState(t)
	w := openOwner(t, dir, "cost", &Options{Wait: time.Minute})
	const goroutines, each = 64, 20
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for range each {
				if _, err := w.Update(t.Context(), addTurns(1)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	last := update(t, w, setNote("end")).Version
	if got, want := stored(t, dir, "turns"), fmt.Sprint(goroutines*each); got != want {
		t.Errorf("turns is %s, want %s", got, want)
	}
	if last.Revision > goroutines*each/2 {
		t.Errorf("%d updates took %d commits: they were not combined", goroutines*each, last.Revision)
	}
}

// In a shared commit one update's failure is its own.
func TestSharedCommitKeepsFailuresApart(t *testing.T) {
	dir := newState(t)
	w := openOwner(t, dir, "cost", &Options{Wait: time.Minute})
	entered, proceed := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		w.Update(t.Context(), func(*Tx) error { close(entered); <-proceed; return nil })
	})
	<-entered // what comes now shares the next commit
	errs, commits := make([]error, 12), make([]Commit, 12)
	for i := range errs {
		wg.Go(func() {
			defer func() { recover() }()
			commits[i], errs[i] = w.Update(t.Context(), func(tx *Tx) error {
				addTurns(1)(tx)
				switch i % 3 {
				case 1:
					return errors.New("refused")
				case 2:
					panic("boom")
				}
				return nil
			})
		})
	}
	for w.queue.length() < len(errs) {
		time.Sleep(time.Millisecond)
	}
	close(proceed)
	wg.Wait()
	for i, err := range errs {
		if (i%3 == 1) != (err != nil) {
			t.Errorf("update %d: error %v", i, err)
		}
		if i%3 == 0 && (commits[i].Outcome != Applied || commits[i].Version != commits[0].Version) {
			t.Errorf("update %d: %+v, want applied with %v", i, commits[i], commits[0].Version)
		}
	}
	if got := stored(t, dir, "turns"); got != "4" {
		t.Errorf("turns is %s, want 4", got)
	}
}

func TestCloseFinishesWhatIsUnderWayAndRefusesTheRest(t *testing.T) {
	dir := newState(t)
	w := openOwner(t, dir, "cost", nil)
	entered, proceed := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := w.Update(t.Context(), func(tx *Tx) error { close(entered); <-proceed; return addTurns(1)(tx) }); err != nil {
			t.Error(err)
		}
	})
	<-entered
	wg.Go(func() { w.Close() })
	for !w.queue.isClosing() {
		time.Sleep(time.Millisecond)
	}
	_, err := w.Update(t.Context(), addTurns(1))
	wantError(t, err, ErrClosed)
	close(proceed)
	wg.Wait()
	if err := w.Close(); err != nil {
		t.Errorf("closing again: %v", err)
	}
	if got := stored(t, dir, "turns"); got != "1" {
		t.Errorf("turns is %s, want 1", got)
	}
}

func (q *queue) length() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}

func (q *queue) isClosing() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closing
}

// A nil or zero Writer is a mistake of the program, which is told in a sentence.
func TestANilWriterPanicsWithASentence(t *testing.T) {
	for name, w := range map[string]*Writer{"nil": nil, "zero": {}} {
		for call, fn := range map[string]func(){
			"Update":      func() { w.Update(t.Context(), func(*Tx) error { return nil }) },
			"Fold":        func() { w.Fold(t.Context(), 0) },
			"Claim":       func() { OnceOf(w, "fired").Claim(t.Context()) },
			"Begin":       func() { EventOf(w, "at").Begin(t.Context()) },
			"Done":        func() { EventOf(w, "at").Done(t.Context(), EventToken{}) },
			"Close":       func() { w.Close() },
			"Owner":       func() { w.Owner() },
			"StateID":     func() { w.StateID() },
			"Declaration": func() { w.Declaration() },
		} {
			t.Run(name+" "+call, func(t *testing.T) {
				defer func() {
					if said, ok := recover().(string); !ok || !strings.Contains(said, "nil or zero Writer") {
						t.Errorf("it panicked with %q", said)
					}
				}()
				fn()
			})
		}
	}
	defer func() {
		if said, ok := recover().(string); !ok || !strings.Contains(said, "zero Event") {
			t.Errorf("it panicked with %q", said)
		}
	}()
	Event{}.Begin(t.Context())
}
