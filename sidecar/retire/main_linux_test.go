package retire

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/errorstest"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/internal/lease"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/actor"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/role"
)

func TestMain(m *testing.M) { role.Main(m, roles) }

// roles are the programs that tests run as processes of their own.
var roles = role.Roles{"actor": roleActor}

// said keeps the texts of the package's errors.
var said = errorstest.Golden{
	Update:  flag.Bool("update", false, "write the golden files anew"),
	Prose:   []string{"proof"},
	Folders: []string{"../internal/lease"},
	Wraps:   []string{"../internal/statedir", "../internal/status", "../internal/dir", "../internal/lock", "../internal/process"},
	Untold: map[string]string{
		"%w; look at what it does":                                      "wants a process that survives SIGKILL",
		"process %d: %w: its number was used again, by another process": "becomes the outcome AlreadyGone",
		"exit status of the stop command: %w":                           "wants a broken /proc",
		"the stop command failed: signal %d (%v)":                       "differs from an exit status, which is told, in that word",
		"it does not hold the lease":                                    "becomes store.IdentityChanged or store.NotJudged, with the process that does",
	},
}

// TestErrorsAreAllTold fails for an error that no test of the package provokes.
func TestErrorsAreAllTold(t *testing.T) { said.Complete(t) }

func declaration() *schema.Declaration {
	return &schema.Declaration{State: "agent", Owners: map[string]schema.Owner{
		"cost":     {Fields: map[string]schema.Field{"note": {Type: schema.TypeString}}},
		"watchdog": {Mode: schema.Exclusive, Fields: map[string]schema.Field{"beats": {Type: schema.TypeUint, Kind: schema.Counter}}},
	}}
}

// newState makes a state directory, which is looked over when the test ends.
func newState(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	if err := statedir.Create(dir, declaration()); err != nil {
		t.Fatal(err)
	}
	statetest.Healthy(t, dir)
	statetest.Damaged(dir, "lease-gone", "lease-stopped", "litter") // of the killed
	return dir
}

func openWatchdog(dir string, wait time.Duration) (beating, error) {
	w, err := sidecar.Open(context.Background(), dir, declaration(), "watchdog", &sidecar.Options{Program: "actor", LeaseWait: wait})
	return beating{w}, err
}

// mustOpen opens watchdog until the test ends.
func mustOpen(t *testing.T, dir string) beating {
	t.Helper()
	w, err := openWatchdog(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

type beating struct{ *sidecar.Writer }

func (b beating) Beat() (string, error) {
	c, err := b.Update(context.Background(), func(tx *sidecar.Tx) error {
		sidecar.CounterOf(tx, "beats", schema.Uint).Add(1)
		return nil
	})
	return fmt.Sprintf("%v %v", c.Outcome, c.Version), err
}

// roleActor is the process of an actor, which can also retire another.
func roleActor(args []string) error {
	p := actor.Part{Dir: args[0], Open: func(dir string, wait time.Duration) (actor.Writer, uint64, error) {
		w, err := openWatchdog(dir, wait)
		if err != nil {
			return nil, 0, err
		}
		s, err := sidecar.LeaseStatus(dir, "watchdog")
		if err != nil || s.Lease == nil {
			return nil, 0, fmt.Errorf("no record of the lease: %w", err)
		}
		return w, s.Lease.Epoch, nil
	}}
	// retire GRACE: retire the holder of the lease.
	return p.Play(map[string]actor.Verb{"retire": func(p *actor.Part, rest string) (string, error) {
		grace, err := time.ParseDuration(rest)
		if err != nil {
			return "", err
		}
		prepared, err := Prepare(p.Dir, "watchdog")
		if err != nil {
			return "", err
		}
		r, err := prepared.Run(context.Background(), &Options{Grace: grace})
		return r.Outcome.String(), err
	}, "retirewith": func(p *actor.Part, script string) (string, error) {
		prepared, err := Prepare(p.Dir, "watchdog")
		if err != nil {
			return "", err
		}
		r, err := prepared.RunWith(context.Background(), shell(script), nil)
		return r.Outcome.String(), err
	}})
}

func leaseState(t *testing.T, dir string) sidecar.LeaseState {
	t.Helper()
	s, err := sidecar.LeaseStatus(dir, "watchdog")
	if err != nil {
		t.Fatal(err)
	}
	return s
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

// writeRecord writes l as Freehold itself would.
func writeRecord(t *testing.T, dir string, l *lease.Record) {
	t.Helper()
	d, err := statedir.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := l.Write(d); err != nil {
		t.Fatal(err)
	}
}

func metaPath(dir, name string) string { return filepath.Join(dir, ".freehold", name) }

func recordPath(dir string) string { return metaPath(dir, statedir.OwnerRecord("watchdog")) }

var wantError = errorstest.Wraps

// brief are the options of tests: time enough for a loaded machine, and not
// for a mistake.
func brief() *Options { return &Options{Grace: time.Minute} }

func prepare(t *testing.T, dir string) *Prepared {
	t.Helper()
	p, err := Prepare(dir, "watchdog")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func codes(r Retirement) (codes []string) {
	for _, p := range r.Proofs {
		codes = append(codes, p.Code)
	}
	return codes
}

func has(r Retirement, code string) bool { return slices.Contains(codes(r), code) }

// signalled reports whether a retirement says that it sent anything.
func signalled(r Retirement) bool {
	return has(r, proofSignalled) || has(r, proofKilled) || has(r, proofStopRun)
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
