// Command turnstart is the agent's UserPromptSubmit hook, which observes the resets
// when a turn starts. The stop hook commits that with the turn's cost.
//
//	turnstart [-dir STATE] [-log FILE] < hook.json
package main

import (
	"context"
	"flag"

	"github.com/freehold-dev/freehold/owners/hook"
	"github.com/freehold-dev/freehold/owners/runtime/cost"
	"github.com/freehold-dev/freehold/sidecar"
)

func main() {
	var log string
	hook.Hook{
		Program: "turnstart",
		Events:  []string{"UserPromptSubmit"},
		Flags:   func(f *flag.FlagSet) { cost.LogVar(f, &log) },
		Do: func(ctx context.Context, dir string, in hook.Input) error {
			return cost.Observe(ctx, dir, cost.Log(dir, log), in.SessionID, &sidecar.Options{Program: "turnstart"})
		},
	}.Main()
}
