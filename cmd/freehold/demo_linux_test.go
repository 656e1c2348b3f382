package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Ctrl-C, at any time, ends the demo and every process that it started.
func TestInterruptedDemoLeavesNothingBehind(t *testing.T) {
	for _, after := range []string{"Freehold demo:", "1 ", "2 ", "3 ", "   Freehold   freehold retire"} {
		t.Run(after, func(t *testing.T) {
			cmd, a := demoCommand(t)
			cmd.Stdout = nil
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(out)
			for lines.Scan() && !strings.HasPrefix(lines.Text(), after) {
			}
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			for lines.Scan() {
			}
			exit, ok := errors.AsType[*exec.ExitError](cmd.Wait())
			if !ok || exit.ExitCode() <= 2 {
				t.Errorf("it ended with %v", exit)
			}
			if took := time.Since(began); took > time.Minute {
				t.Errorf("it took %v to end", took)
			}
			if !strings.Contains(a.stderr.String(), "interrupt") {
				t.Errorf("stderr %q", &a.stderr)
			}
			if left := processesBelow(t, a.temp); len(left) > 0 {
				t.Errorf("still at work: %q", left)
			}
			a.nothingLeft(t)
		})
	}
}

// processesBelow returns the processes whose working directory is below dir.
func processesBelow(t *testing.T, dir string) []string {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(links, func(link string) bool {
		cwd, err := os.Readlink(link)
		return err != nil || !strings.HasPrefix(cwd, dir+"/") // an error: the process ended meanwhile
	})
}

func TestDemoOnATerminalHasColours(t *testing.T) {
	terminal, other := openTerminal(t, 100)
	cmd, a := demoCommand(t)
	cmd.Stdout, cmd.Env = terminal, append(cmd.Env, terminalEnv("TMPDIR="+a.temp)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	terminal.Close()
	missing := []string{"\x1b[31m", "\x1b[32m"}
	var out strings.Builder
	for lines := bufio.NewScanner(other); lines.Scan(); {
		fmt.Fprintln(&out, lines.Text())
		seen := len(missing)
		missing = slices.DeleteFunc(missing, func(colour string) bool { return strings.Contains(out.String(), colour) })
		if len(missing) == 0 && seen > 0 { // the rest would show no more
			cmd.Process.Signal(os.Interrupt)
		}
	}
	cmd.Wait() // the signal's error, if any
	if len(missing) > 0 {
		t.Errorf("nothing has the colours %q:\n%s", missing, &out)
	}
}
