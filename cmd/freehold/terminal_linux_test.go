package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// openTerminal opens a terminal that is width cells wide, and its other end,
// which has what is written to it.
func openTerminal(t *testing.T, width int) (terminal, other *os.File) {
	t.Helper()
	other, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	t.Cleanup(func() { other.Close() })
	fd := int(other.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	t.Cleanup(func() { terminal.Close() })
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: uint16(width)}); err != nil {
		t.Fatal(err)
	}
	return terminal, other
}

// terminalEnv is the environment of a program on a terminal.
func terminalEnv(more ...string) []string {
	return append(os.Environ(), append([]string{"TERM=xterm-256color", "CLICOLOR_FORCE=", "NO_COLOR=", "COLUMNS=", "LC_ALL=", "LC_CTYPE=", "LANG="}, more...)...)
}

// onTerminal runs a command line on a terminal that is width cells wide and
// returns what it wrote.
func onTerminal(t *testing.T, width int, env []string, args ...string) string {
	t.Helper()
	terminal, other := openTerminal(t, width)
	cmd := exec.Command("freehold", args...)
	cmd.Stdout = terminal
	cmd.Env = terminalEnv(env...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	terminal.Close()
	var out bytes.Buffer
	out.ReadFrom(other)      // ends with an error when the last writer is gone
	var exit *exec.ExitError // a view of what is broken is a view all the same
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return strings.ReplaceAll(out.String(), "\r\n", "\n")
}

// A locale without UTF-8 gets a table of plain characters.
func TestViewOnATerminalKeepsToTheLocale(t *testing.T) {
	dir := freshState(t)
	for locale, want := range map[string]string{"C": "+-", "de_DE.ISO-8859-1": "+-", "C.UTF-8": "╭", "en_US.utf8": "╭", "": "╭"} {
		out := onTerminal(t, 120, []string{"LC_ALL=" + locale, "LC_CTYPE=", "LANG="}, "view", "--dir", dir)
		if !strings.Contains(out, want) || want == "+-" && strings.Contains(out, "│") {
			t.Errorf("%q: no table of %s:\n%s", locale, want, out)
		}
	}
}

func TestGetOnATerminalPrintsWhatItDoesNotObey(t *testing.T) {
	dir := freshState(t)
	must(t, "set", "reset", "name=a\x1b[2J\u202e\nb", "--dir", dir)
	if got, want := onTerminal(t, 80, nil, "get", "name", "--dir", dir), `a\x1b[2J\u202e\nb`+"\n"; got != want {
		t.Errorf("get prints %q, want %q", got, want)
	}
}

func TestViewOnATerminalFitsAndWraps(t *testing.T) {
	dir := freshState(t)
	must(t, "set", "reset", "name="+strings.Repeat("many words ", 20), "--dir", dir)
	for _, width := range []int{50, 80, 200} {
		out := onTerminal(t, width, nil, "view", "--dir", dir)
		if !strings.Contains(out, "╭") || !strings.Contains(out, "\x1b[") {
			t.Errorf("%d columns: no coloured table:\n%s", width, out)
		}
		fits(t, out, width)
		words := strings.Count(out, "many")
		if words != 20 {
			t.Errorf("%d columns: %d of 20 words are there", width, words)
		}
	}
}

// fits fails the test for each line that is too wide for a terminal, but for those
// that are one word, as the path of a state may be.
func fits(t *testing.T, out string, width int) {
	t.Helper()
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		if w := lipgloss.Width(line); w > width && strings.Contains(strings.TrimSpace(line), " ") {
			t.Errorf("%d columns: %d wide: %s", width, w, line)
		}
	}
}

// Sentences break between words, and what is to be copied stays in one piece.
func TestProseOnATerminalBreaksBetweenWords(t *testing.T) {
	dir := freshState(t)
	must(t, "set", "reset", "name=x", "--dir", dir)
	damaged := filepath.Join(dir, "cost.json")
	if err := os.WriteFile(damaged, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(damaged)
	for _, args := range [][]string{{"view"}, {"explain", "name"}, {"doctor"}} {
		args = append(args, "--dir", dir)
		piped, _ := exec.Command("freehold", args...).Output() // its status is that of what is broken
		for _, width := range []int{30, 60, 100} {
			var prose []string
			for line := range strings.Lines(onTerminal(t, width, nil, args...)) {
				if args[0] == "view" && strings.ContainsAny(line, "╭\x1b") {
					break // the table
				}
				command := strings.Contains(line, "freehold ")
				if !command {
					fits(t, line, width)
				}
				prose = append(prose, line)
			}
			words := strings.Join(strings.Fields(strings.Join(prose, "")), " ")
			if whole := strings.Join(strings.Fields(string(piped)), " "); args[0] == "view" && !strings.HasPrefix(whole[:30], words[:30]) || args[0] != "view" && words != whole {
				t.Errorf("%v on %d columns: other words than in a pipe:\n%s\n%s", args, width, words, whole)
			}
		}
	}
}

// A view on terminals of several widths looks as in the golden file: first a
// table, then one with less in it, then paragraphs. The escapes of colours show.
func TestViewOnATerminalLooksAsShown(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	err := sidecar.Create(dir, &schema.Declaration{State: "runtime", Owners: map[string]schema.Owner{
		"reset": {Fields: map[string]schema.Field{"reset_at": {Type: schema.TypeTime, Kind: schema.Event}, "phase": {Type: schema.TypeString}}},
		"cost": {Fields: map[string]schema.Field{
			"tokens": {Type: schema.TypeUint, DependsOn: []string{"phase"}},
			"peak":   {Type: schema.TypeUint, DependsOn: []string{"phase"}},
			"length": {Type: schema.TypeUint, DependsOn: []string{"reset_at"}},
			"note":   {Type: schema.TypeString},
		}},
		"watch": {Fields: map[string]schema.Field{"verdict": {Type: schema.TypeString}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	seen := strings.TrimSpace(must(t, "observe", "tokens", "length", "--dir", dir))
	must(t, "set", "cost", "tokens=5", "length=7", "note=2026-08-11 漢字 of many words, with an \x1b[2J, a \u202e and "+strings.Repeat("x", 60), "--seen", seen, "--dir", dir)
	must(t, "set", "reset", "phase=late", "--dir", dir)
	must(t, "set", "cost", "peak=9", "--seen", strings.TrimSpace(must(t, "observe", "peak", "--dir", dir)), "--dir", dir)
	must(t, "begin", "reset", "reset_at", "--dir", dir)
	if err := os.WriteFile(filepath.Join(dir, "watch.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, width := range []int{140, 100, 80, 50, 40, 25} {
		out := onTerminal(t, width, nil, "view", "--dir", dir)
		fits(t, out, width) // with the real process id, which may be a short one
		out = alike(out)
		// Where the first line breaks depends on the length of the path.
		out = heading.ReplaceAllStringFunc(out, func(line string) string { return strings.ReplaceAll(line, "\n", " ") })
		plain := alike(onTerminal(t, width, []string{"NO_COLOR=1"}, "view", "--dir", dir))
		plain = heading.ReplaceAllStringFunc(plain, func(line string) string { return strings.ReplaceAll(line, "\n", " ") })
		if diff := cmp.Diff(colours.ReplaceAllString(out, ""), colours.ReplaceAllString(plain, "")); diff != "" {
			t.Errorf("%d columns: with NO_COLOR it is another text (-with +without colours):\n%s", width, diff)
		}
		if width < 50 {
			continue // what differs from run to run wraps
		}
		fmt.Fprintf(&all, "%d columns:\n%s\n", width, strings.ReplaceAll(strings.ReplaceAll(out, dir, "STATE"), "\x1b", "^"))
	}
	golden(t, "view_terminal.txt", all.String())
	// A user may want it narrower than the terminal is.
	if diff := cmp.Diff(alike(onTerminal(t, 50, nil, "view", "--dir", dir)), alike(onTerminal(t, 140, []string{"COLUMNS=50"}, "view", "--dir", dir))); diff != "" {
		t.Errorf("COLUMNS=50 (-terminal of that width +variable)\n%s", diff)
	}
}

// heading matches what a view begins with.
var heading = regexp.MustCompile(`^state [^:]+:\s[^0-9]*\s[0-9a-f]{32}`)

// colours matches what changes the looks of text.
var colours = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// alike replaces what differs from run to run by something as wide.
func alike(out string) string {
	for _, r := range []struct{ match, by string }{
		{`[0-9a-f]{32}`, "0123456789abcdef0123456789abcdef"},
		{`\d{16}\.(\d)\.[0-9a-v]{13}`, "1786439564031000.$1.0123456789abc"},
		{`…(\d)\.[0-9a-v]{13}`, "…$1.0123456789abc"},
		{`\b\ds\b`, "0s"},
		{`process \d+`, "process 4711"},
		{`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ`, "2026-08-11T09:12:44Z"},
	} {
		out = regexp.MustCompile(r.match).ReplaceAllString(out, r.by)
	}
	return out
}

func TestNoColorIsRespected(t *testing.T) {
	dir := freshState(t)
	out := onTerminal(t, 200, []string{"NO_COLOR=1"}, "view", "--dir", dir)
	for _, colour := range []string{"\x1b[3", "\x1b[9", "\x1b[4"} {
		if strings.Contains(out, colour) {
			t.Errorf("there are colours: %q", out)
		}
	}
	if out := onTerminal(t, 200, nil, "view", "--json", "--dir", dir); strings.Contains(out, "\x1b") {
		t.Errorf("JSON has colours: %q", out)
	}
}
