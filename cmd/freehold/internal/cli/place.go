package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/freehold-dev/freehold/cmd/internal/console"
	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/verbs"
	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// A Place is the state directory of a command.
type Place struct{ console.Place }

// Looking returns the place of a command that changes nothing.
func Looking() *Place { return &Place{console.Place{Looks: true}} }

// Flags declares --dir and --instance.
func (p *Place) Flags(cmd *cobra.Command) {
	cmd.Flags().Var(&p.Dir, "dir", "the state directory `STATE` (default $"+console.DirVariable+", else the nearest one from here upward)")
	cmd.MarkFlagDirname("dir")
	cmd.Flags().Var(&p.ID, "instance", "the instance `ID` of a state that has instances")
	CompleteFlag(cmd, "instance", func() (ids []string) {
		dir, err := p.Gathering()
		if err != nil {
			return nil
		}
		about := ""
		if g, err := store.GatheringIn(dir); err == nil {
			about = "\t" + g.By + " of state " + g.State
		}
		found, _ := store.Instances(dir)
		for _, i := range found {
			if i.Err == nil && display.Escape(i.ID) == i.ID {
				ids = append(ids, i.ID+about)
			}
		}
		return ids
	})
}

// Completes lets a shell complete the operands of cmd: complete returns offers for
// the one that is typed, each with a description behind a tab.
func (p *Place) Completes(cmd *cobra.Command, complete func(verbs.Typing) []string) {
	cmd.ValidArgsFunction = p.Completion(complete)
}

// Completion is [Place.Completes] for the values of a flag.
func (p *Place) Completion(complete func(verbs.Typing) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		d, err := p.Declaration()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		view := func() (*reader.View, error) { return p.View(cmd.Context()) }
		offers := complete(verbs.Typing{Declaration: d, Args: args, Word: word, View: view})
		offers = slices.DeleteFunc(offers, func(offer string) bool { return !strings.HasPrefix(offer, word) })
		if len(offers) > 0 && strings.HasSuffix(strings.SplitN(offers[0], "\t", 2)[0], "=") {
			return offers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		}
		return offers, cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteFlag lets a shell complete the values of a flag of cmd.
func CompleteFlag(cmd *cobra.Command, flag string, values func() []string) {
	cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return values(), cobra.ShellCompDirectiveNoFileComp
	})
}

// A Writing is one call of a command that acts as an owner.
type Writing struct {
	*Call
	Place
	console.Writing
}

// Flags declares --program and --wait beside the flags of the place.
func (w *Writing) Flags(cmd *cobra.Command) {
	w.Place.Flags(cmd)
	cmd.Flags().StringVar(&w.Program, "program", "", "the writer's `NAME` in the provenance (default freehold)")
	AddWait(cmd, &w.Wait, "wait at most `DURATION` for other processes (default as declared)")
}

// AddWait declares --wait.
func AddWait(cmd *cobra.Command, wait *console.Wait, usage string) {
	cmd.Flags().Var(wait, "wait", usage)
}

// Prepare returns the state directory and the options to act there.
func (w *Writing) Prepare() (dir string, o *sidecar.Options, err error) {
	return w.Writing.Prepare(&w.Console, &w.Place.Place)
}

// Open opens the owner by the manifest alone. The wait for everything together is
// --wait, or that of the owner.
func (w *Writing) Open(ctx context.Context, owner string) (*sidecar.Writer, error) {
	dir, options, err := w.Prepare()
	if err != nil {
		return nil, err
	}
	return sidecar.Open(ctx, dir, nil, owner, options)
}
