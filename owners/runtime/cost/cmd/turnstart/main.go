// Command turnstart is the agent's UserPromptSubmit hook: it notes what there is
// to be seen when a turn starts, for the stop hook to commit with what it reads
// when the turn ends.
//
//	turnstart [-dir STATE] [-log FILE] < hook.json
package main

import (
	"context"
	"flag"
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
		Program: "turnstart",
		Events:  []string{"UserPromptSubmit"},
		Flags: func(f *flag.FlagSet) {
			f.StringVar(&log, "log", "", "cost log; if empty, cost-log.jsonl beside the state directory")
		},
		Do: func(ctx context.Context, dir string, in hook.Input) error {
			return cost.Observe(ctx, dir, cost.Log(dir, log), in.SessionID, &sidecar.Options{Program: "turnstart"})
		},
	}
	os.Exit(h.Run(context.Background(), os.Args[1:], os.Stdin, os.Stderr))
}
