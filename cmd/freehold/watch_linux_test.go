package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
)

// watchLine is a line of `freehold watch --json`.
type watchLine struct {
	Type    string
	Message string
	Changes []struct{ Field, Owner, Status, Error string }
	View    json.RawMessage
}

// startWatch starts a watch, perhaps under another program, and returns a
// function that waits for its next line.
func startWatch(t *testing.T, dir string, under ...string) (*exec.Cmd, func() watchLine) {
	t.Helper()
	args := append(under, "freehold", "watch", "--dir", dir)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		cmd.Wait()
	})
	lines := bufio.NewReader(out)
	return cmd, func() watchLine {
		t.Helper()
		text, err := lines.ReadBytes('\n')
		if err != nil {
			t.Fatalf("no more lines: %v", err)
		}
		var line watchLine
		if err := json.Unmarshal(text, &line); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		return line
	}
}

// Case 80, row FI4: the system's queue overflows while a watch is stopped. Of
// the last commit there is no notice, and it is shown all the same, after a
// line that says so.
func TestWatchSurvivesAnOverflow(t *testing.T) {
	dir := freshState(t)
	must(t, "set", "reset", "f=0", "--dir", dir)
	must(t, "set", "cost", "tokens=0", "--dir", dir)
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	if err != nil {
		t.Fatal(err)
	}
	queue, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	cmd, next := startWatch(t, dir)
	if line := next(); line.Type != "view" {
		t.Fatalf("got %+v", line)
	}
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	waitStopped(t, cmd.Process.Pid)
	for i := range max(queue+1000, 20_000) { // two files in turn: the system merges what is said of one
		name := []string{"reset.json", "cost.json"}[i%2]
		if err := os.Chmod(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	must(t, "set", "reset", "f=7", "--dir", dir)
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	resync := false
	for line := next(); ; line = next() {
		if line.Type == "resync" {
			resync = true
		}
		if line.Type == "view" && resync {
			want := must(t, "view", "--json", "--dir", dir)
			if diff := cmp.Diff(strings.TrimSpace(want), string(line.View)); diff != "" {
				t.Errorf("the last view of the watch (-view +watch):\n%s", diff)
			}
			break
		}
		if line.Type == "view" && strings.Contains(string(line.View), `"f":7`) { // read before it was known that notices were lost
			if line = next(); line.Type != "resync" {
				t.Errorf("no resync: %+v", line)
			}
			break
		}
	}
}

// Case 77: a system that gives no notices, or none of one directory more, is
// named, and nothing is missed.
func TestWatchPollsWhereTheSystemGivesNoNotices(t *testing.T) {
	for _, refusal := range []string{"inotify_init1:error=EMFILE", "inotify_add_watch:error=ENOSPC"} {
		t.Run(refusal, func(t *testing.T) {
			dir := freshState(t)
			under := []string{"strace", "-f", "-qq", "-o", os.DevNull, "-e", "inject=" + refusal}
			if strings.HasPrefix(refusal, "inotify_add_watch") {
				// Not its second call: strace counts those of each thread by
				// themselves, and Go may make them on two.
				under = append(under, "-P", filepath.Join(dir, ".freehold"))
			}
			_, next := startWatch(t, dir, under...)
			if line := next(); line.Type != "polling" || !strings.Contains(line.Message, "watched by polling every 100ms") {
				t.Fatalf("got %+v", line)
			}
			next()
			for n := range 3 {
				must(t, "set", "reset", fmt.Sprint("f=", n), "--dir", dir)
				if line := next(); line.Type != "view" || !strings.Contains(string(line.View), fmt.Sprint(`"f":`, n)) {
					t.Fatalf("got %+v", line)
				}
			}
		})
	}
}

// waitStopped returns when a process has stopped.
func waitStopped(t *testing.T, pid int) {
	t.Helper()
	for {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		if strings.HasPrefix(rest, "T") {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// Case 78: the last of many commits of equal length is the last that is shown.
func TestWatchShowsTheLastOfManyCommits(t *testing.T) {
	dir := freshState(t)
	must(t, "set", "reset", "f=100000", "--dir", dir)
	_, next := startWatch(t, dir)
	next()
	const last = 100300
	for n := 100001; n <= last; n++ {
		must(t, "set", "reset", fmt.Sprint("f=", n), "--dir", dir)
	}
	for {
		line := next()
		if line.Type != "view" {
			t.Fatalf("got %+v", line)
		}
		if strings.Contains(string(line.View), fmt.Sprint(`"f":`, last)) {
			return
		}
	}
}

// Case 79: a sidecar that was put back, with its old time, is shown as what it
// is: older than what somebody has observed of it.
func TestWatchShowsARestoredSidecar(t *testing.T) {
	dir := liveState(t)
	event := func() {
		token := strings.TrimSpace(must(t, "begin", "reset", "reset_at", "--dir", dir))
		must(t, "done", "reset", "reset_at", token, "--dir", dir)
	}
	event()
	backup := filepath.Join(t.TempDir(), "reset.bak")
	file := filepath.Join(dir, "reset.json")
	copyPreserving(t, file, backup)
	event()
	seen := strings.TrimSpace(must(t, "observe", "reset_at", "--dir", dir))
	must(t, "set", "cost", "tokens=5", "--seen", seen, "--dir", dir)
	_, next := startWatch(t, dir)
	if line := next(); len(line.Changes) != 2 {
		t.Errorf("got %+v", line.Changes)
	}
	copyPreserving(t, backup, file)
	for { // cp writes in place: there may be views of half a file
		for _, change := range next().Changes {
			if change.Owner == "reset" && change.Status == "regressed" && strings.Contains(change.Error, "an older copy was put back") {
				return
			}
		}
	}
}

func copyPreserving(t *testing.T, from, to string) {
	t.Helper()
	if out, err := exec.Command("cp", "-p", from, to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// Case 1: a watch touches nothing.
func TestWatchTouchesNothing(t *testing.T) {
	dir := freshState(t)
	must(t, "set", "reset", "f=1", "--dir", dir)
	before := listing(t, dir)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	var stdout, stderr bytes.Buffer
	if status := run(ctx, []string{"watch", "--dir", dir}, strings.NewReader(""), &stdout, &stderr); status != failure.ExitDone || stderr.Len() > 0 {
		t.Errorf("status %d, stderr %q", status, &stderr)
	}
	if got := strings.Count(stdout.String(), "\n"); got != 1 {
		t.Errorf("%d lines of an idle state:\n%s", got, &stdout)
	}
	if diff := cmp.Diff(before, listing(t, dir)); diff != "" {
		t.Errorf("it touched the state (-before +after):\n%s", diff)
	}
}

func TestWatchThatCannotWriteEnds(t *testing.T) {
	dir := freshState(t)
	var stderr bytes.Buffer
	if status := run(t.Context(), []string{"watch", "--dir", dir}, strings.NewReader(""), full{}, &stderr); status != failure.ExitIO {
		t.Errorf("status %d, stderr %q", status, &stderr)
	}
}

// `freehold watch | head -1` ends, though nothing ever changes again.
func TestWatchEndsWithItsReader(t *testing.T) {
	dir := freshState(t)
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	var stderr bytes.Buffer
	cmd := exec.Command("freehold", "watch", "--dir", dir)
	cmd.Stdout, cmd.Stderr = in, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	in.Close()
	if _, err := bufio.NewReader(out).ReadBytes('\n'); err != nil {
		t.Fatal(err)
	}
	out.Close()
	if err := cmd.Wait(); err != nil || stderr.Len() > 0 {
		t.Errorf("%v, stderr %q", err, &stderr)
	}
}

// On a terminal a watch is a line for each change.
func TestWatchOnATerminal(t *testing.T) {
	dir := liveState(t)
	must(t, "set", "reset", "name=a\x1b[2Jb", "--dir", dir, "--program", "hook")
	terminal, other := openTerminal(t, 500)
	var stderr bytes.Buffer
	cmd := exec.Command("freehold", "watch", "--dir", dir)
	cmd.Stdout, cmd.Stderr, cmd.Env = terminal, &stderr, terminalEnv()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	terminal.Close()
	screen := &output{t: t, r: other}
	screen.await("name")
	token := ""
	for _, step := range []struct{ line, shows string }{
		{"add cost turns 2", "turns"},
		{"set cost tokens=5 --program stop", "tokens"},
		{"clear reset name", "unset"},
		{"set cost tokens=6 --program stop --seen " + strings.TrimSpace(must(t, "observe", "tokens", "--dir", dir)), "fresh"},
		{"begin reset reset_at --program reset-hook", "ambiguous"},
		{"raise reset highest 2026-08-11T09:12:44.031Z --program reset-hook", "highest"},
		{"set reset name=" + strings.Repeat("x", 200), "xx"},
		{"put tool skills deploy use_count=3", "skills deploy"},
		{"claim reset fired", "fired"},
		{"done reset reset_at TOKEN --program reset-hook", "stale"},
	} {
		out := must(t, append(strings.Fields(strings.ReplaceAll(step.line, "TOKEN", token)), "--dir", dir)...)
		if strings.HasPrefix(step.line, "begin") {
			token = strings.TrimSpace(out)
		}
		screen.await(step.shows)
	}
	foreign := filepath.Join(t.TempDir(), "cost.json") // moved there: no watch sees half of it
	if err := os.WriteFile(foreign, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(foreign, filepath.Join(dir, "cost.json")); err != nil {
		t.Fatal(err)
	}
	screen.await("owner")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || stderr.Len() > 0 {
		t.Errorf("%v, stderr %q", err, &stderr)
	}
	golden(t, "watch_terminal.txt", steady(screen.text.String(), dir))
}

// liveState returns a new state with fields of the kinds that have more to show
// than a value.
func liveState(t *testing.T) string {
	t.Helper()
	dir, owners := filepath.Join(t.TempDir(), "state"), filepath.Join(t.TempDir(), "owners.yaml")
	if err := os.WriteFile(owners, []byte(liveOwners), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, "state", "init", "--dir", dir, "--owners", owners)
	return dir
}

const liveOwners = `
state: live
owners:
  reset:
    fields:
      name: {type: string}
      reset_at: {type: time, kind: event}
      fired: {kind: once}
      highest: {type: time, kind: max}
  cost:
    fields:
      turns: {type: uint, kind: counter}
      tokens: {type: uint, depends_on: [reset_at]}
  tool:
    fields:
      skills: {kind: map, keys: true, record: {use_count: {type: uint, kind: counter}}}
`

// An output is the text that a program has written to a terminal so far.
type output struct {
	t    *testing.T
	r    io.Reader
	text bytes.Buffer
	seen int // what await has found
}

// await waits until what comes after the last thing found has text in it, and
// for the end of that line.
func (s *output) await(text string) {
	s.t.Helper()
	buf := make([]byte, 4096)
	for {
		rest := s.text.String()[s.seen:]
		if i := strings.Index(rest, text); i >= 0 {
			if end := strings.IndexByte(rest[i:], '\n'); end >= 0 {
				s.seen += i + end
				return
			}
		}
		n, err := s.r.Read(buf)
		if err != nil {
			s.t.Fatalf("no %q on the terminal: %v\n%s", text, err, &s.text)
		}
		s.text.Write(buf[:n])
	}
}

var steadied = []struct{ re, is string }{
	{`\r\n`, "\n"},
	{`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z`, "2026-08-11T09:12:44.031Z"},
	{`\d{16}\.(\d+)\.[0-9a-v]{13}`, "1786439564031000.$1.NONCE"},
	{`claim [0-9a-v]{13}`, "claim NONCE"},
	{`(m|-> )\d\d:\d\d:\d\d`, "${1}23:06:15"},
	{`snapshot [0-9a-f]{32}`, "snapshot ID"},
	{"\x1b", "ESC"},
}

// steady puts a name in the place of all that differs from run to run.
func steady(text, dir string) string {
	text = strings.ReplaceAll(text, dir, "STATE")
	for _, s := range steadied {
		text = regexp.MustCompile(s.re).ReplaceAllString(text, s.is)
	}
	return text
}
