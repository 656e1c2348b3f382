package reader_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// latches declares once fields of two owners.
func latches() *schema.Declaration {
	once := schema.Field{Type: schema.TypeTime, Kind: schema.Once}
	return &schema.Declaration{State: "session", Owners: map[string]schema.Owner{
		"hook":  {Durability: schema.Process, Fields: map[string]schema.Field{"fired": once, "ended": once, "turn": {Type: schema.TypeUint, Kind: schema.Counter}}},
		"other": {Fields: map[string]schema.Field{"begun": once}},
	}}
}

func newLatches(t *testing.T) (dir string, w *sidecar.Writer) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "state")
	if err := sidecar.Create(dir, latches()); err != nil {
		t.Fatal(err)
	}
	return dir, openHook(t, dir)
}

func openHook(t *testing.T, dir string) *sidecar.Writer {
	t.Helper()
	o := &sidecar.Options{Program: "pretool", Clock: func() time.Time { return now }}
	w, err := sidecar.Open(t.Context(), dir, latches(), "hook", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func openReader(t *testing.T, dir string) *reader.Reader {
	t.Helper()
	r, err := reader.OpenAs(dir, latches())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func claim(t *testing.T, w *sidecar.Writer, field string) sidecar.Claimant {
	t.Helper()
	won, by, err := w.Claim(t.Context(), field)
	if err != nil || !won {
		t.Fatalf("%s: won %v (%v)", field, won, err)
	}
	return by
}

func fired(v *reader.View) reader.Field[time.Time] { return reader.FieldOf(v, "fired", schema.Time) }

func TestViewShowsAClaimWithItsProvenance(t *testing.T) {
	dir, w := newLatches(t)
	r := openReader(t, dir)
	before := view(t, r)
	if _, err := fired(before).Get(); !errors.Is(err, reader.ErrUnset) || !strings.Contains(err.Error(), "not claimed") {
		t.Errorf("an unclaimed field: %v", err)
	}
	if p, ok := fired(before).Provenance(); ok || p.Status != store.Missing || p.Owner != "hook" {
		t.Errorf("the provenance of an unclaimed field: %+v, %v", p, ok)
	}
	by := claim(t, w, "fired")
	after := view(t, r)
	if at, err := fired(after).Get(); err != nil || !at.Equal(now) {
		t.Errorf("claimed at %v (%v), want %v", at, err, now)
	}
	want := reader.Provenance{
		Owner: "hook", File: filepath.Join(dir, store.ClaimFile("hook", "fired")), Claim: by.ID, ChangedAt: now,
		Program: "pretool", PID: os.Getpid(), Status: store.OK,
	}
	if got, ok := fired(after).Provenance(); !ok || got != want {
		t.Errorf("provenance\n%+v, want\n%+v", got, want)
	}
	if before.ID() == after.ID() {
		t.Error("the claim does not show in the id of the view")
	}
	if again := view(t, openReader(t, dir)); again.ID() != after.ID() {
		t.Error("two readers give one cut two ids")
	}
	text, err := after.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"fields":{"fired":"2026-08-11T09:12:44.031Z"}`, `"claim":"` + by.ID + `"`, `"status":"missing"`} {
		if !strings.Contains(string(text), part) {
			t.Errorf("the view as JSON lacks %s:\n%s", part, text)
		}
	}
}

func TestUnchangedClaimsAreLookedAtWithoutAllocation(t *testing.T) {
	dir, w := newLatches(t)
	claim(t, w, "fired")
	r := openReader(t, dir)
	v := view(t, r)
	if v.Consistency() != reader.Atomic {
		t.Errorf("an idle state is read as %s", v.Consistency())
	}
	ctx := context.Background()
	if n := testing.AllocsPerRun(100, func() {
		if again, err := r.View(ctx); again != v || err != nil {
			t.Errorf("got another view, %v", err)
		}
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

// TestWhatIsNoClaimStandsAndSaysSo puts things in the place of a claim that no
// Writer would. None of them reads as unset, and no claim of the field wins.
func TestWhatIsNoClaimStandsAndSaysSo(t *testing.T) {
	whole := func(t *testing.T, field string) []byte {
		dir, w := newLatches(t)
		claim(t, w, field)
		text, err := os.ReadFile(filepath.Join(dir, store.ClaimFile("hook", field)))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	write := func(text func(t *testing.T) []byte) func(*testing.T, string) error {
		return func(t *testing.T, path string) error { return os.WriteFile(path, text(t), 0o600) }
	}
	for name, c := range map[string]struct {
		put  func(t *testing.T, path string) error
		want error
	}{
		"empty":                    {write(func(*testing.T) []byte { return nil }), store.Invalid},
		"half":                     {write(func(t *testing.T) []byte { return whole(t, "fired")[:100] }), store.Invalid},
		"a claim of another state": {write(func(t *testing.T) []byte { return whole(t, "fired") }), store.Foreign},
		"a claim of another field": {write(func(t *testing.T) []byte { return whole(t, "ended") }), store.Foreign},
		"an edited claim": {write(func(t *testing.T) []byte {
			return []byte(strings.Replace(string(whole(t, "fired")), "pretool", "somebody", 1))
		}), store.Foreign},
		"a newer format": {write(func(t *testing.T) []byte {
			return []byte(strings.Replace(string(whole(t, "fired")), `"format":1`, `"format":2`, 1))
		}), store.Newer},
		"a long file":     {func(_ *testing.T, path string) error { return os.WriteFile(path, make([]byte, 1<<20), 0o600) }, store.Invalid},
		"a directory":     {func(_ *testing.T, path string) error { return os.Mkdir(path, 0o700) }, store.Unreadable},
		"a symbolic link": {func(_ *testing.T, path string) error { return os.Symlink("/dev/null", path) }, store.Unreadable},
		"a hard link": {func(t *testing.T, path string) error {
			other := filepath.Join(filepath.Dir(path), ".other")
			return errors.Join(os.WriteFile(other, nil, 0o600), os.Link(other, path))
		}, store.Unreadable},
	} {
		t.Run(name, func(t *testing.T) {
			dir, w := newLatches(t)
			r := openReader(t, dir)
			before := view(t, r)
			path := filepath.Join(dir, store.ClaimFile("hook", "fired"))
			if err := c.put(t, path); err != nil {
				t.Fatal(err)
			}
			v := view(t, r)
			if _, err := fired(v).Get(); !errors.Is(err, c.want) || store.RemedyOf(err).IsZero() {
				t.Errorf("it reads as %v, want %v", err, c.want)
			}
			if v.ID() == before.ID() {
				t.Error("it does not show in the id of the view")
			}
			if _, err := v.MarshalJSON(); err != nil {
				t.Error(err)
			}
			if won, _, err := w.Claim(t.Context(), "fired"); won || !errors.Is(err, c.want) {
				t.Errorf("a claim: won %v (%v), want %v", won, err, c.want)
			}
			if _, err := os.Lstat(path); err != nil {
				t.Errorf("it is gone: %v", err)
			}
		})
	}
}

// TestLostClaimsDoNotReadAsUnset takes the directory of the claims away, and
// puts another in its place: the first process to claim then would be the
// second to win.
func TestLostClaimsDoNotReadAsUnset(t *testing.T) {
	dir, w := newLatches(t)
	claim(t, w, "fired")
	r := openReader(t, dir)
	view(t, r)
	claims := filepath.Join(dir, ".freehold/claims/hook")
	if err := os.Rename(claims, claims+".away"); err != nil {
		t.Fatal(err)
	}
	check := func(what string) {
		t.Helper()
		for _, field := range []string{"fired", "ended"} {
			if _, err := reader.FieldOf(view(t, r), field, schema.Time).Get(); !errors.Is(err, store.Lost) || !errors.Is(err, store.Unreadable) {
				t.Errorf("%s: %s reads as %v", what, field, err)
			}
			if won, _, err := w.Claim(t.Context(), field); won || !errors.Is(err, store.Lost) {
				t.Errorf("%s: the claim of %s: won %v (%v)", what, field, won, err)
			}
		}
	}
	check("missing")
	if err := os.Mkdir(claims, 0o700); err != nil {
		t.Fatal(err)
	}
	check("replaced")
	if err := os.Remove(claims); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(claims+".away", claims); err != nil {
		t.Fatal(err)
	}
	check("a link")
	if err := errors.Join(os.Remove(claims), os.Rename(claims+".away", claims)); err != nil {
		t.Fatal(err)
	}
	if at, err := fired(view(t, r)).Get(); err != nil || !at.Equal(now) {
		t.Errorf("put back, it reads as %v (%v)", at, err)
	}
}

func TestFieldOfANewerBuildIsUnclaimed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	old := latches()
	hook := old.Owners["hook"]
	hook.Fields = map[string]schema.Field{"turn": hook.Fields["turn"]}
	old.Owners["hook"] = hook
	if err := sidecar.Create(dir, old); err != nil {
		t.Fatal(err)
	}
	r := openReader(t, dir)
	if _, err := fired(view(t, r)).Get(); !errors.Is(err, reader.ErrUnset) {
		t.Errorf("it reads as %v", err)
	}
	claim(t, openHook(t, dir), "fired")
	if _, err := fired(view(t, r)).Get(); err != nil {
		t.Errorf("after the manifest has grown it reads as %v", err)
	}
}

// TestNoViewShowsWhatFollowedAClaimWithoutIt lets writers claim and then
// commit, while views are taken: a view with the commit has the claim.
func TestNoViewShowsWhatFollowedAClaimWithoutIt(t *testing.T) {
	d := &schema.Declaration{State: "session", Owners: map[string]schema.Owner{
		"hook": {Durability: schema.Process, Fields: map[string]schema.Field{"turn": {Type: schema.TypeUint, Kind: schema.Counter}}},
	}}
	const fields = 60
	for i := range fields {
		d.Owners["hook"].Fields[fmt.Sprint("f", i)] = schema.Field{Type: schema.TypeTime, Kind: schema.Once}
	}
	dir := filepath.Join(t.TempDir(), "state")
	w, err := sidecar.Open(t.Context(), dir, d, "hook", &sidecar.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	r, err := reader.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		for i := range fields {
			if won, _, err := w.Claim(context.Background(), fmt.Sprint("f", i)); err != nil || !won {
				t.Errorf("won %v (%v)", won, err)
			}
			if _, err := w.Update(context.Background(), func(tx *sidecar.Tx) error {
				sidecar.CounterOf(tx, "turn", schema.Uint).Add(1)
				return nil
			}); err != nil {
				t.Error(err)
			}
		}
	})
	for last := uint64(0); last < fields && !t.Failed(); {
		v := view(t, r)
		if last, err = reader.FieldOf(v, "turn", schema.Uint).OrUnset(0); err != nil {
			t.Fatal(err)
		}
		claims := uint64(0)
		for i := range fields {
			if _, err := v.Field(fmt.Sprint("f", i)).Raw(); err == nil {
				claims++
			}
		}
		// Claims are read last, so one that is not atomic may have more of them.
		if claims < last || v.Consistency() == reader.Atomic && claims > last+1 {
			t.Fatalf("a view that is %s shows %d claims and %d commits that followed one", v.Consistency(), claims, last)
		}
	}
}
