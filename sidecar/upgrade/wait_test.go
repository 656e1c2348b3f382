package upgrade

import (
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
)

// patient declares owners that wait so long.
func patient(waits map[string]string) *schema.Declaration {
	d := &schema.Declaration{State: "agent", Owners: map[string]schema.Owner{}}
	for owner, wait := range waits {
		d.Owners[owner] = schema.Owner{Busy: schema.Busy{Wait: wait}, Fields: spec{owner + "_n": {Type: schema.TypeUint}}}
	}
	return d
}

// Whoever holds up one owner's lock holds up all: an upgrade waits as long as
// the most patient owner of the state does, or as long as its caller says.
func TestUpgradeWaitsAsLongAsTheMostPatientOwner(t *testing.T) {
	for _, c := range []struct {
		waits       map[string]string
		asked, want time.Duration
	}{
		{map[string]string{"tool": "1ms", "cost": "1h"}, 0, time.Hour},
		{map[string]string{"tool": "2ms", "cost": "1ms"}, 0, 2 * time.Millisecond},
		{map[string]string{"tool": "1ms", "cost": ""}, 0, schema.DefaultWait},
		{map[string]string{"tool": "0s"}, 0, 0},
		{map[string]string{"tool": "1ms"}, time.Hour, time.Hour},
		{map[string]string{"tool": "1h"}, -1, -1},
	} {
		dir := t.TempDir() + "/state"
		if err := sidecar.Create(dir, patient(c.waits)); err != nil {
			t.Fatal(err)
		}
		sd, err := statedir.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer sd.Close()
		r := &run{dir: sd, options: Options{Wait: c.asked}}
		if err := r.enter(t.Context()); err != nil || r.options.Wait != c.want {
			t.Errorf("owners wait %v, the caller says %v: it waits %v (%v), want %v", c.waits, c.asked, r.options.Wait, err, c.want)
		}
	}
}

// holding takes a lock of the state, as another process has it.
func holding(t *testing.T, dir, name string) (release func()) {
	t.Helper()
	sd, m := openDir(t, dir)
	lock, err := sd.OpenLock(name, m.Locks[name])
	if err == nil {
		err = lock.Acquire(t.Context(), time.Minute)
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() { lock.Close() }
}
