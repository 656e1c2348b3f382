package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/spf13/cobra"
)

func newState(c *cli) *cobra.Command {
	return c.group(&cobra.Command{
		Use:     "state COMMAND",
		Short:   "make, list, upgrade and repair state directories",
		Long:    "Make, list, upgrade and repair state directories.",
		Example: "  freehold state init --dir ./state",
	}, newStateInit(c), newStateInstances(c), newStateUpgrade(c), newStateRepair(c))
}

func newStateInit(c *cli) *cobra.Command {
	p, d := &place{}, &declared{cli: c}
	cmd := c.command(&cobra.Command{
		Use:   "init",
		Short: "make a state directory",
		Long: `Make a state directory, and the directories above it that are missing, for the
state that an owners.yaml declares. The owners.yaml is the one in --owners, or
else the one that freehold gen would find.

If the state is declared with instances, the directory is made that holds them;
with --instance, this instance too. Where there are others, it is declared as the
most that one of them is, unless --owners says how. Programs make the instances
that they need themselves.`,
		Example: `  freehold state init --dir ./state --owners owners/runtime/owners.yaml
  freehold state init --dir ./sessions --instance 4f2a --owners owners/session/owners.yaml`,
		Args: operands(0, 0, "no operands"),
	}, func(context.Context, []string) error {
		dir, ok, err := p.named()
		if err != nil {
			return err
		}
		if !ok {
			return failure.Usage("where is the state to be: name the directory with --dir STATE")
		}
		declaration, err := d.of(dir, p.chosen.Changed)
		if err != nil {
			return err
		}
		if p.chosen.Changed {
			if dir, err = makeInstance(dir, p.instance, declaration); err != nil {
				return err
			}
		} else if err := sidecar.Create(dir, declaration); err != nil {
			return occupied(dir, err)
		}
		c.reportState(dir, declaration)
		return nil
	})
	p.flags(cmd)
	cmd.Flags().Lookup("dir").Usage = "the state directory `STATE` to make (default $" + dirVariable + ")"
	d.flags(cmd)
	return cmd
}

// occupied returns the error of a Create in dir: of a state whose manifest
// cannot be used, what is wrong there, because nobody else can work in it either.
func occupied(dir string, err error) error {
	if !errors.Is(err, store.Exists) {
		return err
	}
	d, openErr := store.Open(dir)
	if openErr != nil {
		return err
	}
	defer d.Close()
	if _, lost := d.Manifest(); lost != nil && !errors.Is(lost, sidecar.ErrInstances) {
		return failure.Hint(lost, "to begin anew, move .freehold and the sidecars in "+dir+" away, then run `freehold state init` again")
	}
	return err
}

type stateReport struct {
	Dir    string   `json:"dir"`
	State  string   `json:"state"`
	Owners []string `json:"owners"`
}

func (c *cli) reportState(dir string, d *schema.Declaration) {
	owners := d.OwnerNames()
	c.report(stateReport{dir, d.State, owners},
		fmt.Sprintf("made the state %s in %s\nowners: %s\n", display.Escape(d.State), display.Escape(dir), strings.Join(owners, ", ")))
}

func newStateRepair(c *cli) *cobra.Command {
	p := &place{}
	cmd := c.command(&cobra.Command{
		Use:   "repair",
		Short: "make lost lock files and directories of claims anew",
		Long: `Make the lock files that were lost or replaced anew, and go by the directories of
claims that are there, as after a restore, or make those that are missing: what
was claimed in a lost one can be won again. Stop the state's programs first: a
program that still holds a lost lock would not be seen.`,
		Example: "  freehold state repair --dir ./state",
		Args:    operands(0, 0, "no operands"),
	}, func(ctx context.Context, _ []string) error {
		dir, err := p.find()
		if err != nil {
			return err
		}
		remade, err := store.Repair(ctx, dir)
		if err != nil {
			return err
		}
		text := "nothing to repair\n"
		if len(remade) > 0 {
			text = "made anew: " + strings.Join(remade, ", ") + "\n"
		}
		c.report(repairReport{dir, append([]string{}, remade...)}, text)
		return nil
	})
	p.flags(cmd)
	return cmd
}

type repairReport struct {
	Dir    string   `json:"dir"`
	Remade []string `json:"remade"`
}
