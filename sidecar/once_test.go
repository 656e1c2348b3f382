package sidecar

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/google/go-cmp/cmp"
)

// latches declares a shared owner, hook, and an exclusive one, boss, each with
// a once field.
func latches() *schema.Declaration {
	once := schema.Field{Type: schema.TypeTime, Kind: schema.Once}
	return &schema.Declaration{State: "session", Owners: map[string]schema.Owner{
		"hook": {Durability: schema.Process, Fields: map[string]schema.Field{"fired": once, "ended": once, "turn": {Type: schema.TypeUint, Kind: schema.Max}}},
		"boss": {Mode: schema.Exclusive, Fields: map[string]schema.Field{"begun": once, "beats": {Type: schema.TypeUint, Kind: schema.Counter}}},
	}}
}

func newLatches(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir() + "/state"
	if err := Create(dir, latches()); err != nil {
		t.Fatal(err)
	}
	return dir
}

func openLatches(t *testing.T, dir, owner string, o *Options) *Writer {
	t.Helper()
	w, err := Open(t.Context(), dir, latches(), owner, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// claimPath is where the claim of a field of hook stands.
func claimPath(dir, field string) string { return dir + "/" + statedir.ClaimFile("hook", field) }

// claimIn returns the claim of a field of hook, which must be whole.
func claimIn(t *testing.T, dir, field string) *document.Claim {
	t.Helper()
	c, err := document.DecodeClaim([]byte(readFile(t, claimPath(dir, field))))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestFirstClaimWinsAndLaterOnesLearnWhoHas(t *testing.T) {
	dir := newLatches(t)
	at := time.Date(2026, 8, 11, 9, 12, 44, 31, time.UTC)
	first := openLatches(t, dir, "hook", &Options{Program: "first", Clock: func() time.Time { return at }})
	won, by, err := OnceOf(first, "fired").Claim(t.Context())
	if err != nil || !won {
		t.Fatalf("the first claim: won %v (%v)", won, err)
	}
	if want := (Claimant{"first", process.Self(), at, by.ID}); by != want || !schema.ValidNonce(by.ID) {
		t.Errorf("claimed by %+v, want %+v", by, want)
	}
	for _, w := range []*Writer{openLatches(t, dir, "hook", &Options{Program: "second"}), first} {
		won, again, err := w.Claim(t.Context(), "fired")
		if won || err != nil || again != by {
			t.Errorf("a later claim: won %v by %+v (%v), want a loss to %+v", won, again, err, by)
		}
	}
	if won, _, err := first.Claim(t.Context(), "ended"); !won || err != nil {
		t.Errorf("another field: won %v (%v)", won, err)
	}
	want := &document.Claim{Owner: "hook", Field: "fired", State: first.manifest.StateID, Nonce: by.ID, At: at,
		Writer: document.Writer{Program: "first", Identity: process.Self()}}
	if diff := cmp.Diff(want, claimIn(t, dir, "fired")); diff != "" {
		t.Errorf("the file (-want +got):\n%s", diff)
	}
	info, err := os.Lstat(claimPath(dir, "fired"))
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("the file has mode %v (%v), want 0600", info.Mode(), err)
	}
}

func TestOneOfManyGoroutinesWins(t *testing.T) {
	dir := newLatches(t)
	w := openLatches(t, dir, "hook", nil)
	var wins []Claimant
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			won, by, err := w.Claim(context.Background(), "fired")
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			if won {
				wins = append(wins, by)
			}
		})
	}
	wg.Wait()
	if len(wins) != 1 {
		t.Errorf("%d claims have won: %v", len(wins), wins)
	}
}

func TestOnceFieldIsNoPartOfACommit(t *testing.T) {
	w := openLatches(t, newLatches(t), "hook", nil)
	for _, verb := range []schema.Verb{schema.VerbSet, schema.VerbClear, schema.VerbRaise, schema.VerbLower, schema.VerbAdd, schema.VerbInsert} {
		_, err := w.Update(t.Context(), func(tx *Tx) error {
			tx.Apply(Op{Field: "fired", Verb: verb, Value: []byte(`"2026-08-11T09:12:44Z"`)})
			return nil
		})
		wantError(t, err, ErrValue, "fired", "claim")
	}
	_, err := w.Update(t.Context(), func(tx *Tx) error { tx.Get("fired"); return nil })
	wantError(t, err, ErrValue, "read it in a view")
	_, _, err = w.Claim(t.Context(), "turn")
	wantError(t, err, ErrValue, "turn", "use raise")
	_, _, err = w.Claim(t.Context(), "begun")
	wantError(t, err, ErrNotOwner, "boss")
	_, _, err = w.Claim(t.Context(), "nothing")
	wantError(t, err, ErrNotOwner)
}

// A claim that was not won and made nothing can be tried again, and the
// directory tells no difference.
func TestClaimThatCannotBeWrittenIsNotWon(t *testing.T) {
	dir := newLatches(t)
	w := openLatches(t, dir, "hook", &Options{Clock: func() time.Time { return time.Time{} }})
	_, _, err := w.Claim(t.Context(), "fired")
	wantError(t, err, ErrValue, "check the clock")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = w.Claim(ctx, "fired")
	wantError(t, err, context.Canceled)
	if names := namesIn(t, dir+"/.freehold/claims/hook"); len(names) != 0 {
		t.Errorf("left: %v", names)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	_, _, err = w.Claim(t.Context(), "fired")
	wantError(t, err, ErrClosed)
}

// scripted is a claim's file whose Publish ends in a chosen way, after it was
// made or not.
type scripted struct {
	claimFile
	make bool
	err  error
}

func (s scripted) Publish(raw []byte) (bool, error) {
	if s.make {
		if made, err := s.claimFile.Publish(raw); err != nil {
			return made, err
		}
	}
	return true, s.err
}

// script puts scripted in the place of the claims of this test.
func script(t *testing.T, make bool, err error) {
	t.Helper()
	before := claimsOf
	claimsOf = func(c *statedir.Claim) claimFile { return scripted{c, make, err} }
	t.Cleanup(func() { claimsOf = before })
}

// After a failed sync nobody knows whether the claim survives; it is not won,
// and ResolveClaim says whose it is.
func TestClaimOfAFailedSyncIsIndeterminateUntilResolved(t *testing.T) {
	dir := newLatches(t)
	w := openLatches(t, dir, "hook", nil)
	for _, there := range []bool{false, true} {
		script(t, there, syscall.EIO)
		won, by, err := w.Claim(t.Context(), "fired")
		if won {
			t.Error("it was won")
		}
		wantError(t, err, ErrIndeterminate, by.ID, "ResolveClaim")
		won, whose, err := ResolveClaim(dir, "hook", "fired", by.ID)
		if err != nil || won != there || there && whose.ID != by.ID || !there && whose != (Claimant{}) {
			t.Errorf("there: %v; resolved as won %v by %+v (%v)", there, won, whose, err)
		}
	}
	_, _, err := ResolveClaim(dir, "hook", "turn", "")
	wantError(t, err, ErrValue)
	_, _, err = ResolveClaim(dir, "nobody", "fired", "")
	wantError(t, err, ErrNotOwner)
}

// Case 31: who has claimed in a place where nobody looks has not won.
func TestClaimWhereNobodyLooksIsNotWon(t *testing.T) {
	dir := newLatches(t)
	w := openLatches(t, dir, "hook", nil)
	for _, lost := range []error{store.Lost, store.Moved} {
		script(t, false, fmt.Errorf("%w: moved", lost))
		won, by, err := w.Claim(t.Context(), "fired")
		if won || by != (Claimant{}) {
			t.Errorf("won %v by %+v", won, by)
		}
		wantError(t, err, lost, "where nobody looks")
	}
	whole := newLatches(t)
	w = openLatches(t, whole, "hook", nil)
	claimsOf = func(c *statedir.Claim) claimFile { return c }
	if _, _, err := w.Claim(t.Context(), "fired"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(whole, whole+".away"); err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"fired", "ended"} {
		won, by, err := w.Claim(t.Context(), field)
		if wantError(t, err, store.Moved); won || by != (Claimant{}) {
			t.Errorf("%s: won %v by %+v", field, won, by)
		}
	}
	if names := namesIn(t, whole+".away/.freehold/claims/hook"); len(names) != 1 {
		t.Errorf("the claims of the state that was moved away are now %q", names)
	}
}

// A program that an upgrade of the state has left behind claims nothing more, and
// learns of no winner: the field may mean another thing by now.
func TestAProgramLeftBehindByAnUpgradeClaimsNothing(t *testing.T) {
	dir := newLatches(t)
	w := openLatches(t, dir, "hook", nil)
	if _, _, err := w.Claim(t.Context(), "ended"); err != nil {
		t.Fatal(err)
	}
	m, err := w.dir.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	delete(m.Declaration.Owners["hook"].Fields, "fired")
	if err := w.dir.WriteManifest(m); err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"fired", "ended"} {
		_, _, err := w.Claim(t.Context(), field)
		wantError(t, err, ErrDeclaration)
	}
	if names := namesIn(t, dir+"/.freehold/claims/hook"); len(names) != 1 {
		t.Errorf("the claims are now %q", names)
	}
}

// An accept between the two readings of a claim frees the field: an alarm counts
// only if both readings raise it.
func TestAClaimIsGoneOnlyIfTwoReadingsAgree(t *testing.T) {
	dir := newLatches(t)
	Damaged(dir, "claim-regressed")
	w := openLatches(t, dir, "hook", nil)
	if _, _, err := w.Claim(t.Context(), "fired"); err != nil {
		t.Fatal(err)
	}
	remove(t, claimPath(dir, "fired"))
	whole := claimsOf
	defer func() { claimsOf = whole }()
	claimsOf = func(c *statedir.Claim) claimFile {
		return &freedMeanwhile{c, func() { // the slot is read, and the claim is not
			claimsOf = whole
			if a, err := Accept(t.Context(), dir, "hook", nil); err != nil || len(a.Freed) != 1 {
				t.Errorf("accepted %+v (%v)", a, err)
			}
		}}
	}
	if won, _, err := w.Claim(t.Context(), "fired"); !won || err != nil {
		t.Errorf("won %v (%v)", won, err)
	}
}

// A freedMeanwhile does something else before its first Read.
type freedMeanwhile struct {
	claimFile
	first func()
}

func (f *freedMeanwhile) Read(buf []byte) ([]byte, error) {
	if f.first != nil {
		f.first()
		f.first = nil
	}
	return f.claimFile.Read(buf)
}

// Nor who has claimed in a state that was moved away in the middle of the call;
// what was claimed there counts if it is put back.
func TestClaimInAStateThatIsMovedMeanwhileIsNotWon(t *testing.T) {
	dir := newLatches(t)
	w := openLatches(t, dir, "hook", nil)
	whole := claimsOf
	defer func() { claimsOf = whole }()
	claimsOf = func(c *statedir.Claim) claimFile {
		return movedBefore{c, func() { // when the field was found free
			claimsOf = whole
			if err := errors.Join(os.Rename(dir, dir+".away"), Create(dir, latches())); err != nil {
				t.Error(err)
			}
		}}
	}
	won, by, err := w.Claim(t.Context(), "fired")
	if won || by != (Claimant{}) {
		t.Errorf("won %v by %+v", won, by)
	}
	wantError(t, err, store.Moved, "where nobody looks")
	if won, _, err := openLatches(t, dir, "hook", nil).Claim(t.Context(), "fired"); !won || err != nil {
		t.Errorf("in the state that is there now: won %v (%v)", won, err)
	}
	if err := errors.Join(os.RemoveAll(dir), os.Rename(dir+".away", dir)); err != nil {
		t.Fatal(err)
	}
	won, by, err = w.Claim(t.Context(), "fired")
	if won || by.Identity != self() || err != nil {
		t.Errorf("put back: won %v by %+v (%v)", won, by, err)
	}
}

// A movedBefore does something else before it publishes.
type movedBefore struct {
	claimFile
	first func()
}

func (f movedBefore) Publish(raw []byte) (bool, error) {
	f.first()
	return f.claimFile.Publish(raw)
}

// An exclusive owner's claim is fenced as its commits are: by the lease file, its
// record and the sidecar.
func TestClaimOfAPassedEpochIsFenced(t *testing.T) {
	for name, pass := range map[string]func(t *testing.T, dir string, epoch uint64){
		"the sidecar is of a later epoch": func(t *testing.T, dir string, epoch uint64) {
			rewrite(t, dir, "boss", func(doc *document.Document) { doc.Version.Epoch = epoch + 1 })
		},
		"the record names a later epoch": func(t *testing.T, dir string, epoch uint64) {
			path := metaPath(dir, statedir.OwnerRecord("boss"))
			later := strings.Replace(readFile(t, path), fmt.Sprintf(`"epoch": %d`, epoch), fmt.Sprintf(`"epoch": %d`, epoch+1), 1)
			if err := os.WriteFile(path, []byte(later), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"the lease file is gone": func(t *testing.T, dir string, _ uint64) {
			path := metaPath(dir, statedir.OwnerLease("boss"))
			if err := os.Rename(path, path+".moved"); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.Rename(path+".moved", path) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := newLatches(t)
			w := openLatches(t, dir, "boss", nil)
			update(t, w, beat)
			pass(t, dir, w.epoch)
			for range 2 {
				_, _, err := w.Claim(t.Context(), "begun")
				wantError(t, err, ErrFenced)
			}
			if names := namesIn(t, dir+"/.freehold/claims/boss"); len(names) != 0 {
				t.Errorf("a fenced process has claimed: %v", names)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if name == "the lease file is gone" {
				return
			}
			next := openLatches(t, dir, "boss", nil)
			if won, _, err := next.Claim(t.Context(), "begun"); !won || err != nil {
				t.Errorf("the holder of the lease: won %v (%v)", won, err)
			}
		})
	}
}

// The claim of an exclusive owner is made under the owner's lock, without which
// no process begins an epoch.
func TestClaimOfAnExclusiveOwnerWaitsForItsLock(t *testing.T) {
	dir := newLatches(t)
	w := openLatches(t, dir, "boss", &Options{Wait: -1})
	lock, err := os.Open(metaPath(dir, statedir.OwnerLock("boss")))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if won, _, err := w.Claim(t.Context(), "begun"); won || !errors.Is(err, ErrBusy) {
		t.Errorf("under another process's lock: won %v (%v)", won, err)
	}
}

// A claim of a shared owner waits for no lock: a stopped commit holds up
// nobody.
func TestClaimWaitsForNobody(t *testing.T) {
	dir := newLatches(t)
	w := openLatches(t, dir, "hook", nil)
	other := openLatches(t, dir, "hook", nil)
	_, err := other.Update(t.Context(), func(tx *Tx) error { // it holds the lock
		won, _, err := w.Claim(t.Context(), "fired")
		if !won {
			t.Errorf("won %v (%v)", won, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Once fields that a newer build declares are claimed after its first Open, by
// it alone.
func TestNewOnceFieldIsClaimedAfterTheManifestHasGrown(t *testing.T) {
	dir := newState(t)
	d := declaration()
	cost := d.Owners["cost"]
	cost.Fields["fired"] = schema.Field{Type: schema.TypeTime, Kind: schema.Once}
	d.Owners["cost"] = cost
	old := openOwner(t, dir, "cost", nil)
	w, err := Open(t.Context(), dir, d, "cost", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if won, _, err := w.Claim(t.Context(), "fired"); !won || err != nil {
		t.Errorf("won %v (%v)", won, err)
	}
	_, _, err = old.Claim(t.Context(), "fired")
	wantError(t, err, ErrNotOwner)
	update(t, old, addTurns(1))
}

// A sidecar in which somebody wrote a once field is not taken as it is: the
// value would count for nothing.
func TestOnceFieldInASidecarIsNotAccepted(t *testing.T) {
	dir := newLatches(t)
	if err := os.WriteFile(sidecarPath(dir, "hook"), []byte(`{"fired": "2026-08-11T09:12:44Z"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Accept(t.Context(), dir, "hook", nil)
	wantError(t, err, ErrValue, "fired", "mend the file")
}
