package sidecar

import (
	"os"
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/inject"
)

// Row FA7: a fold of many patches that is killed, after any number of their files
// is gone, takes each in once. Without FREEHOLD_EVERY_CALL it is killed at every
// tenth call.
func TestAFoldOfManyStoppedAnywhereTakesEachPatchInOnce(t *testing.T) {
	if err := inject.Available(); err != nil {
		t.Skipf("system calls cannot be intercepted: %v", err)
	}
	t.Parallel()
	const many = 50
	step := 10
	if inject.Thorough() {
		step = 1
	}
	for at := 1; ; at += step {
		dir, w := newSetters(t)
		impatient := openSetter(t, dir, "tool", &Options{Wait: -1})
		locked(t, w, func() {
			for range many {
				update(t, impatient, ops(op("n", schema.VerbAdd, "1")))
			}
		})
		if got := len(pendingNames(t, w)); got != many {
			t.Fatalf("%d pending patches, want %d", got, many)
		}
		impatient.Close()
		w.Close()
		command := inject.Command{Path: os.Args[0], Args: []string{dir, "tool", "n"}, Env: append(os.Environ(), roleVar+"=set")}
		r, err := inject.Run(t.Context(), command, inject.Plan{Marked: true, Action: inject.KillBefore, At: at, Calls: []string{"renameat", "unlinkat", "fsync"}})
		if err != nil {
			t.Fatal(err)
		}
		settles(t, dir, many, r)
		if t.Failed() {
			t.Fatalf("at call %d, %v; stdout %q, stderr %q", at, r, r.Stdout, r.Stderr)
		}
		if r.Hit == nil {
			return
		}
	}
}
