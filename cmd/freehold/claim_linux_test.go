package main

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
)

func latchState(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "state")
	once := schema.Field{Type: schema.TypeTime, Kind: schema.Once}
	d := &schema.Declaration{State: "session", Owners: map[string]schema.Owner{"hook": {Fields: map[string]schema.Field{"a": once, "b": once, "c": once}}}}
	if err := sidecar.Create(dir, d); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Cases 29 and 30: of commands at once, one exits with 0 and all others with 1;
// no other status appears, and the view shows the winner to all.
func TestOneOfManyClaimsExitsWithZero(t *testing.T) {
	dir := latchState(t)
	for _, field := range []string{"a", "b", "c"} {
		var mu sync.Mutex
		statuses := map[int]int{}
		var won string
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() {
				got := runProgram("claim", "hook", field, "--dir", dir, "--json")
				mu.Lock()
				defer mu.Unlock()
				statuses[got.Status]++
				if got.Status == failure.ExitDone {
					_, won, _ = strings.Cut(got.Stdout, `"claim":`)
					won, _, _ = strings.Cut(won, ",")
				}
				if got.Stderr != "" {
					t.Error(got.Stderr)
				}
			})
		}
		wg.Wait()
		if statuses[failure.ExitDone] != 1 || statuses[failure.ExitNegative] != 15 {
			t.Errorf("field %s: statuses %v, want one 0 and fifteen 1", field, statuses)
		}
		if view := must(t, "view", "--json", "--dir", dir); !strings.Contains(view, `"claim":`+won) {
			t.Errorf("field %s: the view does not show claim %s", field, won)
		}
	}
}

// A directory in which this user may not write means "not won", loudly; an
// earlier claim is lost as ever.
func TestAnUnwritableDirectoryIsNotWon(t *testing.T) {
	dir := latchState(t)
	must(t, "claim", "hook", "a", "--dir", dir)
	program := commandFor(t, dir)
	giveAway(t, dir)
	inShell := func(field string) result { // the parent is the same user's
		return asNobody(t, "/bin/sh", "-c", `"$0" claim hook `+field+` --dir "$1"; exit $?`, program, dir)
	}
	got := inShell("b")
	if got.Status != failure.ExitIO || got.Stdout != "" || !strings.Contains(got.Stderr, "permission denied") || !strings.Contains(got.Stderr, "nobody has won") {
		t.Errorf("got %+v", got)
	}
	if got := asNobody(t, program, "get", "b", "--dir", dir); got.Status != failure.ExitNegative {
		t.Errorf("got %+v", got)
	}
	if got := inShell("a"); got.Status != failure.ExitNegative || !strings.Contains(got.Stdout, "lost to") {
		t.Errorf("got %+v", got)
	}
}
