package hook_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/freehold-dev/freehold/owners/hook"
	"github.com/freehold-dev/freehold/schema/errorstest"
)

var said = errorstest.Golden{
	Update: flag.Bool("update", false, "write the golden files anew"),
	Wraps:  []string{"../../sidecar/store", "../../sidecar/internal/statedir", "../../sidecar/internal/status", "../command"},
}

// TestErrorsSayWhatToDo provokes every error of the package.
func TestErrorsSayWhatToDo(t *testing.T) {
	t.Setenv("FREEHOLD_DIR", "")
	t.Chdir(t.TempDir())
	ended, end := context.WithCancelCause(t.Context())
	end(errors.New("the agent went away"))
	h := hook.Hook{Program: "idle", Events: []string{"Stop", "SessionEnd"}}
	for how, c := range map[string]struct {
		ctx   context.Context
		dir   string
		stdin io.Reader
	}{
		"no object":                   {t.Context(), "state", strings.NewReader("{")},
		"a name that is there twice":  {t.Context(), "state", strings.NewReader(`{"hook_event_name":"Stop","hook_event_name":"Stop"}`)},
		"a session cut in the middle": {t.Context(), "state", strings.NewReader(`{"hook_event_name":"Stop","session_id":"s-\ud83d"}`)},
		"another event":               {t.Context(), "state", strings.NewReader(`{"hook_event_name":"Pre\u001b[2JCompact"}`)},
		"too much":                    {t.Context(), "state", io.LimitReader(zeros{}, 5<<20)},
		"an input that fails":         {t.Context(), "state", iotest.ErrReader(errors.New("input/output error: try again"))},
		"no end":                      {ended, "state", blocked{make(chan struct{}), make(chan struct{})}},
		"no state":                    {t.Context(), "", strings.NewReader(`{"hook_event_name":"Stop"}`)},
	} {
		var stderr bytes.Buffer
		if status := h.Run(c.ctx, []string{"-dir", c.dir}, c.stdin, &stderr); status != 0 {
			t.Errorf("%s: status %d, which stands in the agent's way", how, status)
		}
		said.Same(t, how, errors.New(stderr.String()))
	}
	for how, do := range map[string]func(){"work that panics": func() { panic("no such luck") }, "work that ends its goroutine": runtime.Goexit} {
		odd := h
		odd.Do = func(context.Context, string, hook.Input) error {
			do()
			return nil
		}
		var stderr bytes.Buffer
		odd.Run(t.Context(), []string{"-dir", "state"}, strings.NewReader(`{"hook_event_name":"Stop"}`), &stderr)
		said.Same(t, how, errors.New(regexp.MustCompile(`go:\d+`).ReplaceAllString(stderr.String(), "go:LINE")))
	}
	working, stop := context.WithCancelCause(t.Context())
	never := make(chan struct{})
	defer close(never)
	h.Do = func(context.Context, string, hook.Input) error {
		stop(errors.New("the agent went away"))
		<-never
		return nil
	}
	var stderr bytes.Buffer
	h.Run(working, []string{"-dir", "state"}, strings.NewReader(`{"hook_event_name":"Stop"}`), &stderr)
	said.Same(t, "work that does not end", errors.New(stderr.String()))
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// TestErrorsAreAllTold fails for an error that no test of the package provokes.
func TestErrorsAreAllTold(t *testing.T) { said.Complete(t) }
