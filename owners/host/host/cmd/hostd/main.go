// Command hostd is the host: it answers on a local port, and tells in the state
// where that is and that it lives.
//
//	hostd [-dir STATE] [-beat DURATION] [-wait DURATION]
//
// One process at a time is the host. Another exits with 5, at once or after
// -wait; it waits as long as it takes while the host is being retired, so that a
// supervisor does not run out of restarts. On SIGTERM it drains: it takes
// nothing new, finishes what it does, says so in the state, gives its lease
// back and exits with 0. When it finds out that it is the host no more, it stops
// with 4. What goes wrong otherwise with a heartbeat is said on standard error,
// and the next one is tried.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/freehold-dev/freehold/owners/host/host/internal/hostfile"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
)

func main() {
	debug.SetTraceback("crash")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stderr))
}

// The exit statuses, which are those of the command freehold.
const (
	exitFailed = 1
	exitFenced = 4
	exitBusy   = 5
	exitUsage  = 64
)

func run(ctx context.Context, args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("hostd", flag.ContinueOnError)
	flags.SetOutput(stderr)
	dir := flags.String("dir", os.Getenv("FREEHOLD_DIR"), "state directory; if empty, the nearest one from the working directory upward")
	beat := flags.Duration("beat", 5*time.Second, "time between two heartbeats")
	wait := flags.Duration("wait", 0, "how long to wait while another process is the host")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return exitUsage
	}
	if *beat <= 0 || flags.NArg() > 0 {
		fmt.Fprintln(stderr, "hostd: -beat must be positive, and there are no operands")
		return exitUsage
	}
	err := host(ctx, *dir, *beat, *wait, func(err error) { fmt.Fprintf(stderr, "hostd: %v\n", err) })
	if err == nil {
		return 0
	}
	fmt.Fprintf(stderr, "hostd: stopped: %v\n", err)
	switch {
	case errors.Is(err, sidecar.ErrFenced):
		return exitFenced
	case errors.Is(err, sidecar.ErrBusy):
		return exitBusy
	}
	return exitFailed
}

// host is the host until ctx ends.
func host(ctx context.Context, dir string, beat, wait time.Duration, notice func(error)) (err error) {
	if dir == "" {
		if dir, err = store.Find("."); err != nil {
			return err
		}
	}
	w, err := hostfile.Open(ctx, dir, &sidecar.Options{Program: "hostd", LeaseWait: wait, Notice: notice})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	s, err := listen()
	if err != nil {
		return err
	}
	defer s.close()
	now := time.Now()
	_, err = w.Update(context.WithoutCancel(ctx), func(tx hostfile.Tx) error {
		tx.Endpoint().Set(s.endpoint())
		tx.StartedAt().Set(now)
		tx.HeartbeatAt().Raise(now)
		tx.Draining().Set(false) // the last host may have died while it drained
		return nil
	})
	if err != nil {
		return err
	}
	if err := live(ctx, w, beat, notice); err != nil {
		return err
	}
	return drain(w, s)
}

// live tells that the host lives until ctx ends. It returns an error if the
// host must not go on.
func live(ctx context.Context, w *hostfile.Writer, beat time.Duration, notice func(error)) error {
	ticks := time.NewTicker(beat)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-ticks.C:
			_, err := w.Update(ctx, func(tx hostfile.Tx) error { tx.HeartbeatAt().Raise(now); return nil })
			switch {
			case ctx.Err() != nil: // it is no matter whether that was the last one
			case errors.Is(err, sidecar.ErrFenced), errors.Is(err, sidecar.ErrIndeterminate):
				return err
			case err != nil:
				notice(fmt.Errorf("no heartbeat, trying again in %v: %w", beat, err))
			}
		}
	}
}

// drain ends the host in good order. The lease is still its own, so that no
// successor begins before it is done.
func drain(w *hostfile.Writer, s *server) error {
	ctx := context.Background()
	if _, err := w.Update(ctx, func(tx hostfile.Tx) error { tx.Draining().Set(true); return nil }); err != nil {
		return err
	}
	s.close()
	_, err := w.Update(ctx, func(tx hostfile.Tx) error {
		tx.Endpoint().Clear()
		tx.Draining().Set(false)
		tx.HeartbeatAt().Raise(time.Now())
		return nil
	})
	return err
}
