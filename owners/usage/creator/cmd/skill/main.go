// Command skill makes a skill, or takes one away with all that is known of it.
//
//	skill [-dir STATE] [-by WHO] [-at TIME] [-delete] SKILL
package main

import (
	"context"
	"flag"
	"os"
	"runtime/debug"
	"time"

	"github.com/freehold-dev/freehold/owners/command"
	"github.com/freehold-dev/freehold/owners/usage/creator"
	"github.com/freehold-dev/freehold/sidecar"
)

func main() {
	debug.SetTraceback("crash")
	var by string
	var takeAway bool
	at := time.Now()
	c := command.Command{
		Program:  "skill",
		Operands: []string{"SKILL"},
		Flags: func(f *flag.FlagSet) {
			f.StringVar(&by, "by", "user", "who makes it")
			f.BoolVar(&takeAway, "delete", false, "take it away")
			f.Func("at", "when it was made, as RFC 3339; if not given, now", func(text string) (err error) {
				at, err = time.Parse(time.RFC3339, text)
				return err
			})
		},
		Do: func(ctx context.Context, dir string, operands []string) (err error) {
			o := &sidecar.Options{Program: "skill"}
			if takeAway {
				_, err = creator.Delete(ctx, dir, operands[0], o)
			} else {
				_, err = creator.Create(ctx, dir, operands[0], by, at, o)
			}
			return err
		},
	}
	os.Exit(c.Run(context.Background(), os.Args[1:], os.Stderr))
}
