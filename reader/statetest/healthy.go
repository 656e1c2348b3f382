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

// Healthy examines the state in dir, or all its instances, with package doctor when
// the test ends, and fails the test for every finding that [Damaged] does not
// name. It is called for each state that this package makes. A directory that is no
// state any more is no failure.
func Healthy(t testing.TB, dir string) {
	t.Helper()
	t.Cleanup(func() {
		if !t.Failed() {
			CheckUp(t, dir)
		}
	})
}

// CheckUp does the work of [Healthy] at once.
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

// Damaged says that the test damages the state in dir on purpose, so that findings
// with these codes are no failures.
func Damaged(dir string, codes ...string) {
	all, _ := damaged.Load(dir)
	known, _ := all.([]string)
	damaged.Store(dir, append(slices.Clone(known), codes...))
}
