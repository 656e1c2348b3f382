package main

import (
	"context"
	"errors"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/freehold-dev/freehold/sidecar/upgrade"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newStateUpgrade(c *cli) *cobra.Command {
	u := &upgrading{cli: c, declared: declared{cli: c}}
	cmd := c.command(&cobra.Command{
		Use:   "upgrade",
		Short: "bring a state up to a changed owners.yaml",
		Long: `Bring a state directory up to an owners.yaml that no longer only adds to what
the state was made from: that removes, renames ("was: old_name"), retypes, or
moves fields to another owner. The owners.yaml is the one in --owners, or else
the one that freehold gen would find. With --dry-run it says what would be done,
and which stored values would go, and changes nothing: read that first. Where an
upgrade would be refused now, it says why, and exits as that would.

Values go along with who wrote them. Where the type changes, every stored value
must be of the former type and convert exactly; else each that is not, or does
not, is named with its file and nothing is changed (exit status 64). A sidecar
that is foreign, invalid, unreadable or regressed refuses the upgrade (3). It
takes every lock of the state: while an exclusive owner has a live process it is
refused (5). Pending patches it folds first; if something cannot be, it is
refused (5), and "freehold fold" says more. Of each sidecar that it writes anew a
copy is kept in .freehold/quarantine.

Readers see the state as before or as after, never a mixture. Programs built
before the upgrade are refused from then on (4). An upgrade that was interrupted
is finished by the next one, and until then nobody commits. That takes no
owners.yaml: without --owners nothing else is done.

Of a state with instances it upgrades all of them, each by itself, or the one in
--instance; with --json it prints an object a line. If some cannot be upgraded,
the others are, and running it again comes to those.`,
		Example: `  freehold state upgrade --dry-run
  freehold state upgrade --dir ./state --owners owners/runtime/owners.yaml`,
		Args: operands(0, 0, "no operands"),
	}, func(ctx context.Context, _ []string) error { return u.run(ctx) })
	u.flags(cmd)
	return cmd
}

// An upgrading is one call of state upgrade.
type upgrading struct {
	*cli
	place
	declared
	options upgrade.Options
	waits   *pflag.Flag // of options.Wait
}

func (u *upgrading) flags(cmd *cobra.Command) {
	u.place.flags(cmd)
	u.declared.flags(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&u.options.DryRun, "dry-run", false, "say what would be done, and change nothing")
	flags.DurationVar(&u.options.Wait, "wait", 0, "wait at most `DURATION` for each owner's commits (default the longest that one of them declares)")
	u.waits = flags.Lookup("wait")
}

func (u *upgrading) run(ctx context.Context) error {
	switch {
	case u.options.Wait < 0:
		return failure.Usage("--wait %s is negative: give 0s for no waiting", u.options.Wait)
	case u.options.Wait == 0 && u.waits.Changed:
		u.options.Wait = -1
	}
	u.options.Notice = u.notice
	source, err := u.one()
	dirs, missing := u.each()
	begun := u.begun(dirs)
	switch {
	case err != nil && (len(begun) == 0 || len(begun) < len(dirs)):
		return err
	case missing != nil:
		return missing
	}
	return u.all(ctx, dirs, func(dir string) *schema.Declaration {
		if d := begun[dir]; d != nil {
			return d
		}
		return source.Declaration
	})
}

// begun returns, by directory, the declarations to which states are being
// upgraded, unless the caller names one. To finish an upgrade takes no owners.yaml,
// and the one that the caller happens to stand beside may be the older build's,
// which would undo it right away.
func (u *upgrading) begun(dirs []string) map[string]*schema.Declaration {
	all := map[string]*schema.Declaration{}
	if u.declared.flag.Changed {
		return all
	}
	for _, path := range dirs {
		dir, err := store.Open(path)
		if err != nil {
			continue
		}
		if m, err := dir.Manifest(); err == nil && m.Pending != nil {
			all[path] = &m.Declaration
		}
		dir.Close()
	}
	return all
}

// all upgrades one state after the other. One that cannot be upgraded keeps none
// of the others from it.
func (u *upgrading) all(ctx context.Context, dirs []string, to func(dir string) *schema.Declaration) error {
	var errs []error
	for _, dir := range dirs {
		report, err := upgrade.Run(ctx, dir, to(dir), &u.options)
		if err != nil && len(dirs) > 1 && errors.Is(err, sidecar.ErrNoState) {
			continue // it was removed meanwhile
		}
		errs = append(errs, err)
		if report == nil {
			continue
		}
		u.report(upgraded(report, u.options.DryRun, err), upgradeText(report, u.options.DryRun, err))
	}
	return errors.Join(errs...)
}
