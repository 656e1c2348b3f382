// Package hook runs a program that an agent calls at some moment of its life,
// with what happened as JSON on standard input. A hook never stands in its
// agent's way: whatever goes wrong is said on standard error, and the exit
// status is 0. It is not for programs whose failure somebody should notice.
package hook

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// An Input is what the agent tells a hook. Members that are not here are
// ignored: agents add to them.
type Input struct {
	SessionID      string `json:"session_id"`
	TranscriptPath string `json:"transcript_path"`
	CWD            string `json:"cwd"`
	Event          string `json:"hook_event_name"`
	Trigger        string `json:"trigger"`
	ToolName       string `json:"tool_name"`
	Source         string `json:"source"` // of a session's start
	// ToolInput is what the tool gets; its form depends on the tool.
	ToolInput jsontext.Value `json:"tool_input"`
}

// AsAgentsWrite reads JSON as agents write it, for json.Unmarshal: what a tool
// gets, or said, is often cut in the middle of a character, and what the hook has
// to note of the call must not be lost for that. Such a part reads as U+FFFD.
var AsAgentsWrite = jsontext.AllowInvalidUTF8(true)

// A Hook is a program that an agent calls.
type Hook struct {
	// Program is its name, for messages and provenance.
	Program string
	// Events are those that it handles. Others are refused, so that a
	// mistake in the agent's settings shows.
	Events []string
	// Flags declares flags beside -dir. It may be nil.
	Flags func(*flag.FlagSet)
	// Do does the work in the state directory dir. It may print what it did. It
	// is left behind if it goes on after ctx has ended.
	Do func(ctx context.Context, dir string, in Input) error
}

// patience bounds a whole hook, its input too: the agent waits for it.
const patience = 10 * time.Second

// mostInput bounds what is read of standard input, in bytes.
const mostInput = 4 << 20

// Run runs the hook and returns the exit status: 0, or 64 if args are wrong,
// which is a mistake of whoever set the hook up and never happens later.
func (h Hook) Run(ctx context.Context, args []string, stdin io.Reader, stderr io.Writer) int {
	flags := flag.NewFlagSet(h.Program, flag.ContinueOnError)
	flags.SetOutput(stderr)
	dir := flags.String("dir", os.Getenv("FREEHOLD_DIR"), "state directory; if empty, the nearest one from the working directory upward")
	if h.Flags != nil {
		h.Flags(flags)
	}
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 64
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := h.run(ctx, *dir, stdin); err != nil {
		fmt.Fprintf(stderr, "%s: nothing done: %v\n", h.Program, err)
		for _, r := range store.Remedies(err) {
			fmt.Fprintf(stderr, "%s: remedy: %v\n", h.Program, r)
		}
	}
	return 0
}

func (h Hook) run(ctx context.Context, dir string, stdin io.Reader) (err error) {
	in, err := h.read(ctx, stdin)
	if err != nil {
		return err
	}
	if dir == "" {
		if dir, err = store.Find("."); err != nil {
			return err
		}
	}
	return h.do(ctx, dir, in)
}

// ending is how long Do may take to end when its context has.
const ending = time.Second

// do does the work, and gives up when ctx has ended and the work has not: it may
// be stuck in a system call that nothing ends, such as one that opens a named
// pipe. The program ends then.
func (h Hook) do(ctx context.Context, dir string, in Input) error {
	done := make(chan error, 1)
	go func() { done <- h.Do(ctx, dir, in) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	late := time.NewTimer(ending)
	defer late.Stop()
	select {
	case err := <-done:
		return err
	case <-late.C:
		return fmt.Errorf("the work did not end: %w: look at the files that it reads; one may be a named pipe", context.Cause(ctx))
	}
}

func (h Hook) read(ctx context.Context, stdin io.Reader) (in Input, err error) {
	text, err := readAll(ctx, stdin)
	if err != nil {
		return in, fmt.Errorf("standard input: %w", err)
	}
	if len(text) > mostInput {
		return in, fmt.Errorf("standard input: more than %d bytes: give it the event alone", mostInput)
	}
	if err := json.Unmarshal(text, &in, AsAgentsWrite); err != nil {
		return in, fmt.Errorf("standard input is not what the agent sends to a hook: %w: look at its settings", err)
	}
	if strings.ContainsRune(in.SessionID, utf8.RuneError) { // that of another session could look the same
		return in, fmt.Errorf("standard input: the session_id %+q is not UTF-8: look at what the agent sends", in.SessionID)
	}
	if !slices.Contains(h.Events, in.Event) {
		return in, fmt.Errorf("standard input tells of the event %q: this program is for %s: name it there in the agent's settings", in.Event, strings.Join(h.Events, " or "))
	}
	return in, nil
}

// readAll reads no more than mostInput and one byte, and gives up when ctx
// does: the agent may never end its input.
func readAll(ctx context.Context, r io.Reader) ([]byte, error) {
	type result struct {
		text []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := io.ReadAll(io.LimitReader(r, mostInput+1))
		done <- result{text, err}
	}()
	select {
	case <-ctx.Done():
		return nil, fmt.Errorf("its end did not come: %w: close it after the event", context.Cause(ctx))
	case r := <-done:
		return r.text, r.err
	}
}
