// Command tick is one round of the watchdog: it prints what the guard decided.
//
//	tick [-dir STATE] [-threshold TOKENS]
//
// It exits with 0 whatever it decided; only the word "act" asks for anything.
// It is called from a timer, so a failure must show: it exits with 1 then.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/freehold-dev/freehold/owners/runtime/watchdog"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
)

func main() {
	debug.SetTraceback("crash")
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	flags := flag.NewFlagSet("tick", flag.ContinueOnError)
	dir := flags.String("dir", os.Getenv("FREEHOLD_DIR"), "state directory; if empty, the nearest one from the working directory upward")
	threshold := flags.Uint64("threshold", watchdog.DefaultThreshold, "length of a prompt, in tokens, beyond which to act")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 64
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := tick(ctx, *dir, *threshold); err != nil {
		fmt.Fprintf(os.Stderr, "tick: nothing done: %v\n", err)
		return 1
	}
	return 0
}

func tick(ctx context.Context, dir string, threshold uint64) (err error) {
	if dir == "" {
		if dir, err = store.Find("."); err != nil {
			return err
		}
	}
	decision, err := watchdog.Tick(ctx, dir, threshold, &sidecar.Options{Program: "tick"})
	if err != nil {
		return err
	}
	fmt.Println(decision)
	return nil
}
