package sidecar

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/document"
	"github.com/freehold-dev/freehold/sidecar/statedir"
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
	if want := (Claimant{"first", statedir.Self(), at, by.ID}); by != want || !statedir.ValidNonce(by.ID) {
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
		Writer: document.Writer{Program: "first", Identity: statedir.Self()}}
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
	for _, verb := range []Verb{Set, Clear, Raise, Lower, Add, Insert} {
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
