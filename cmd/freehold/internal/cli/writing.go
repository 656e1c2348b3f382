package cli

import (
	"context"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/sidecar"
)

// A Writing is one call of a command that acts as an owner.
type Writing struct {
	*Call
	Place
	program string
	wait    time.Duration
	// For is the process that claims and beginnings are for.
	For int
}

// Flags declares --program and --wait beside the flags of the place.
func (w *Writing) Flags(cmd *cobra.Command) {
	w.Place.Flags(cmd)
	cmd.Flags().StringVar(&w.program, "program", "", "the writer's `NAME` in the provenance (default freehold)")
	cmd.Flags().DurationVar(&w.wait, "wait", 0, "wait at most `DURATION` for other processes (default as declared)")
}

// Wait returns the time that the caller gave with --wait, or false.
func (w *Writing) Wait() (limit time.Duration, ok bool) {
	return w.wait, w.cmd.Flags().Changed("wait")
}

// Patience returns the value of --wait as packages sidecar, adopt and upgrade
// take it: zero if cmd was not given one, negative for no waiting.
func Patience(cmd *cobra.Command, wait time.Duration) (time.Duration, error) {
	switch {
	case wait < 0:
		return 0, failure.Usage("--wait %s is negative: give 0s for no waiting", wait)
	case wait == 0 && cmd.Flags().Changed("wait"):
		return -1, nil
	}
	return wait, nil
}

// CheckProgram returns the error of a value of --program that the records of a
// state cannot keep as it is.
func CheckProgram(name string) error {
	switch {
	case len(name) > sidecar.MaxProgram:
		return failure.Usage("--program has %d bytes, more than the %d that provenance keeps: give a shorter name", len(name), sidecar.MaxProgram)
	case !utf8.ValidString(name):
		return failure.Usage("--program %q is no UTF-8: give another name", name)
	}
	return nil
}

// Prepare returns the state directory and the options to act there.
func (w *Writing) Prepare() (dir string, o *sidecar.Options, err error) {
	o = &sidecar.Options{Program: w.program, Bounded: true, For: w.For, Notice: w.Notice}
	if err := CheckProgram(w.program); err != nil {
		return "", nil, err
	}
	if o.Wait, err = Patience(w.cmd, w.wait); err != nil {
		return "", nil, err
	}
	dir, err = w.Find()
	return dir, o, err
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
