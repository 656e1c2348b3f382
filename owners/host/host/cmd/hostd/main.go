// Command hostd is the host, which answers on a local port and commits its
// endpoint and heartbeats to the state.
//
//	hostd [-dir STATE] [-beat DURATION] [-wait DURATION]
//
// One process at a time is the host. Another exits with 5, at once or after
// -wait, or waits without limit while the host is being retired, so that a
// supervisor does not run out of restarts. On SIGTERM the host drains: no new
// connection is accepted, and after the last answer the host gives its lease
// back and exits with 0. A host that has lost the lease exits with 4. Any other
// failure of a heartbeat is printed, and the next one is tried.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/freehold-dev/freehold/owners/command"
	"github.com/freehold-dev/freehold/owners/host/host/internal/hostfile"
	"github.com/freehold-dev/freehold/sidecar"
)

func main() {
	var beat, wait time.Duration
	command.Command{
		Program: "hostd",
		Flags: func(f *flag.FlagSet) {
			f.DurationVar(&beat, "beat", 5*time.Second, "time between two heartbeats")
			f.DurationVar(&wait, "wait", 0, "how long to wait while another process is the host")
		},
		Do: func(ctx context.Context, dir string, _ []string) error { return host(ctx, dir, beat, wait) },
	}.Main()
}

// notice prints an error that does not stop the host.
func notice(err error) { fmt.Fprintf(os.Stderr, "hostd: %v\n", err) }

// host is the host until ctx ends.
func host(ctx context.Context, dir string, beat, wait time.Duration) (err error) {
	if beat <= 0 {
		return errors.New("invalid -beat: want a positive duration")
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
		tx.Draining().Set(false) // the last host may have died while draining
		return nil
	})
	if err != nil {
		return err
	}
	if err := live(ctx, w, beat); err != nil {
		return err
	}
	return drain(w, s)
}

// live commits heartbeats until ctx ends, or returns an error if the host must
// not go on.
func live(ctx context.Context, w *hostfile.Writer, beat time.Duration) error {
	ticks := time.NewTicker(beat)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-ticks.C:
			_, err := w.Update(ctx, func(tx hostfile.Tx) error { tx.HeartbeatAt().Raise(now); return nil })
			switch {
			case ctx.Err() != nil: // the last heartbeat is in the drain
			case errors.Is(err, sidecar.ErrFenced), errors.Is(err, sidecar.ErrIndeterminate):
				return err
			case err != nil:
				notice(fmt.Errorf("no heartbeat, trying again in %v: %w", beat, err))
			}
		}
	}
}

// drain ends the host in good order, still with the lease, so that no successor
// begins before.
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
