package sidecar

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/sidecar/internal/testkit/inject"
	"github.com/google/go-cmp/cmp"
)

func init() { roles["curate"] = roleCurate }

// roleCurate does in one commit what can go wrong by half: it raises a maximum,
// deletes a key, and makes another one anew that was there.
func roleCurate(args []string) error {
	inject.Begin()
	defer inject.End()
	w, err := Open(context.Background(), args[0], usage(), "creator", nil)
	if err != nil {
		return err
	}
	defer w.Close()
	c, err := w.Update(context.Background(), func(tx *Tx) error { curate(tx); return nil })
	fmt.Print(c.Outcome)
	return err
}

func curate(tx *Tx) {
	skillsMap(tx).Key("kept").Weight().Raise(5)
	skillsMap(tx).Delete("gone")
	skillsMap(tx).Delete("anew")
	skillsMap(tx).Key("anew").CreatedBy().Set("again")
}

// Row FA4: wherever a commit is killed that raises a maximum, deletes a key and
// makes another one anew, all of it is there or nothing; a key that was deleted
// is not back, and what others had attached to it is not either.
func TestKillAtEveryCallOfAMapsCommitLeavesOldOrNew(t *testing.T) {
	if err := inject.Available(); err != nil {
		t.Skipf("system calls cannot be intercepted: %v", err)
	}
	const before = `{"anew":{"created_by":"me"},"gone":{"created_by":"me"},"kept":{"weight":3}}`
	const after = `{"anew":{"created_by":"again"},"kept":{"weight":5}}`
	var s usageState
	var born Version
	plan := inject.Plan{Marked: true, Action: inject.KillBefore}.AtChanges()
	for k, r := range inject.EveryCall(t, func(int) (inject.Command, inject.Plan) {
		s = newUsage(t)
		s.update("creator", func(tx *Tx) {
			skillsMap(tx).Key("kept").Weight().Raise(3)
			skillsMap(tx).Key("gone").CreatedBy().Set("me")
			skillsMap(tx).Key("anew").CreatedBy().Set("me")
		})
		s.update("tool", func(tx *Tx) {
			for _, key := range []string{"kept", "gone", "anew"} {
				skillsPart(tx).Key(key).UseCount().Add(7)
			}
		})
		born = s.born("creator", "anew")
		return inject.Command{Path: os.Args[0], Args: []string{s.dir}, Env: append(os.Environ(), roleVar+"=curate")}, plan
	}) {
		got, uses := s.stored("creator")["skills"], usesOf(s)
		same := s.born("creator", "anew") == born
		switch {
		case got == before && same && uses == "anew 7, gone 7, kept 7" && len(r.Stdout) == 0:
		case got == after && !same && uses == "kept 7":
		default:
			t.Fatalf("at call %d, %v: it said %q; the same incarnation: %v; used: %s; skills: %s", k, r, r.Stdout, same, uses, got)
		}
		s.update("creator", curate)
		s.wantStored("creator", map[string]string{"skills": after})
		if uses := usesOf(s); uses != "kept 7" {
			t.Fatalf("at call %d, %v: after the next commit the uses are %s", k, r, uses)
		}
		if diff := cmp.Diff([]string{"creator.json", "tool.json"}, names(t, s.dir)); diff != "" {
			t.Fatalf("at call %d, %v: left behind (-want +got):\n%s", k, r, diff)
		}
	}
}

// usesOf returns what the tool sees of its part.
func usesOf(s usageState) string {
	s.Helper()
	var all []string
	s.update("tool", func(tx *Tx) {
		all = nil
		for _, key := range []string{"anew", "gone", "kept"} {
			if n, ok := skillsPart(tx).Key(key).UseCount().Get(); ok {
				all = append(all, fmt.Sprintf("%s %d", key, n))
			}
		}
	})
	return strings.Join(all, ", ")
}

// Row FA11: the recovery from a killed commit may be killed too, at any step.
func TestACommitAndItsRecoveryMayBothBeKilled(t *testing.T) {
	if err := inject.Available(); err != nil {
		t.Skipf("system calls cannot be intercepted: %v", err)
	}
	t.Parallel()
	calls := []string{"fsync", "renameat", "unlinkat"}
	if inject.Thorough() {
		calls = append(calls, "openat", "write")
	}
	kill := func(dir string, at int) inject.Result {
		t.Helper()
		command := inject.Command{Path: os.Args[0], Args: []string{dir}, Env: append(os.Environ(), roleVar+"=commit")}
		plan := inject.Plan{Marked: true, Action: inject.KillBefore, At: at, Calls: calls}
		r, err := inject.Run(t.Context(), command, plan)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	applied := func(r inject.Result) (n int) { return strings.Count(string(r.Stdout), "applied") }
	for first := 1; ; first++ {
		ended := false
		for second := 1; ; second++ {
			dir := fmt.Sprintf("%s/%d-%d", t.TempDir(), first, second)
			before := starts[2].make(t, dir)
			a, b := kill(dir, first), kill(dir, second)
			least := before + applied(a) + applied(b)
			c := update(t, openOwner(t, dir, "cost", nil), addTurns(100))
			if got := mustAtoi(t, stored(t, dir, "turns")) - 100; c.Outcome != Applied || got < least || got > before+2 {
				t.Fatalf("turns was %d, and is %d after a run that was %v and one that was %v", before, got, a, b)
			}
			if diff := cmp.Diff([]string{"cost.json"}, names(t, dir)); diff != "" {
				t.Fatalf("left behind (-want +got):\n%s", diff)
			}
			if ended = a.Hit == nil; b.Hit == nil || ended {
				break
			}
		}
		if ended {
			return
		}
	}
}
