// Command freehold is Freehold for people, shell hooks and other languages: it
// generates code from owners.yaml, and reads and writes the states that the
// file declares. It does not guess whose hand it is in: whoever runs `freehold
// set OWNER …` writes as that owner.
//
// Data goes to standard output and messages go to standard error; every
// command that prints data takes --json. The exit status is one of those that
// exit.go lists, never 2; but "freehold lease OWNER -- CMD" ends as CMD does.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

func main() {
	// A panic exits 2 unless it crashes, and the hook runners of agents read
	// 2 as "block".
	debug.SetTraceback("crash")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // a second interrupt ends what does not heed the first
	status := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	os.Exit(status)
}
