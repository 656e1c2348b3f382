// Package command runs a program that a person or a timer calls. Unlike a hook
// it shows its failure in its exit status: 1 if it could do nothing, 64 if it
// was called wrongly. It is not for what an agent calls, which package hook is
// for.
package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/freehold-dev/freehold/sidecar/store"
)

// The exit statuses, which are those of the command freehold.
const (
	exitFailed = 1
	exitUsage  = 64
)

// A Command is a program that works in a state directory.
type Command struct {
	// Program is its name, for messages.
	Program string
	// Operands names the operands that it must have.
	Operands []string
	// Flags declares flags beside -dir. It may be nil.
	Flags func(*flag.FlagSet)
	// Do does the work in the state directory dir. It may print what it did.
	Do func(ctx context.Context, dir string, operands []string) error
}

// Run runs the command and returns the exit status. SIGINT and SIGTERM end
// the context that Do gets.
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
	if err := c.run(ctx, *dir, flags.Args()); err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", c.Program, err)
		return exitFailed
	}
	return 0
}

func (c Command) run(ctx context.Context, dir string, operands []string) (err error) {
	if dir == "" {
		if dir, err = store.Find("."); err != nil {
			return err
		}
	}
	return c.Do(ctx, dir, operands)
}
