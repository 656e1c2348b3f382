package hook_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/freehold-dev/freehold/owners/session"
	"github.com/freehold-dev/freehold/owners/session/hook"
	"github.com/freehold-dev/freehold/owners/session/sessiontest"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/adopt"
	"github.com/google/go-cmp/cmp"
)

const id = "S-042"

// a lookup returns three items and counts how often it is asked.
type lookup struct {
	mu    sync.Mutex
	count int
	err   error
}

func (l *lookup) look(context.Context) ([]hook.Item, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count++
	return []hook.Item{{ID: "fact:1", Text: "one"}, {ID: "rule:2", Text: "two"}, {ID: "fact:3", Text: "three"}}, l.err
}

func inject(t *testing.T, dir string, c hook.Call) hook.Injection {
	t.Helper()
	c.Session = id
	in, err := hook.Inject(t.Context(), dir, c, &sidecar.Options{Create: true, Program: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func ids(in hook.Injection) string {
	var all []string
	for _, item := range in.Items {
		all = append(all, item.ID)
	}
	return strings.Join(all, " ")
}

func view(t *testing.T, dir string) session.View {
	t.Helper()
	r, err := session.Open(dir, id)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	v, err := r.View(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func turn(t *testing.T, dir string) uint64 {
	t.Helper()
	n, err := view(t, dir).Turn().OrUnset(0)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// The law of problem B: of many copies at once, one looks the items up and gets
// them.
func TestOneOfManyCallsInjects(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sessions")
	var l lookup
	var got []string
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			in := inject(t, dir, hook.Call{Look: l.look})
			mu.Lock()
			defer mu.Unlock()
			if len(in.Items) > 0 || in.First {
				got = append(got, ids(in))
			}
		})
	}
	wg.Wait()
	if diff := cmp.Diff([]string{"fact:1 rule:2 fact:3"}, got); diff != "" {
		t.Errorf("injected (-want +got):\n%s", diff)
	}
	if l.count != 1 || turn(t, dir) != 1 {
		t.Errorf("looked up %d times, and the turn is %d, want 1 and 1", l.count, turn(t, dir))
	}
}

// An item comes again when more than ReinjectTurns turns have passed, and only
// then; the turn never goes back.
func TestAnItemComesAgainAfterItsTurns(t *testing.T) {
	dir := sessiontest.State(t, id, sessiontest.Turn(17), sessiontest.Seen("fact:1", 13), sessiontest.Seen("rule:2", 14))
	var l lookup
	for _, step := range []struct {
		turn, reinject uint64
		want           string
		turnAfter      uint64
	}{
		{17, 3, "fact:1 fact:3", 17}, // the first call; fact:3 was never seen, and 17 − 13 > 3
		{17, 3, "", 17},
		{12, 3, "", 17}, // a late one
		{18, 3, "rule:2", 18},
		{30, 0, "", 30}, // never again
		{30, 11, "fact:1 rule:2 fact:3", 30},
	} {
		in := inject(t, dir, hook.Call{Turn: step.turn, ReinjectTurns: step.reinject, Look: l.look})
		if ids(in) != step.want || in.Turn != step.turnAfter || turn(t, dir) != step.turnAfter {
			t.Errorf("in turn %d: injected %q in turn %d, want %q in %d", step.turn, ids(in), in.Turn, step.want, step.turnAfter)
		}
	}
}

// Case 139: a process that claims and then fails has not injected. The claim
// stands with its claimant; while that process lives no other takes its place.
func TestAFailedLookupInjectsNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sessions")
	failing := &lookup{err: errors.New("no route to the items")}
	_, err := hook.Inject(t.Context(), dir, hook.Call{Session: id, Look: failing.look}, &sidecar.Options{Create: true})
	if !errors.Is(err, failing.err) {
		t.Fatal(err)
	}
	if p, ok := view(t, dir).PretoolFired().Provenance(); !ok || p.PID != os.Getpid() {
		t.Errorf("claimed by %+v", p)
	}
	if keys, err := view(t, dir).Seen().Keys(); err != nil || len(keys) != 0 {
		t.Errorf("seen: %v (%v)", keys, err)
	}
	var l lookup
	if in := inject(t, dir, hook.Call{Look: l.look}); ids(in) != "" || l.count != 0 {
		t.Errorf("injected %q while the one who has claimed lives", ids(in))
	}
}

// A session goes on from its adopted legacy file.
func TestAnAdoptedSessionGoesOn(t *testing.T) {
	dir := sessiontest.State(t, id)
	legacy, err := adopt.Read(t.Context(), "../../../sidecar/adopt/testdata/legacy-context-seen.json")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := legacy.Plan(session.Declaration())
	if err != nil {
		t.Fatal(err)
	}
	name, err := schema.InstanceDir(id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Apply(t.Context(), filepath.Join(dir, name), nil); err != nil {
		t.Fatal(err)
	}
	look := func(context.Context) ([]hook.Item, error) {
		return []hook.Item{{ID: "fact:106312", Text: "seen in turn 3"}, {ID: "fact:700250", Text: "seen in turn 14"}, {ID: "fact:new", Text: "never seen"}}, nil
	}
	in := inject(t, dir, hook.Call{ReinjectTurns: 10, Look: look})
	if ids(in) != "fact:106312 fact:new" || in.Turn != 18 {
		t.Errorf("injected %q in turn %d, want fact:106312 and fact:new in 18", ids(in), in.Turn)
	}
}

func TestASessionWithoutAnIDIsRefused(t *testing.T) {
	_, err := hook.Inject(t.Context(), t.TempDir(), hook.Call{}, nil)
	if !errors.Is(err, schema.ErrInstance) {
		t.Errorf("got %v", err)
	}
}

// A watch of a session sees the turns begin, with types.
func TestASessionIsWatched(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sessions")
	var l lookup
	inject(t, dir, hook.Call{Turn: 1, Look: l.look})
	r, err := session.Open(dir, id)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	last := uint64(0)
	for v, err := range r.Watch(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		n, err := v.Turn().OrUnset(0)
		if err != nil || n < last {
			t.Fatalf("turn %d after %d, %v", n, last, err)
		}
		if last = n; n == 5 {
			return
		}
		inject(t, dir, hook.Call{Turn: n + 1, Look: l.look})
	}
	t.Error("the watch has ended")
}
