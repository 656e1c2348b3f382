// Command bump counts acts on a skill.
//
//	bump [-dir STATE] [-act use|view|patch] [-at TIME] [-times N] SKILL
//
// The output is the number of counted acts, which is N unless a commit fails.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/freehold-dev/freehold/owners/command"
	"github.com/freehold-dev/freehold/owners/usage/tool"
	"github.com/freehold-dev/freehold/sidecar"
)

func main() {
	var act string
	var at time.Time
	var times uint
	command.Command{
		Program:  "bump",
		Operands: []string{"SKILL"},
		Flags: func(f *flag.FlagSet) {
			f.StringVar(&act, "act", "use", "the act: use, view or patch")
			f.UintVar(&times, "times", 1, "how many acts, each in a commit of its own")
			command.TimeVar(f, &at, "at", "when")
		},
		Do: func(ctx context.Context, dir string, operands []string) error {
			done, err := tool.Bump(ctx, dir, operands[0], tool.Act(act), at, times, &sidecar.Options{Program: "bump", Notice: notice})
			fmt.Println(done)
			return err
		},
	}.Main()
}

func notice(err error) { fmt.Fprintf(os.Stderr, "bump: %v\n", err) }
