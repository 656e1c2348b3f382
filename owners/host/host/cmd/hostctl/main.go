// Command hostctl looks after the host.
//
//	hostctl retire [-dir STATE] [-grace DURATION] [-kill]
//
// It retires the process that is the host when it looks, and no other: a
// successor that a supervisor has started meanwhile is not touched. It prints
// the outcome and what was proved. It exits with 0 if that process was asked to
// end and ended, 9 if it was gone, or nobody was the host; 6 if another process
// is the host by now or nobody can judge, 5 if it did not end in time, and 1 if
// something else went wrong.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/retire"
	"github.com/freehold-dev/freehold/sidecar/store"
)

func main() {
	debug.SetTraceback("crash")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// The exit statuses, which are those of the command freehold.
const (
	exitFailed   = 1
	exitBusy     = 5
	exitIdentity = 6
	exitGone     = 9
	exitUsage    = 64
)

const usage = "usage: hostctl retire [-dir STATE] [-grace DURATION] [-kill]"

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("hostctl retire", flag.ContinueOnError)
	flags.SetOutput(stderr)
	dir := flags.String("dir", os.Getenv("FREEHOLD_DIR"), "state directory; if empty, the nearest one from the working directory upward")
	o := &retire.Options{Program: "hostctl", Notice: func(err error) { fmt.Fprintf(stderr, "hostctl: %v\n", err) }}
	flags.DurationVar(&o.Grace, "grace", 10*time.Second, "how long the host may take to end")
	flags.BoolVar(&o.Kill, "kill", false, "kill it if it takes longer")
	switch {
	case len(args) > 0 && slices.Contains([]string{"help", "-h", "-help", "--help"}, args[0]):
		fmt.Fprintln(stdout, usage)
		return 0
	case len(args) == 0 || args[0] != "retire":
		fmt.Fprintln(stderr, usage)
		return exitUsage
	}
	if err := flags.Parse(args[1:]); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return exitUsage
	}
	if flags.NArg() > 0 {
		fmt.Fprintln(stderr, "hostctl: retire has no operands")
		return exitUsage
	}
	outcome, err := end(ctx, *dir, o, stdout)
	if err != nil {
		fmt.Fprintf(stderr, "hostctl: %v\n", err)
	}
	return status(outcome, err)
}

// end retires the host and prints what became of it.
func end(ctx context.Context, dir string, o *retire.Options, stdout io.Writer) (_ retire.Outcome, err error) {
	if dir == "" {
		if dir, err = store.Find("."); err != nil {
			return retire.NotRetired, err
		}
	}
	p, err := retire.Prepare(dir, "host")
	if err != nil {
		return retire.NotRetired, err
	}
	r, err := p.Run(ctx, o)
	fmt.Fprintf(stdout, "%v: %v\n", p.Holding, r.Outcome)
	for _, proof := range r.Proofs {
		fmt.Fprintf(stdout, "  %s: %s\n", proof.Code, proof.Says)
	}
	return r.Outcome, err
}

func status(outcome retire.Outcome, err error) int {
	switch {
	case errors.Is(err, sidecar.ErrNoHolder), err == nil && outcome == retire.AlreadyGone:
		return exitGone
	case errors.Is(err, sidecar.ErrIdentityChanged), errors.Is(err, sidecar.ErrCannotJudge):
		return exitIdentity
	case errors.Is(err, sidecar.ErrDeadline), errors.Is(err, sidecar.ErrBusy):
		return exitBusy
	case err != nil:
		return exitFailed
	}
	return 0
}
