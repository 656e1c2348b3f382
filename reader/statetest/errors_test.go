package statetest_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
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

	// No test can write into a state that exists, by moving that to its own's place.
	exists := statetest.State(t, declaration(), []setting{})
	before, err := os.ReadDir(exists)
	if err != nil {
		t.Fatal(err)
	}
	p := &place{recorder: recorder{TB: t}}
	p.settled = func() {
		at := filepath.Join(p.dir, "shop")
		if err := errors.Join(os.Rename(at, at+".away"), os.Rename(exists, at)); err != nil {
			t.Error(err)
		}
	}
	arm := func(*statetest.Maker) { p.armed = true }
	done = make(chan struct{})
	go func() {
		defer close(done)
		statetest.State(p, declaration(), []setting{arm, statetest.Before(best(1))})
	}()
	<-done
	said.Same(t, "another state in its place", errors.New(p.fatal), p.dir, "DIR")
	at := filepath.Join(p.dir, "shop")
	if after, err := os.ReadDir(at); err != nil || len(after) != len(before) {
		t.Errorf("the state that existed has %v, and had %v (%v)", after, before, err)
	}
	if err := errors.Join(os.Rename(at, exists), os.Rename(at+".away", at)); err != nil {
		t.Error(err)
	}
}

// A place says where the test's temporary directory is, and calls settled in the
// last code of the caller before a write, once it is armed.
type place struct {
	recorder
	dir     string
	armed   bool
	settled func()
}

func (p *place) Helper() {
	if p.armed {
		p.armed = false
		p.settled()
	}
}

func (p *place) TempDir() string {
	p.dir = p.recorder.TempDir()
	return p.dir
}

// TestErrorsAreAllTold fails for an error that no test of the package provokes.
func TestErrorsAreAllTold(t *testing.T) { said.Complete(t) }
