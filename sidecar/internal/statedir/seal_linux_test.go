package statedir

import (
	"context"
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
)

// However many defer without pause, a seal comes: who comes after it
// was wanted does not keep it waiting.
func TestASealComesWhileOthersGoOn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	err := Create(dir, &schema.Declaration{State: "agent", Owners: map[string]schema.Owner{
		"cost": {Busy: schema.Busy{Then: schema.Defer}, Fields: map[string]schema.Field{"n": {Type: schema.TypeUint, Kind: schema.Counter}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	d, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	const setters = 8
	var set atomic.Int64
	for range setters {
		go func() {
			for ctx.Err() == nil {
				switch err := setOne(d); {
				case err == nil:
					set.Add(1)
				case !errors.Is(err, status.Busy):
					ended <- err
					return
				}
			}
			ended <- nil
		}()
	}
	for range 5 {
		for before := set.Load(); set.Load() < before+2*setters; time.Sleep(time.Millisecond) {
		}
		a, err := d.OpenPending("cost")
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Seal(t.Context(), time.Minute); err != nil {
			t.Error(err)
		}
		a.Close()
	}
	stop()
	for range setters {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	a, err := d.OpenPending("cost")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if err := a.Share(); err != nil {
		t.Errorf("after the last seal: %v", err)
	}
}

// setOne keeps the directory of pending patches for as long as it takes to put
// one there, on a slow disk.
func setOne(d *Dir) error {
	a, err := d.OpenPending("cost")
	if err != nil {
		return err
	}
	defer a.Close()
	if err := a.Share(); err != nil {
		return err
	}
	defer a.Unshare()
	time.Sleep(20 * time.Millisecond)
	return nil
}
