package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
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
	return append(os.Environ(), append([]string{"TERM=xterm-256color", "CLICOLOR_FORCE=", "NO_COLOR="}, more...)...)
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
	out.ReadFrom(other) // ends with an error when the last writer is gone
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(out.String(), "\r\n", "\n")
}

func TestViewOnATerminalFitsAndWraps(t *testing.T) {
	dir := freshState(t)
	must(t, "set", "reset", "name="+strings.Repeat("many words ", 20), "--dir", dir)
	for _, width := range []int{50, 80, 200} {
		out := onTerminal(t, width, nil, "view", "--dir", dir)
		if !strings.Contains(out, "╭") || !strings.Contains(out, "\x1b[") {
			t.Errorf("%d columns: no coloured table:\n%s", width, out)
		}
		_, table, _ := strings.Cut(out, "\n") // the heading is text, and terminals wrap text
		for line := range strings.SplitSeq(table, "\n") {
			if lipgloss.Width(line) > width {
				t.Errorf("%d columns: %d wide: %s", width, lipgloss.Width(line), line)
			}
		}
		words := strings.Count(out, "many")
		if words != 20 {
			t.Errorf("%d columns: %d of 20 words are there", width, words)
		}
	}
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
