// Command pin tells the curator to leave a skill alone, or not to any more.
//
//	pin [-dir STATE] [-off] SKILL
package main

import (
	"context"
	"flag"
	"os"
	"runtime/debug"

	"github.com/freehold-dev/freehold/owners/command"
	"github.com/freehold-dev/freehold/owners/usage/user"
	"github.com/freehold-dev/freehold/sidecar"
)

func main() {
	debug.SetTraceback("crash")
	var off bool
	c := command.Command{
		Program:  "pin",
		Operands: []string{"SKILL"},
		Flags:    func(f *flag.FlagSet) { f.BoolVar(&off, "off", false, "let the curator have it again") },
		Do: func(ctx context.Context, dir string, operands []string) error {
			_, err := user.Pin(ctx, dir, operands[0], !off, &sidecar.Options{Program: "pin"})
			return err
		},
	}
	os.Exit(c.Run(context.Background(), os.Args[1:], os.Stderr))
}
