// Command pin keeps the curator from moving a skill, or no longer.
//
//	pin [-dir STATE] [-off] SKILL
package main

import (
	"context"
	"flag"

	"github.com/freehold-dev/freehold/owners/command"
	"github.com/freehold-dev/freehold/owners/usage/user"
	"github.com/freehold-dev/freehold/sidecar"
)

func main() {
	var off bool
	command.Command{
		Program:  "pin",
		Operands: []string{"SKILL"},
		Flags:    func(f *flag.FlagSet) { f.BoolVar(&off, "off", false, "let the curator move it again") },
		Do: func(ctx context.Context, dir string, operands []string) error {
			_, err := user.Pin(ctx, dir, operands[0], !off, &sidecar.Options{Program: "pin"})
			return err
		},
	}.Main()
}
