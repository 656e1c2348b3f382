// Package upkeep has the commands that make, upgrade, adopt, look over and repair
// state directories.
package upkeep

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/cmd/freehold/internal/ownersfile"
	"github.com/freehold-dev/freehold/cmd/internal/console"
	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/repair"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// Commands returns the commands about state directories.
func Commands(c *cli.Call) []*cobra.Command {
	return []*cobra.Command{newState(c), newAdopt(c), newAccept(c), newQuarantine(c), newDoctor(c), newPrune(c), newFold(c)}
}

func newState(c *cli.Call) *cobra.Command {
	return c.Group(&cobra.Command{
		Use:     "state COMMAND",
		Short:   "make, list, upgrade and repair state directories",
		Long:    "Make, list, upgrade and repair state directories.",
		Example: "  freehold state init --dir ./state",
	}, newStateInit(c), newStateInstances(c), newStateUpgrade(c), newStateRepair(c))
}

func newStateInit(c *cli.Call) *cobra.Command {
	p, owners := &cli.Place{}, &ownersfile.Flag{}
	cmd := c.Command(&cobra.Command{
		Use:   "init",
		Short: "make a state directory",
		Long: `Make a state directory, with missing directories above it, for the state that an
owners.yaml declares: the one in --owners, or else the one that freehold gen would
find. Of a state with instances it makes the directory that holds them; with
--instance also that instance, declared like the most complete of the others unless
--owners is given. Programs make their instances themselves.`,
		Example: `  freehold state init --dir ./state --owners owners/runtime/owners.yaml
  freehold state init --dir ./sessions --instance 4f2a --owners owners/session/owners.yaml`,
		Args: cli.Operands(0, 0, "no operands"),
	}, func(context.Context, []string) error {
		dir, ok, err := p.Named()
		if err != nil {
			return err
		}
		if !ok {
			return failure.Usage("where is the state to be: name the directory with --dir STATE")
		}
		id, instance := p.Instance()
		d, err := declarationFor(owners, dir, instance)
		if err != nil {
			return err
		}
		if instance {
			dir, err = makeInstance(dir, id, d)
		} else if err = sidecar.Create(dir, d); err != nil {
			err = occupied(dir, err)
		}
		if err != nil {
			return err
		}
		var text console.Text
		text.Line("made the state %s in %s", d.State, dir)
		text.Line("owners: %s", strings.Join(d.OwnerNames(), ", "))
		c.Report(stateReport{dir, d.State, d.OwnerNames()}, text.String())
		return nil
	})
	p.Flags(cmd)
	cmd.Flags().Lookup("dir").Usage = "the state directory `STATE` to make (default $" + console.DirVariable + ")"
	owners.Add(cmd, ownersfile.Default)
	return cmd
}

type stateReport struct {
	Dir    string   `json:"dir"`
	State  string   `json:"state"`
	Owners []string `json:"owners"`
}

// occupied returns the error of a Create in dir: if the manifest there cannot be
// used, the fault of that, because no program can work in the state.
func occupied(dir string, err error) error {
	if !errors.Is(err, store.Exists) {
		return err
	}
	d, openErr := store.Open(dir)
	if openErr != nil {
		return err
	}
	defer d.Close()
	if _, lost := d.Manifest(); lost != nil && !errors.Is(lost, store.HasInstances) {
		return store.WithRemedy(lost, store.Remedy{Note: "restore .freehold from a backup, or, to begin anew, move it and the sidecars in " + dir + " away"})
	}
	return err
}

// makeInstance makes an instance and returns its directory.
func makeInstance(dir, id string, d *schema.Declaration) (string, error) {
	if !d.Instanced() {
		return "", failure.Usage("the state %s is declared without instances: leave --instance out", d.State)
	}
	name, err := schema.InstanceDir(id)
	if err != nil {
		return "", fmt.Errorf("--instance: %w", err)
	}
	return filepath.Join(dir, name), sidecar.CreateInstance(dir, id, d)
}

// declarationFor returns the declaration of a state that is to be made in dir: for
// one more instance that of the others, unless the caller names a file.
func declarationFor(owners *ownersfile.Flag, dir string, instance bool) (*schema.Declaration, error) {
	if instance && !owners.Given() {
		d, err := siblings(dir)
		if d != nil || err != nil {
			return d, err
		}
	}
	source, err := owners.Read()
	if err != nil {
		return nil, err
	}
	return source.Declaration, nil
}

// siblings returns the declaration of the instances in dir; of several that have
// grown apart the one that contains the others. It is nil if no instance can be
// read.
func siblings(dir string) (*schema.Declaration, error) {
	found, err := store.Instances(dir)
	if err != nil {
		return nil, nil // the fault shows when the instance is made
	}
	var most *schema.Manifest
	for _, i := range found {
		m, err := console.ManifestIn(filepath.Join(dir, i.Name))
		if i.Err != nil || err != nil {
			continue
		}
		if most == nil {
			most = m
		}
		_, more, err := most.Merge(&m.Declaration)
		if err == nil && more {
			if _, less, lessErr := m.Merge(&most.Declaration); lessErr != nil || less {
				err = fmt.Errorf("%w: each declares something that the other does not", schema.ErrDeclaration)
			}
		}
		if err != nil {
			err = fmt.Errorf("%s: the instances %q and %q are declared in different ways: %w", dir, most.Instance, m.Instance, err)
			return nil, store.WithRemedy(err, store.Remedy{Note: "name the owners.yaml of the new one with --owners FILE"})
		}
		if more {
			most = m
		}
	}
	if most == nil {
		return nil, nil
	}
	return &most.Declaration, nil
}

func newStateInstances(c *cli.Call) *cobra.Command {
	p := cli.Looking()
	cmd := c.Command(&cobra.Command{
		Use:   "instances",
		Short: "list the instances of a state",
		Long: `List the instances of a state, one on a line: id and directory. An id that is no
plain name of a directory has one that is called after its digest. A damaged instance
is listed with the reason, and then the exit status is 3.`,
		Example: "  freehold state instances --dir ./sessions",
		Args:    cli.Operands(0, 0, "no operands"),
	}, func(context.Context, []string) error {
		dir, err := p.Gathering()
		if err != nil {
			return err
		}
		progress := c.Progress("looking for instances")
		found, err := store.Instances(dir)
		progress.End()
		if err != nil {
			return err
		}
		return listInstances(c, dir, found)
	})
	p.Flags(cmd)
	cmd.Flags().MarkHidden("instance")
	return cmd
}

type instanceReport struct {
	Instance string `json:"instance,omitempty"`
	Dir      string `json:"dir"`
	Error    string `json:"error,omitempty"`
}

// listInstances prints the instances found in dir, in JSON one object on a line.
func listInstances(c *cli.Call, dir string, found []store.Instance) error {
	var damaged error
	var text strings.Builder
	rows := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(rows, "INSTANCE\tDIRECTORY")
	for _, i := range found {
		r := instanceReport{Instance: i.ID, Dir: filepath.Join(dir, i.Name)}
		id := display.Quote(i.ID)
		if i.Err != nil {
			damaged = failure.Verdict{Status: failure.ExitState}
			r.Error, id = c.WithRemedies(i.Err, r.Dir), "-"
		}
		switch {
		case c.JSON:
			if err := c.PrintJSON(r); err != nil {
				return err
			}
		case i.Err != nil:
			c.Say("error", r.Error)
		}
		fmt.Fprintf(rows, "%s\t%s\n", id, display.Escape(i.Name))
	}
	if c.JSON {
		return damaged
	}
	if len(found) == 0 {
		return c.Print("no instances yet\n")
	}
	rows.Flush()
	return errors.Join(c.Print(text.String()), damaged)
}

func newStateRepair(c *cli.Call) *cobra.Command {
	p, owners := &cli.Place{}, &ownersfile.Flag{}
	cmd := c.Command(&cobra.Command{
		Use:   "repair",
		Short: "make lost lock files and directories of claims anew",
		Long: `Make lost or replaced lock files anew, and missing directories of claims and pending
patches. Present directories of claims, as after a restore, count. An owner's lock
file tells of its versions and claims: a claim that is gone while the lock file is
there can be won after "freehold accept"; after a new lock file nothing tells that a
sidecar is an older copy, or that a claim is gone.
Stop the state's programs first: a program that holds a lost lock is not noticed.

With --owners, make the lost or torn manifest anew, from that owners.yaml and the
sidecars that are there. The former file goes to .freehold/quarantine.`,
		Example: `  freehold state repair --dir ./state
  freehold state repair --dir ./state --owners owners/runtime/owners.yaml`,
		Args: cli.Operands(0, 0, "no operands"),
	}, func(ctx context.Context, _ []string) error {
		dir, err := p.Find()
		if err != nil {
			return err
		}
		if owners.Given() {
			source, err := owners.Read()
			if err != nil {
				return err
			}
			if err := repair.Restore(dir, source.Declaration); err != nil {
				return err
			}
			c.Report(repairReport{dir, []string{"manifest.json"}}, "made anew: manifest.json\nnothing vouches for the sidecars and claims of before: look at them\n")
			return nil
		}
		remade, err := repair.Remake(ctx, dir)
		if err != nil {
			return err
		}
		text := "nothing to repair\n"
		if len(remade) > 0 {
			text = "made anew: " + strings.Join(remade, ", ") + "\n"
		}
		if slices.ContainsFunc(remade, func(name string) bool { return strings.HasSuffix(name, ".lock") && name != "state.lock" }) {
			text += "nothing vouches for the sidecars and claims of before: look at them\n"
		}
		c.Report(repairReport{dir, remade}, text)
		return nil
	})
	p.Flags(cmd)
	owners.Add(cmd, "make the manifest anew from this owners.yaml `FILE`")
	return cmd
}

type repairReport struct {
	Dir    string   `json:"dir"`
	Remade []string `json:"remade"`
}
