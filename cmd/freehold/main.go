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

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/cmd/internal/console"
)

func main() {
	console.Main(run)
}

// run runs the command line args and returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	c := &cli.Call{Console: console.Console{Stdin: stdin, Stdout: stdout, Stderr: stderr}}
	root := newRoot(c)
	return c.Run(ctx, root, operandsLast(root, args))
}
