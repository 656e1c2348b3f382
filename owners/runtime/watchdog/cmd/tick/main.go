// Command tick is one round of the watchdog, and prints the decision.
//
//	tick [-dir STATE] [-threshold TOKENS]
//
// The exit status is 0 for any decision, and not 0 after a failure, for the
// timer to show. Only the word "act" asks for anything.
package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/freehold-dev/freehold/owners/command"
	"github.com/freehold-dev/freehold/owners/runtime/watchdog"
	"github.com/freehold-dev/freehold/sidecar"
)

func main() {
	var threshold uint64
	command.Command{
		Program: "tick",
		Flags: func(f *flag.FlagSet) {
			f.Uint64Var(&threshold, "threshold", watchdog.DefaultThreshold, "length of a prompt, in tokens, beyond which to act")
		},
		Do: func(ctx context.Context, dir string, _ []string) error {
			decision, err := watchdog.Tick(ctx, dir, threshold, &sidecar.Options{Program: "tick"})
			if err == nil {
				fmt.Println(decision)
			}
			return err
		},
	}.Main()
}
