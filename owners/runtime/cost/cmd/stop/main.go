// Command stop is the agent's Stop hook, which records the cost of the turn.
//
//	stop [-dir STATE] [-log FILE] < hook.json
//
// The log is beside the state directory unless -log names it. The number
// of skipped lines of the log goes to standard error.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/freehold-dev/freehold/owners/hook"
	"github.com/freehold-dev/freehold/owners/runtime/cost"
	"github.com/freehold-dev/freehold/sidecar"
)

func main() {
	var log string
	hook.Hook{
		Program: "stop",
		Events:  []string{"Stop"},
		Flags:   func(f *flag.FlagSet) { cost.LogVar(f, &log) },
		Do: func(ctx context.Context, dir string, in hook.Input) error {
			rec, err := cost.Record(ctx, dir, cost.Log(dir, log), in.SessionID, &sidecar.Options{Program: "stop"})
			if rec.Skipped > 0 {
				fmt.Fprintf(os.Stderr, "stop: skipped %d lines: %v\n", rec.Skipped, rec.Why)
			}
			return err
		},
	}.Main()
}
