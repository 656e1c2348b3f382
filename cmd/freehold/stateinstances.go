package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/spf13/cobra"
)

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

// of returns the declaration of the state that is to be made in dir: of one more
// instance that of the others, unless the caller names a file.
func (d *declared) of(dir string, instance bool) (*schema.Declaration, error) {
	if instance && !d.flag.Changed {
		declaration, err := siblings(dir)
		if declaration != nil || err != nil {
			return declaration, err
		}
	}
	source, err := d.one()
	if err != nil {
		return nil, err
	}
	return source.Declaration, nil
}

// siblings returns the declaration of the instances in dir; of several that have
// grown apart the one that contains the others. It is nil if there are none that
// can be read.
func siblings(dir string) (*schema.Declaration, error) {
	found, err := store.Instances(dir)
	if err != nil {
		return nil, nil // what is wrong shows when the instance is made
	}
	var most *schema.Manifest
	for _, i := range found {
		m, err := manifestOf(dir, i)
		if err != nil {
			continue
		}
		if most == nil {
			most = m
			continue
		}
		wider, err := containing(most, m)
		if err != nil {
			return nil, failure.Hint(
				fmt.Errorf("%s: the instances %s and %s are declared in different ways: %w", dir, display.Quote(most.Instance), display.Quote(m.Instance), err),
				"name the owners.yaml that the new one is to have with --owners FILE",
			)
		}
		most = wider
	}
	if most == nil {
		return nil, nil
	}
	return &most.Declaration, nil
}

// containing returns the one of two manifests that declares all that the other
// does.
func containing(a, b *schema.Manifest) (*schema.Manifest, error) {
	_, more, err := a.Merge(&b.Declaration)
	if err != nil || !more {
		return a, err
	}
	if _, more, err = b.Merge(&a.Declaration); err == nil && more {
		err = fmt.Errorf("%w: each declares what the other does not", schema.ErrDeclaration)
	}
	return b, err
}

func manifestOf(dir string, i store.Instance) (*schema.Manifest, error) {
	if i.Err != nil {
		return nil, i.Err
	}
	d, err := store.OpenInstance(dir, i.ID)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Manifest()
}

func newStateInstances(c *cli) *cobra.Command {
	p := &place{}
	cmd := c.command(&cobra.Command{
		Use:   "instances",
		Short: "list the instances of a state",
		Long: `List the instances of a state, one on a line: its id and its directory. An id that
is no plain name of a directory lives in one that is called after its digest. What
cannot be used is listed with the reason, and then the exit status is 3.`,
		Example: "  freehold state instances --dir ./sessions",
		Args:    operands(0, 0, "no operands"),
	}, func(context.Context, []string) error {
		dir, err := p.gathering()
		if err != nil {
			return err
		}
		found, err := store.Instances(dir)
		if err != nil {
			return err
		}
		return c.listInstances(dir, found)
	})
	p.flags(cmd)
	cmd.Flags().MarkHidden("instance")
	return cmd
}

type instanceReport struct {
	Instance string `json:"instance,omitempty"`
	Dir      string `json:"dir"`
	Error    string `json:"error,omitempty"`
}

// listInstances prints what was found in dir, in JSON one object on a line.
func (c *cli) listInstances(dir string, found []store.Instance) error {
	var damaged error
	rows := table{{"INSTANCE", "DIRECTORY"}}
	for _, i := range found {
		r := instanceReport{Instance: i.ID, Dir: filepath.Join(dir, i.Name)}
		id := display.Quote(i.ID)
		if i.Err != nil {
			damaged = failure.Verdict{Status: failure.ExitState}
			r.Error, id = c.standalone(failure.WithRemedies(i.Err), r.Dir), none
		}
		if c.json {
			if err := c.printJSON(r); err != nil {
				return err
			}
		} else if i.Err != nil {
			c.say("error", failure.WithRemedies(i.Err))
		}
		rows = append(rows, []string{id, display.Escape(strings.TrimPrefix(r.Dir, dir+"/"))})
	}
	if c.json {
		return damaged
	}
	if len(found) == 0 {
		return c.print("no instances yet\n")
	}
	if err := c.print(rows.aligned()); err != nil {
		return err
	}
	return damaged
}
