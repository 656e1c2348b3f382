// Command bump counts what was done with a skill.
//
//	bump [-dir STATE] [-act use|view|patch] [-at TIME] [-times N] SKILL
//
// It prints how often it has counted, which is N unless it fails.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/freehold-dev/freehold/owners/command"
	"github.com/freehold-dev/freehold/owners/usage/tool"
	"github.com/freehold-dev/freehold/sidecar"
)

func main() {
	debug.SetTraceback("crash")
	act, at, times := tool.Use, time.Now(), uint(1)
	c := command.Command{
		Program:  "bump",
		Operands: []string{"SKILL"},
		Flags: func(f *flag.FlagSet) {
			f.TextVar(&act, "act", tool.Use, "what was done: use, view or patch")
			f.UintVar(&times, "times", 1, "count as often, each time in a commit of its own")
			f.Func("at", "when, as RFC 3339; if not given, now", func(text string) (err error) {
				at, err = time.Parse(time.RFC3339, text)
				return err
			})
		},
		Do: func(ctx context.Context, dir string, operands []string) error {
			done, err := tool.BumpEach(ctx, dir, operands[0], act, at, times, &sidecar.Options{Program: "bump", Notice: notice})
			fmt.Println(done)
			return err
		},
	}
	os.Exit(c.Run(context.Background(), os.Args[1:], os.Stderr))
}

// notice says what stops nothing and somebody should know.
func notice(err error) { fmt.Fprintf(os.Stderr, "bump: %v\n", err) }
