// Package command runs the programs of the example states: it parses flags,
// finds the state directory, and shows failures in the exit status. Programs
// that an agent calls use package hook.
package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// exits lists the exit statuses of the command freehold for errors. Any other
// error is 1.
var exits = []struct {
	err    error
	status int
}{
	{sidecar.ErrFenced, 4},
	{sidecar.ErrBusy, 5},
	{store.DeadlinePassed, 5},
	{store.IdentityChanged, 6},
	{store.NotJudged, 6},
	{store.NoHolder, 9},
	{sidecar.ErrValue, exitUsage},
}

const exitUsage = 64

// mostMessage bounds a message, in characters: an error may quote a whole input.
const mostMessage = 4000

// A Command is a program that works in a state directory.
type Command struct {
	// Program is its name, for messages.
	Program string
	// Operands names the operands, all of which are required.
	Operands []string
	// Flags declares flags beside -dir, if not nil.
	Flags func(*flag.FlagSet)
	// Do does the work in the state directory dir, and may print.
	Do func(ctx context.Context, dir string, operands []string) error
	// Succeed makes the exit status 0 after an error of Do as well.
	Succeed bool
}

// Main runs the command with the arguments of the process and exits.
func (c Command) Main() {
	debug.SetTraceback("crash") // a panic must not exit with 2, which agents take for "block"
	os.Exit(c.Run(context.Background(), os.Args[1:], os.Stderr))
}

// Run runs the command and returns the exit status: 64 if args are wrong.
// SIGINT and SIGTERM end the context of Do.
func (c Command) Run(ctx context.Context, args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet(c.Program, flag.ContinueOnError)
	flags.SetOutput(stderr)
	dir := flags.String("dir", os.Getenv("FREEHOLD_DIR"), "state directory; if empty, the nearest one from the working directory upward")
	if c.Flags != nil {
		c.Flags(flags)
	}
	flags.Usage = func() {
		fmt.Fprintf(stderr, "usage: %s\n", strings.Join(append([]string{c.Program, "[flags]"}, c.Operands...), " "))
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return exitUsage
	}
	if flags.NArg() != len(c.Operands) {
		flags.Usage()
		return exitUsage
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := c.do(ctx, *dir, flags.Args())
	if err == nil {
		return 0
	}
	fmt.Fprintf(stderr, "%s: %.*s\n", c.Program, mostMessage, err.Error())
	for _, remedy := range store.Remedies(err) {
		fmt.Fprintf(stderr, "%s: remedy: %v\n", c.Program, remedy)
	}
	if c.Succeed {
		return 0
	}
	for _, exit := range exits {
		if errors.Is(err, exit.err) {
			return exit.status
		}
	}
	return 1
}

func (c Command) do(ctx context.Context, dir string, operands []string) (err error) {
	if dir == "" {
		if dir, err = store.Find("."); err != nil {
			return err
		}
	}
	return c.Do(ctx, dir, operands)
}

// TimeVar declares a flag for an instant in RFC 3339, which is now by default.
func TimeVar(f *flag.FlagSet, at *time.Time, name, usage string) {
	*at = time.Now()
	f.Func(name, usage+", as RFC 3339; if not given, now", func(text string) (err error) {
		*at, err = time.Parse(time.RFC3339, text)
		return err
	})
}

const (
	mostFile = 4 << 20          // bounds a file, in bytes
	patience = 10 * time.Second // bounds the wait for a pipe
)

// ReadFile reads a file of at most 4 MiB, or a pipe, such as a shell makes of
// <(curate -dry-run): ReadFile does not wait for a process to open the other
// end, and at most 10 seconds for the content.
func ReadFile(file string) ([]byte, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	_ = f.SetReadDeadline(time.Now().Add(patience)) // a file on a disk has none
	text, err := io.ReadAll(io.LimitReader(f, mostFile+1))
	if err == nil && len(text) > mostFile {
		return nil, fmt.Errorf("%s: more than %d bytes: give a smaller file", file, mostFile)
	}
	return text, err
}
