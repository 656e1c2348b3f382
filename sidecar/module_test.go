package sidecar

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
)

// inModule returns the declaration as generated code of a module has it.
func inModule(path string) *schema.Declaration {
	d := declaration()
	d.Module = path
	return d
}

// modulesOf returns the modules that the manifest in dir names.
func modulesOf(t *testing.T, dir string) []string {
	t.Helper()
	m, err := openOwner(t, dir, "cost", nil).dir.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	if m.Declaration.Module != "" {
		t.Errorf("the declaration in the manifest has the module %s", m.Declaration.Module)
	}
	return m.Modules
}

// The first generated writer names its module in the manifest. One of another
// module is told so at its Open, and is noted; commands name no module and are not
// compared. A Writer that was open goes on.
func TestAWriterOfAnotherModuleIsTold(t *testing.T) {
	dir := newState(t)
	Damaged(dir, "other-module")
	var notices []error
	open := func(d *schema.Declaration) *Writer {
		t.Helper()
		w, err := Open(t.Context(), dir, d, "cost", &Options{Notice: func(err error) { notices = append(notices, err) }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { w.Close() })
		return w
	}
	first, second := inModule("first.example/agent"), inModule("second.example/copy")
	for _, step := range []struct {
		d       *schema.Declaration
		modules []string
		notices int
	}{
		{nil, nil, 0},
		{declaration(), nil, 0},
		{first, []string{first.Module}, 0},
		{first, []string{first.Module}, 0},
		{nil, []string{first.Module}, 0},
		{second, []string{first.Module, second.Module}, 1},
		{first, []string{first.Module, second.Module}, 0},
		{second, []string{first.Module, second.Module}, 1},
	} {
		notices = nil
		w := open(step.d)
		if got := modulesOf(t, dir); !slices.Equal(got, step.modules) || len(notices) != step.notices {
			t.Errorf("the manifest names %q and the notices are %q; want %q and %d", got, notices, step.modules, step.notices)
		}
		update(t, w, addTurns(1))
		if step.notices > 0 {
			said.Same(t, "open: another module", notices[0], dir, "STATE")
		}
	}
	if got := stored(t, dir, "turns"); got != "8" {
		t.Errorf("turns is %s, want 8", got)
	}
}

// Of first writers of two modules that open at once one is the first, and all that
// are told of another module are told of that one.
func TestOfTwoModulesAtOnceOneIsFirst(t *testing.T) {
	dir := newState(t)
	Damaged(dir, "other-module")
	var told sync.Map
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			d := inModule([]string{"first.example/agent", "second.example/copy"}[i%2])
			w, err := Open(t.Context(), dir, d, "cost", &Options{Wait: time.Minute, Notice: func(err error) { told.Store(err.Error(), nil) }})
			if err == nil {
				_, err = w.Update(t.Context(), addTurns(1))
				err = errors.Join(err, w.Close())
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	got := modulesOf(t, dir)
	if len(got) != 2 {
		t.Fatalf("the manifest names %q", got)
	}
	for text := range told.Range {
		if !strings.HasSuffix(strings.SplitN(text.(string), ": two programs", 2)[0], "the first writer of the state in module "+got[0]) {
			t.Errorf("the first is %s, and a writer was told %s", got[0], text)
		}
	}
	if got := stored(t, dir, "turns"); got != "8" {
		t.Errorf("turns is %s, want 8", got)
	}
}

// A module that cannot be noted keeps no writer out.
func TestAModuleThatCannotBeNotedStopsNothing(t *testing.T) {
	dir := newState(t)
	lock, err := openOwner(t, dir, "cost", nil).openLock("state.lock")
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := lock.Try(); !ok {
		t.Fatal(err)
	}
	w, err := Open(t.Context(), dir, inModule("first.example/agent"), "cost", &Options{Wait: time.Millisecond})
	lock.Close()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	update(t, w, addTurns(1))
	if got := modulesOf(t, dir); got != nil {
		t.Errorf("the manifest names %q", got)
	}
}
