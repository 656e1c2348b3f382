// Package console is one call of a program: its streams, its messages, and the state
// that the call means. It knows no command-line library, so that a small program
// answers like a large one.
package console

import (
	"context"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
)

// Main runs a program with the arguments and streams of the process, and exits with
// the status that run returns. A signal ends the context of run, and the next one the
// process: run may not heed the first.
func Main(run func(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int) {
	// A panic exits 2 unless it crashes, and the hook runners of agents read
	// 2 as "block".
	debug.SetTraceback("crash")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// A Console has the streams of one call.
type Console struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	JSON           bool // print data as JSON
	// Given has the values of the flags that were given; nil until the command line
	// has been read, and later errors are no misuse of it.
	Given map[string]string
	// Before runs before each output, to take a line of progress away; or nil.
	Before func()
}

func (c *Console) pause() {
	if c.Before != nil {
		c.Before()
	}
}

// Bytewise reports whether standard output is a terminal with a locale without UTF-8.
// Where no locale is set, as in many containers, terminals have it.
func (c *Console) Bytewise() bool {
	if _, terminal := c.Terminal(); !terminal {
		return false
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := os.Getenv(name); locale != "" {
			return !strings.Contains(strings.ReplaceAll(strings.ToLower(locale), "-", ""), "utf8")
		}
	}
	return false
}
