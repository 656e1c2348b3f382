package session_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/owners/session"
	"github.com/freehold-dev/freehold/sidecar/scratch"
)

func init() { scratch.Guard() }

const items = `{"id": "fact:1", "text": "Tests run with go test ./..."}

{"id": "rule:2", "text": "Never push to main."}
`

const injection = `{"hookSpecificOutput":{"additionalContext":"Tests run with go test ./...\nNever push to main.","hookEventName":"PreToolUse"}}` + "\n"

// A pretool is the built program with its directory.
type pretool struct {
	program, dir, items string
}

func newPretool(t *testing.T) pretool {
	t.Helper()
	tmp := t.TempDir()
	p := pretool{tmp + "/pretool", tmp + "/sessions", tmp + "/context-items.jsonl"}
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-w", "-o", p.program, "./hook/cmd/pretool")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.WriteFile(p.items, []byte(items), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

// run runs the hook on real input.
func (p pretool) run(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	in, err := os.Open("testdata/hook-pretooluse.json")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	cmd := exec.CommandContext(t.Context(), p.program, append([]string{"-dir", p.dir}, args...)...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, &out, &errs
	if err := cmd.Run(); err != nil {
		t.Errorf("the hook stands in its agent's way: %v; %s", err, errs.String())
	}
	return out.String(), errs.String()
}

// Cases 27, 29 and 30: of parallel hooks of one session one prints the
// injection, the others nothing, and none complains.
func TestOneOfManyHooksPrintsTheInjection(t *testing.T) {
	p := newPretool(t)
	var mu sync.Mutex
	var printed []string
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			stdout, stderr := p.run(t)
			mu.Lock()
			defer mu.Unlock()
			if stderr != "" {
				t.Errorf("a hook complains: %s", stderr)
			}
			if stdout != "" {
				printed = append(printed, stdout)
			}
		})
	}
	wg.Wait()
	if len(printed) != 1 || printed[0] != injection {
		t.Errorf("printed %d times: %q, want once %q", len(printed), printed, injection)
	}
	if out, _ := p.run(t, "-turn", "5", "-reinject-turns", "4"); out != "" {
		t.Errorf("printed again in turn 5: %s", out)
	}
	if out, _ := p.run(t, "-turn", "6", "-reinject-turns", "4"); out != injection {
		t.Errorf("printed %q in turn 6", out)
	}
}

// Case 139: a hook that was killed after its claim leaves the claim, and no
// item; the next one takes its place.
func TestAHookKilledAfterItsClaimIsReplaced(t *testing.T) {
	p := newPretool(t)
	if err := os.Remove(p.items); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(p.items, 0o600); err != nil { // nobody writes: the hook stays there
		t.Fatal(err)
	}
	in, err := os.Open("testdata/hook-pretooluse.json")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	cmd := exec.Command(p.program, "-dir", p.dir)
	cmd.Stdin = in
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	fifo, err := os.OpenFile(p.items, os.O_WRONLY, 0) // waits until the hook reads
	if err != nil {
		t.Fatal(err)
	}
	defer fifo.Close()
	cmd.Process.Kill()
	cmd.Wait()
	r, err := session.Open(p.dir, "S-042")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	v, err := r.View(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if by, ok := v.PretoolFired().Provenance(); !ok || by.PID != cmd.Process.Pid {
		t.Errorf("claimed by %+v, want process %d", by, cmd.Process.Pid)
	}
	if err := os.Remove(p.items); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.items, []byte(items), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, stderr := p.run(t); out != injection || stderr != "" {
		t.Errorf("the next hook printed %q, and %q", out, stderr)
	}
	if out, _ := p.run(t); out != "" {
		t.Errorf("the one after it printed %q", out)
	}
}

// A stuck hook ends at a signal, and the next takes its place.
func TestAStuckHookEndsAtASignal(t *testing.T) {
	p := newPretool(t)
	pipe := filepath.Join(t.TempDir(), "items")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	writer, err := os.OpenFile(pipe, os.O_RDWR, 0) // and writes nothing
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	in, err := os.Open("testdata/hook-pretooluse.json")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), p.program, "-dir", p.dir, "-items", pipe)
	cmd.Stdin, cmd.Stderr = in, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	claimed := filepath.Join(p.dir, "*", ".freehold", "claims", "hook", "pretool_fired")
	for found := []string(nil); found == nil; time.Sleep(time.Millisecond) {
		if found, err = filepath.Glob(claimed); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(stderr.String(), "the work did not end: terminated signal received") {
		t.Errorf("%v; %s", err, &stderr)
	}
	if out, stderr := p.run(t); out != injection || stderr != "" {
		t.Errorf("the next hook printed %q, and %q", out, stderr)
	}
}

// A look-up is not repeated at each tool use, also if nothing was
// found and the hook that did so has long ended.
func TestALookUpThatFoundNothingIsNotRepeated(t *testing.T) {
	p := newPretool(t)
	if err := os.WriteFile(p.items, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, stderr := p.run(t); out != "" || stderr != "" {
		t.Errorf("the first hook printed %q, and %q", out, stderr)
	}
	if err := os.Remove(p.items); err != nil { // so that a look-up fails
		t.Fatal(err)
	}
	if out, stderr := p.run(t); out != "" || stderr != "" {
		t.Errorf("the second hook printed %q, and %q", out, stderr)
	}
}

func TestHooksSayWhyTheyDoNothing(t *testing.T) {
	p := newPretool(t)
	bad := filepath.Join(t.TempDir(), "items")
	for text, want := range map[string]string{
		`{"id": "x"}`: "items:1: not an item: it lacks",
		"\nx":         "items:2: not an item",
	} {
		if err := os.WriteFile(bad, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p.dir = fmt.Sprintf("%s/%d", t.TempDir(), len(text))
		if out, stderr := p.run(t, "-items", bad); out != "" || !strings.Contains(stderr, want) {
			t.Errorf("printed %q and %q, want %q", out, stderr, want)
		}
	}
	p.dir = t.TempDir() + "/endless"
	if out, stderr := p.run(t, "-items", "/dev/zero"); out != "" || !strings.Contains(stderr, "/dev/zero: more than 4194304 bytes") {
		t.Errorf("printed %q and %q", out, stderr)
	}
	p.dir = p.items // a file
	if out, stderr := p.run(t); out != "" || !strings.Contains(stderr, "pretool: ") {
		t.Errorf("printed %q and %q", out, stderr)
	}
}
