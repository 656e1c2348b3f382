package runtimetest_test

import (
	"testing"
	"time"

	"github.com/freehold-dev/freehold/owners/runtime/runtimetest"
)

// mayRestart is code under test, which has to act on fresh values alone.
var mayRestart = func(fresh bool) bool { return fresh }

// A test gives views to its code: of a fresh value, and of one that a reset has
// overtaken.
func Example() {
	_ = func(t *testing.T) { // func TestRestart(t *testing.T)
		reset := runtimetest.LastContextResetAt(time.Now())
		if v := runtimetest.View(t, reset, runtimetest.LastPromptTokens(180_000)); !mayRestart(v.LastPromptTokens().Freshness().Fresh()) {
			t.Error("a fresh value does not count")
		}
		if v := runtimetest.View(t, reset, runtimetest.LastPromptTokensBefore(180_000)); mayRestart(v.LastPromptTokens().Freshness().Fresh()) {
			t.Error("a stale value counts")
		}
	}
}
