// Command skill creates a skill, or deletes one with all its fields.
//
//	skill [-dir STATE] [-by NAME] [-at TIME] [-delete] SKILL
package main

import (
	"context"
	"flag"
	"time"

	"github.com/freehold-dev/freehold/owners/command"
	"github.com/freehold-dev/freehold/owners/usage/creator"
	"github.com/freehold-dev/freehold/sidecar"
)

func main() {
	var by string
	var remove bool
	var at time.Time
	command.Command{
		Program:  "skill",
		Operands: []string{"SKILL"},
		Flags: func(f *flag.FlagSet) {
			f.StringVar(&by, "by", "user", "the name of its maker")
			f.BoolVar(&remove, "delete", false, "delete it")
			command.TimeVar(f, &at, "at", "when it was made")
		},
		Do: func(ctx context.Context, dir string, operands []string) (err error) {
			o := &sidecar.Options{Program: "skill"}
			if remove {
				_, err = creator.Delete(ctx, dir, operands[0], o)
			} else {
				_, err = creator.Create(ctx, dir, operands[0], by, at, o)
			}
			return err
		},
	}.Main()
}
