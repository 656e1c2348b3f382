package hook_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/freehold-dev/freehold/owners/hook"
	"github.com/go-json-experiment/json"
)

// idle is a hook that does nothing and must never be asked to.
func idle(t *testing.T) hook.Hook {
	return hook.Hook{Program: "idle", Events: []string{"Stop"}, Do: func(context.Context, string, hook.Input) error {
		t.Error("the hook did its work without an input")
		return nil
	}}
}

// A panic of the work, or the end of its goroutine, is one line and no stop of the
// agent; a message that quotes a large input is cut.
func TestAPanicIsOneLine(t *testing.T) {
	for name, c := range map[string]struct {
		do   func()
		says string
	}{
		"panic":       {func() { panic("no such luck") }, "panic at hook_test.go:"},
		"nil map":     {func() { map[string]int(nil)["x"] = 1 }, "assignment to entry in nil map"},
		"goexit":      {func() { runtime.Goexit() }, "ended its goroutine alone"},
		"large panic": {func() { panic(strings.Repeat("x", 100_000)) }, "xxx"},
	} {
		t.Run(name, func(t *testing.T) {
			h := hook.Hook{Program: "odd", Events: []string{"Stop"}, Do: func(context.Context, string, hook.Input) error {
				c.do()
				return nil
			}}
			var stderr bytes.Buffer
			status := h.Run(t.Context(), []string{"-dir", "state"}, strings.NewReader(`{"hook_event_name": "Stop"}`), &stderr)
			if said := stderr.String(); status != 0 || !strings.Contains(said, c.says) || strings.Count(said, "\n") != 1 || len(said) > 5000 {
				t.Errorf("status %d, stderr %q", status, said)
			}
		})
	}
}

func TestPatienceBoundsTheWaitForInput(t *testing.T) {
	// The first use of signals starts a goroutine that lasts, which a bubble
	// could not end.
	_, stop := signal.NotifyContext(t.Context(), syscall.SIGTERM)
	stop()
	synctest.Test(t, func(t *testing.T) {
		stdin, agent := io.Pipe()
		defer agent.Close()
		var stderr bytes.Buffer
		start := time.Now()
		status := idle(t).Run(t.Context(), []string{"-dir", "state"}, stdin, &stderr)
		if took := time.Since(start); took != 10*time.Second {
			t.Errorf("it took %v, want 10s", took)
		}
		if want := "idle: standard input: its end did not come: context deadline exceeded: close it after the event\n"; status != 0 || stderr.String() != want {
			t.Errorf("status %d, stderr %q; want 0 and %q", status, &stderr, want)
		}
	})
}

// Work that is stuck is left behind: the agent waits for its hook.
func TestPatienceBoundsTheWork(t *testing.T) {
	_, stop := signal.NotifyContext(t.Context(), syscall.SIGTERM)
	stop()
	synctest.Test(t, func(t *testing.T) {
		never := make(chan struct{})
		defer close(never)
		stuck := hook.Hook{Program: "stuck", Events: []string{"Stop"}, Do: func(context.Context, string, hook.Input) error {
			<-never
			return nil
		}}
		var stderr bytes.Buffer
		start := time.Now()
		status := stuck.Run(t.Context(), []string{"-dir", "state"}, strings.NewReader(`{"hook_event_name": "Stop"}`), &stderr)
		if took := time.Since(start); took != 11*time.Second {
			t.Errorf("it took %v, want 11s", took)
		}
		if want := "stuck: the work did not end: context deadline exceeded: look at the files that it reads; one may be a named pipe\n"; status != 0 || stderr.String() != want {
			t.Errorf("status %d, stderr %q; want 0 and %q", status, &stderr, want)
		}
	})
}

// A blocked input tells when a reader waits, and never comes.
type blocked struct{ waited, never chan struct{} }

func (b blocked) Read([]byte) (int, error) {
	close(b.waited)
	<-b.never
	return 0, io.EOF
}

func TestASignalEndsTheWaitForInput(t *testing.T) {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		stdin := blocked{make(chan struct{}), make(chan struct{})}
		defer close(stdin.never)
		var stderr bytes.Buffer
		ended := make(chan int)
		go func() { ended <- idle(t).Run(t.Context(), []string{"-dir", "state"}, stdin, &stderr) }()
		<-stdin.waited
		if err := self.Signal(sig); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if status := <-ended; status != 0 || !strings.Contains(stderr.String(), sig.String()) {
			t.Errorf("%v: status %d, stderr %q", sig, status, &stderr)
		}
		if took := time.Since(start); took > 9*time.Second {
			t.Errorf("%v: it took %v to end, so it waited its patience out", sig, took)
		}
	}
}

// A hook does its work also if the agent has cut a long text in the middle of a
// character.
func TestTextThatIsCutKeepsNoHookFromItsWork(t *testing.T) {
	for what, text := range map[string]string{
		"an escaped surrogate": `{"command": "echo \ud83d", "skill": "deploy"}`,
		"a byte of a rune":     "{\"command\": \"echo \xf0\x9f\", \"skill\": \"deploy\"}",
	} {
		worked := false
		h := hook.Hook{Program: "worker", Events: []string{"Stop"}, Do: func(_ context.Context, _ string, in hook.Input) error {
			var args struct {
				Skill string `json:"skill"`
			}
			if err := json.Unmarshal(in.ToolInput, &args, hook.AsAgentsWrite); err != nil || args.Skill != "deploy" || in.SessionID != "s1" {
				t.Errorf("%s: %+v (%v) in session %q", what, args, err, in.SessionID)
			}
			worked = true
			return nil
		}}
		var stderr bytes.Buffer
		if h.Run(t.Context(), []string{"-dir", "state"}, strings.NewReader(`{"hook_event_name": "Stop", "session_id": "s1", "last_message": `+text+`, "tool_input": `+text+`}`), &stderr); !worked || stderr.Len() > 0 {
			t.Errorf("%s: worked %v, stderr %q", what, worked, &stderr)
		}
	}
}
