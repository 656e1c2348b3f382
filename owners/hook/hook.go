// Package hook runs programs that an agent calls at certain events, with the
// event as JSON on standard input. A hook never stops its agent: errors go to
// standard error, a panic of its work as one line, and the exit status is 0. A
// fault that no program can recover from, such as a map written by two goroutines,
// ends the hook by a signal.
package hook

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/freehold-dev/freehold/owners/command"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// An Input is an event of the agent. Members that are not here are ignored:
// agents add to them.
type Input struct {
	SessionID      string `json:"session_id"`
	TranscriptPath string `json:"transcript_path"`
	CWD            string `json:"cwd"`
	Event          string `json:"hook_event_name"`
	Trigger        string `json:"trigger"`
	ToolName       string `json:"tool_name"`
	Source         string `json:"source"` // of a session's start
	// ToolInput is the input of the tool; its form depends on the tool.
	ToolInput jsontext.Value `json:"tool_input"`
}

// AsAgentsWrite is an option for json.Unmarshal that reads the JSON of agents.
// Agents often cut a tool's input in the middle of a character; that part
// reads as U+FFFD, and the rest of the call counts.
var AsAgentsWrite = jsontext.AllowInvalidUTF8(true)

// A Hook is a program that an agent calls.
type Hook struct {
	// Program is its name, for messages and provenance.
	Program string
	// Events lists the events of the hook. Others are errors, so that a
	// mistake in the agent's settings shows.
	Events []string
	// Flags declares flags beside -dir, if not nil.
	Flags func(*flag.FlagSet)
	// Do does the work in the state directory dir, and may print. Run does not
	// wait for Do after ctx has ended.
	Do func(ctx context.Context, dir string, in Input) error
}

// patience bounds a whole hook, with its input: the agent waits.
const patience = 10 * time.Second

// mostInput bounds standard input, in bytes.
const mostInput = 4 << 20

// Main runs the hook with the arguments of the process and exits.
func (h Hook) Main() {
	debug.SetTraceback("crash") // a panic must not exit with 2, which agents take for "block"
	os.Exit(h.Run(context.Background(), os.Args[1:], os.Stdin, os.Stderr))
}

// Run runs the hook and returns the exit status: 0, or 64 if args are wrong,
// which is a mistake in the agent's settings.
func (h Hook) Run(ctx context.Context, args []string, stdin io.Reader, stderr io.Writer) int {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return command.Command{
		Program: h.Program,
		Flags:   h.Flags,
		Succeed: true, // a failure would stop the agent
		Do: func(ctx context.Context, dir string, _ []string) error {
			in, err := h.read(ctx, stdin)
			if err != nil {
				return fmt.Errorf("standard input: %w", err)
			}
			return h.do(ctx, dir, in)
		},
	}.Run(ctx, args, stderr)
}

// ending is how long Do may take to end after its context.
const ending = time.Second

func (h Hook) do(ctx context.Context, dir string, in Input) error {
	stuck, err := bounded(ctx, ending, func() error { return h.Do(ctx, dir, in) })
	if stuck {
		return fmt.Errorf("the work did not end: %w: look at the files that it reads; one may be a named pipe", err)
	}
	return err
}

// bounded calls fn, which may be stuck in a system call. Some time after ctx has
// ended, bounded gives up and returns the cause.
func bounded(ctx context.Context, grace time.Duration, fn func() error) (stuck bool, err error) {
	done := make(chan error, 1)
	go func() {
		err := errors.New("the work ended its goroutine alone: mend the program")
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic at %s: %v: mend the program", panicked(), p)
			}
			done <- err
		}()
		err = fn()
	}()
	select {
	case err := <-done:
		return false, err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return false, err
	case <-time.After(grace):
		return true, context.Cause(ctx)
	}
}

// panicked returns the place of the panic from which its caller recovers: the first
// one on the stack that is not in the runtime.
func panicked() string {
	var pcs [32]uintptr
	frames, inRuntime := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])]), false
	for {
		f, more := frames.Next()
		within := strings.HasPrefix(f.Function, "runtime.")
		if inRuntime && !within || !more {
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
		inRuntime = inRuntime || within
	}
}

func (h Hook) read(ctx context.Context, stdin io.Reader) (in Input, err error) {
	var text []byte
	stuck, err := bounded(ctx, 0, func() (err error) {
		text, err = io.ReadAll(io.LimitReader(stdin, mostInput+1))
		return err
	})
	if stuck {
		return in, fmt.Errorf("its end did not come: %w: close it after the event", err)
	}
	if err != nil {
		return in, err
	}
	if len(text) > mostInput {
		return in, fmt.Errorf("more than %d bytes: give it the event alone", mostInput)
	}
	if err := json.Unmarshal(text, &in, AsAgentsWrite); err != nil {
		return in, fmt.Errorf("not an event of the agent: %w: look at the agent's settings", err)
	}
	if strings.ContainsRune(in.SessionID, utf8.RuneError) { // the id of another session could read the same
		return in, fmt.Errorf("the session_id %+q is not UTF-8: look at the agent's settings", in.SessionID)
	}
	if !slices.Contains(h.Events, in.Event) {
		return in, fmt.Errorf("the event %q: this program is for %s: name it there in the agent's settings", in.Event, strings.Join(h.Events, " or "))
	}
	return in, nil
}
