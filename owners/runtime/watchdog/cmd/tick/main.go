// Command tick is one round of the watchdog: it prints the guard's decision.
//
//	tick [-dir STATE] [-threshold TOKENS]
//
// It exits with 0 whatever the decision, and with 1 after a failure, which the
// timer that calls it shows. Only the word "act" asks for anything.
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
