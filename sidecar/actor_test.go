package sidecar

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/lease"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/actor"
)

func init() {
	roles["actor"] = func(args []string) error {
		p := actor.Part{Dir: args[0], Open: func(dir string, wait time.Duration) (actor.Writer, uint64, error) {
			w, err := Open(context.Background(), dir, declaration(), "watchdog", &Options{Program: "actor", LeaseWait: wait})
			if err != nil {
				return nil, 0, err
			}
			return beating{w}, w.epoch, nil
		}}
		return p.Play(nil)
	}
}

type beating struct{ *Writer }

func (b beating) Beat() (string, error) {
	c, err := b.Update(context.Background(), beat)
	return fmt.Sprintf("%v %v", c.Outcome, c.Version), err
}

var (
	torture    = actor.Torture
	rounds     = actor.Rounds
	counted    = actor.Counted
	eventually = actor.Eventually
	newActor   = actor.New
	mustAtoi   = actor.Atoi
)

func beat(tx *Tx) error {
	CounterOf(tx, "beats", schema.Uint).Add(1)
	return nil
}

// record reads the record of watchdog's lease, which must be sound.
func record(t *testing.T, dir string) *lease.Record {
	t.Helper()
	s := leaseState(t, dir)
	if s.RecordErr != nil || s.Lease == nil {
		t.Fatalf("no record of the lease: %v", s.RecordErr)
	}
	return s.Lease
}

// holds reports whether the record names this process as the holder in epoch.
func holds(l *lease.Record, epoch uint64) bool {
	return l.Epoch == epoch && l.Holder != nil && l.Holder.Identity.Same(process.Self())
}

func leaseState(t *testing.T, dir string) LeaseState {
	t.Helper()
	s, err := LeaseStatus(dir, "watchdog")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func metaPath(dir, name string) string { return dir + "/.freehold/" + name }

func recordPath(dir string) string { return metaPath(dir, statedir.OwnerRecord("watchdog")) }
