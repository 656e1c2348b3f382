package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
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
	return append(os.Environ(), append([]string{"TERM=xterm-256color", "CLICOLOR_FORCE=", "NO_COLOR=", "COLORFGBG=", "COLUMNS=", "PAGER=", "LC_ALL=", "LC_CTYPE=", "LANG="}, more...)...)
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

func TestGetOnATerminalPrintsWhatItDoesNotObey(t *testing.T) {
	dir := freshState(t)
	must(t, "set", "reset", "name=a\x1b[2J\u202e\nb", "--dir", dir)
	if got, want := onTerminal(t, 80, nil, "get", "name", "--dir", dir), `a\x1b[2J\u202e\nb`+"\n"; got != want {
		t.Errorf("get prints %q, want %q", got, want)
	}
}

// fits fails the test for each line that is too wide for a terminal, but for those
// with one word, such as a path, or one command, that has no room beside a label.
func fits(t *testing.T, out string, width int) {
	t.Helper()
	const label = 16
	for line := range strings.Lines(ansi.Strip(out)) {
		line = strings.TrimSuffix(line, "\n")
		long := slices.ContainsFunc(strings.Fields(line), func(word string) bool { return ansi.StringWidth(word) > width-label })
		if w := ansi.StringWidth(line); w > width && !long && !strings.Contains(line, "`") && !strings.HasPrefix(line, "  remedy: ") {
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
		for _, width := range []int{40, 60, 100} {
			var prose []string
			for line := range strings.Lines(onTerminal(t, width, nil, args...)) {
				if args[0] == "view" && strings.Contains(line, "\x1b") {
					break // the table
				}
				command := strings.Contains(line, "freehold ")
				if !command {
					fits(t, line, width)
				}
				prose = append(prose, ansi.Strip(line))
			}
			words := strings.Join(strings.Fields(strings.Join(prose, "")), " ")
			if whole := strings.Join(strings.Fields(string(piped)), " "); args[0] == "view" && !strings.HasPrefix(whole[:30], words[:30]) || args[0] != "view" && words != whole {
				t.Errorf("%v on %d columns: other words than in a pipe:\n%s\n%s", args, width, words, whole)
			}
		}
	}
}

// Long work tells how far it is, on standard error and only on a terminal that can
// take the line away again; nothing of the line stays.
func TestLongWorkShowsProgressOnATerminal(t *testing.T) {
	dir := freshState(t)
	legacy := filepath.Join(t.TempDir(), "runtime.json")
	if err := os.WriteFile(legacy, []byte(`{"total_usd": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	lock, err := os.Open(filepath.Join(dir, ".freehold", "cost.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	const line = "\r\x1b[Kadopting "
	for _, kind := range []string{"xterm-256color", "dumb"} {
		terminal, other := openTerminal(t, 100)
		cmd := exec.Command("freehold", "adopt", legacy, "--dir", dir, "--wait", "1s")
		cmd.Stderr, cmd.Env = terminal, terminalEnv("TERM="+kind)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		terminal.Close()
		var out bytes.Buffer
		out.ReadFrom(other)
		if err := cmd.Wait(); err == nil {
			t.Fatal("the lock was not held")
		}
		shown := out.String()
		last := shown[strings.LastIndex(shown, "\x1b[K")+1:]
		if got := strings.Contains(shown, line); got != (kind != "dumb") || strings.Contains(last, "adopting") || !strings.Contains(last, "freehold: error: ") {
			t.Errorf("TERM=%s: %q", kind, shown)
		}
	}
}
