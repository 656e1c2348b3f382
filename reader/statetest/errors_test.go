package statetest_test

import (
	"errors"
	"flag"
	"testing"

	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/freehold-dev/freehold/schema/errorstest"
)

var said = errorstest.Golden{Update: flag.Bool("update", false, "write the golden files anew")}

// TestErrorsSayWhatToDo holds what a test is told that sets a field to what it
// cannot have.
func TestErrorsSayWhatToDo(t *testing.T) {
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		statetest.State(r, declaration(), []setting{name("\xff\x1b")})
	}()
	<-done
	said.Same(t, "a value that cannot be", errors.New(r.fatal))
}

// TestErrorsAreAllTold fails for an error that no test of the package provokes.
func TestErrorsAreAllTold(t *testing.T) { said.Complete(t) }
