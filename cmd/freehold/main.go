// Command freehold is Freehold for people, shell hooks and other languages: it
// generates code from owners.yaml, and reads and writes the states that the
// file declares. It checks no caller: every call of
// "freehold set OWNER" writes as that owner.
//
// Data goes to standard output and messages go to standard error; every
// command that prints data takes --json. COMMANDS.md lists the exit statuses,
// which are never 2; "freehold lease OWNER -- CMD" ends as CMD does.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/cmd/internal/console"
)

func main() {
	// A panic exits 2 unless it crashes, and the hook runners of agents read
	// 2 as "block".
	debug.SetTraceback("crash")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // a second interrupt ends what does not heed the first
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run runs the command line args and returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	c := &cli.Call{Console: console.Console{Stdin: stdin, Stdout: stdout, Stderr: stderr}}
	root := newRoot(c)
	return c.Run(ctx, root, operandsLast(root, args))
}
