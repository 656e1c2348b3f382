package sidecar

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/inject"
)

func init() { roles["claim"] = roleClaim }

// roleClaim claims fired, and prints what it heard.
func roleClaim(args []string) error {
	won, by, err := claimOnce(args[0])
	switch {
	case errors.Is(err, ErrIndeterminate):
		fmt.Print("indeterminate ", by.ID)
	case err != nil:
		return err
	case won:
		fmt.Print("won ", by.ID)
	default:
		fmt.Print("lost ", by.ID)
	}
	return nil
}

// claimOnce is the stretch in which system calls are counted.
func claimOnce(dir string) (bool, Claimant, error) {
	w, err := Open(context.Background(), dir, latches(), "hook", nil)
	if err != nil {
		return false, Claimant{}, err
	}
	defer w.Close()
	inject.Begin()
	defer inject.End()
	return w.Claim(context.Background(), "fired")
}

// everyCallOfAClaim runs roleClaim once for each system call that it makes, and
// interferes with that one. If claimed, another has claimed before.
func everyCallOfAClaim(t *testing.T, claimed bool, plan inject.Plan, check func(dir, before string, r inject.Result)) {
	t.Helper()
	if err := inject.Available(); err != nil {
		t.Skipf("system calls cannot be intercepted: %v", err)
	}
	plan.Marked = true
	var dir, before string // before is the id of the claim that was made before
	for k, r := range inject.EveryCall(t, func(k int) (inject.Command, inject.Plan) {
		dir = newLatches(t)
		if claimed {
			won, by, err := openLatches(t, dir, "hook", nil).Claim(t.Context(), "fired")
			if !won {
				t.Fatal(err)
			}
			before = by.ID
		}
		return inject.Command{Path: os.Args[0], Args: []string{dir}, Env: append(os.Environ(), roleVar+"=claim")}, plan
	}) {
		check(dir, before, r)
		if t.Failed() {
			t.Fatalf("at call %d, %v; stdout %q, stderr %q", k, r, r.Stdout, r.Stderr)
		}
	}
}

// oneWinner holds the law of a crash: the claim is whole or absent; whoever
// comes next wins if it is absent, and else loses to the one who made it; who
// heard that he won or may have won is the one whose claim stands.
func oneWinner(t *testing.T, dir, before string, r inject.Result) {
	t.Helper()
	word, id, _ := strings.Cut(string(r.Stdout), " ")
	raw, err := os.ReadFile(claimPath(dir, "fired"))
	stands := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if stands {
		claim, err := document.DecodeClaim(raw)
		if err != nil || word != "" && claim.Nonce != id {
			t.Errorf("the claim that stands: %+v (%v)", claim, err)
		}
		if word == "" && !r.Killed && claim != nil && claim.Nonce != before {
			t.Error("a claim stands of one who heard that he claimed nothing")
		}
	} else if word != "" {
		t.Error("no claim stands")
	}
	if word == "indeterminate" {
		won, by, err := ResolveClaim(dir, "hook", "fired", id)
		if err != nil || !won || by.ID != id {
			t.Errorf("resolved as won %v by %+v (%v)", won, by, err)
		}
	}
	won, by, err := openLatches(t, dir, "hook", nil).Claim(t.Context(), "fired")
	if err != nil || won == stands || word != "" && by.ID != id {
		t.Errorf("the next claim: won %v by %+v (%v), after one that stands: %v", won, by, err, stands)
	}
	for _, name := range namesIn(t, dir+"/.freehold/claims/hook") {
		if name != "fired" && name != "ended" {
			t.Errorf("%s is left", name)
		}
	}
}

func TestKillAtEveryCallOfAClaimLeavesAWholeOneOrNone(t *testing.T) {
	for _, action := range []inject.Action{inject.KillBefore, inject.KillAfter} {
		for _, claimed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v/claimed=%v", action, claimed), func(t *testing.T) {
				t.Parallel()
				plan := inject.Plan{Action: action}
				if !claimed { // else it changes nothing
					plan = plan.AtChanges()
				}
				everyCallOfAClaim(t, claimed, plan, func(dir, before string, r inject.Result) { oneWinner(t, dir, before, r) })
			})
		}
	}
}

// TestErrorAtEveryCallOfAClaimIsNoVictory holds that a claim that met an error
// says so, and is not won unless all of it was done.
func TestErrorAtEveryCallOfAClaimIsNoVictory(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.EIO, syscall.ENOSPC, syscall.EROFS} {
		for _, persistent := range []bool{false, true} {
			for _, claimed := range []bool{false, true} {
				if claimed && errno != syscall.EIO {
					continue // it writes nothing then
				}
				t.Run(fmt.Sprintf("%v/persistent=%v/claimed=%v", errno, persistent, claimed), func(t *testing.T) {
					t.Parallel()
					plan := inject.Plan{Action: inject.Fail, Errno: errno, Persistent: persistent}
					if errno != syscall.EIO {
						plan = plan.Among(publishing...)
					}
					everyCallOfAClaim(t, claimed, plan, func(dir, before string, r inject.Result) { oneWinner(t, dir, before, r) })
				})
			}
		}
	}
}

func TestInterruptedCallOfAClaimIsTriedAgain(t *testing.T) {
	plan := inject.Plan{Action: inject.Fail, Errno: syscall.EINTR, Calls: []string{"openat", "openat2", "read", "write"}}
	everyCallOfAClaim(t, false, plan, func(_, _ string, r inject.Result) {
		if !strings.HasPrefix(string(r.Stdout), "won ") {
			t.Error("an interrupted call was not tried again")
		}
	})
}
