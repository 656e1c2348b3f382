package statetest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/freehold-dev/freehold/reader/doctor"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// Healthy has the state in dir, or all its instances, looked over when the test
// ends, with the code behind `freehold doctor`, and fails the test for every
// finding. States that this package makes are looked over anyway.
//
// A test that damages a state on purpose says so with [Damaged]. A directory
// that is no state any more is none of its business.
func Healthy(t testing.TB, dir string) {
	t.Helper()
	t.Cleanup(func() {
		if !t.Failed() { // else it has said what is wrong
			CheckUp(t, dir)
		}
	})
}

// CheckUp is what [Healthy] does when the test ends, now: for states of which
// only the end of a test shows where they are.
func CheckUp(t testing.TB, dir string) {
	t.Helper()
	expected, _ := damaged.Load(dir)
	damaged.Delete(dir)
	r, err := doctor.Examine(context.Background(), dir, nil)
	if errors.Is(err, store.NoState) {
		return
	}
	if err != nil {
		t.Errorf("the state was not looked over: %v", err)
		return
	}
	codes, _ := expected.([]string)
	codes = append(slices.Clone(codes), "pending-waiting") // which a slow machine finds where a quick one does not
	for _, f := range r.Findings {
		if !slices.Contains(codes, f.Code) {
			t.Errorf("doctor finds in the state, when the test ends: %s %s %s: %s", f.Code, f.Path, f.Owner, f.Says)
		}
	}
}

// damaged holds the codes that tests have named, by directory.
var damaged sync.Map

// Damaged says that the test damages the state in dir on purpose, so that
// findings of these codes are none of its failures.
func Damaged(dir string, codes ...string) {
	all, _ := damaged.Load(dir)
	known, _ := all.([]string)
	damaged.Store(dir, append(slices.Clone(known), codes...))
}
