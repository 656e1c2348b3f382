// Command stop is the agent's Stop hook: it records what the turn has cost.
//
//	stop [-dir STATE] [-log FILE] < hook.json
//
// The log lies beside the state directory unless -log names it. Lines of it
// that cannot be used are skipped, and named on standard error.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/freehold-dev/freehold/owners/hook"
	"github.com/freehold-dev/freehold/owners/runtime/cost"
	"github.com/freehold-dev/freehold/sidecar"
)

func main() {
	debug.SetTraceback("crash") // a panic must not exit with 2, which agents take for "block"
	var log string
	h := hook.Hook{
		Program: "stop",
		Events:  []string{"Stop"},
		Flags: func(f *flag.FlagSet) {
			f.StringVar(&log, "log", "", "cost log; if empty, cost-log.jsonl beside the state directory")
		},
		Do: func(ctx context.Context, dir string, in hook.Input) error {
			rec, err := cost.Record(ctx, dir, cost.Log(dir, log), in.SessionID, &sidecar.Options{Program: "stop"})
			if err == nil {
				complain(rec)
			}
			return err
		},
	}
	os.Exit(h.Run(context.Background(), os.Args[1:], os.Stdin, os.Stderr))
}

// complain says what of the log was not recorded.
func complain(rec cost.Recorded) {
	for _, why := range rec.Why {
		fmt.Fprintf(os.Stderr, "stop: skipped: %v\n", why)
	}
	if more := rec.Skipped - len(rec.Why); more > 0 {
		fmt.Fprintf(os.Stderr, "stop: skipped: %d more lines\n", more)
	}
}
