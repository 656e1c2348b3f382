package main

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// dirVariable names the state directory where --dir does not.
const dirVariable = "FREEHOLD_DIR"

// A place is the state directory that a command works in.
type place struct {
	dir      string
	flag     *pflag.Flag // of dir
	instance string
	chosen   *pflag.Flag // of instance
}

func (p *place) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.dir, "dir", "", "the state directory `STATE` (default $"+dirVariable+", else the nearest one from here upward)")
	cmd.MarkFlagDirname("dir")
	p.flag = cmd.Flags().Lookup("dir")
	cmd.Flags().StringVar(&p.instance, "instance", "", "the instance `ID` of a state that has instances")
	p.chosen = cmd.Flags().Lookup("instance")
	cmd.RegisterFlagCompletionFunc("instance", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return p.instances(), cobra.ShellCompDirectiveNoFileComp
	})
}

// named returns the absolute path of the state directory that the caller
// names, or false if it names none. A relative path in the environment is
// refused: it would mean another place to every child that changes its
// directory.
func (p *place) named() (dir string, ok bool, err error) {
	switch {
	case p.dir != "":
		dir, err = filepath.Abs(p.dir)
		return dir, true, err
	case p.flag.Changed: // with a variable that is not set, most likely
		return "", false, failure.Usage("--dir is empty: name a directory")
	}
	dir = os.Getenv(dirVariable)
	if dir != "" && !filepath.IsAbs(dir) {
		return "", false, failure.Usage("%s is the relative path %q, which means another place in every directory: make it absolute", dirVariable, dir)
	}
	return dir, dir != "", nil
}

// find returns the state directory: the one named, or else the nearest one
// from the working directory upward; of a state with instances, the directory
// of the one that --instance names. It creates nothing.
func (p *place) find() (string, error) {
	dir, err := p.whole()
	if err != nil {
		return "", err
	}
	return p.choose(dir)
}

// whole is find without regard to instances.
func (p *place) whole() (string, error) {
	dir, ok, err := p.named()
	if ok || err != nil {
		return dir, err
	}
	return nearest()
}

// nearest returns the nearest state directory from the working directory upward.
func nearest() (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	// The shell may have come here through a link, and a state directory is
	// never opened through one.
	if physical, err := filepath.EvalSymlinks(here); err == nil {
		here = physical
	}
	return store.Find(here)
}

// A hand is who writes: its name for the provenance, and its patience.
type hand struct {
	program string
	wait    time.Duration
	waits   *pflag.Flag // of wait
}

func (h *hand) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&h.program, "program", "", "the writer's `NAME` in the provenance (default freehold)")
	cmd.Flags().DurationVar(&h.wait, "wait", 0, "wait at most `DURATION` for other processes (default as declared)")
	h.waits = cmd.Flags().Lookup("wait")
}

func (h *hand) options(notice func(error)) (*sidecar.Options, error) {
	o := &sidecar.Options{Program: h.program, Wait: h.wait, LeaseWait: h.wait, Notice: notice}
	switch {
	case h.wait < 0:
		return nil, failure.Usage("--wait %s is negative: give 0s for no waiting", h.wait)
	case h.waits.Changed && h.wait == 0:
		o.Wait = -1
	}
	return o, nil
}

// view takes one view of the state directory.
func (p *place) view(ctx context.Context) (*reader.View, error) {
	dir, err := p.find()
	if err != nil {
		return nil, err
	}
	r, err := reader.Open(dir)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.View(ctx)
}
