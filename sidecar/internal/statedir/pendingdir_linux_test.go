package statedir

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"github.com/google/go-cmp/cmp"
)

func TestRepairMakesALostPendingDirectoryAnew(t *testing.T) {
	declared := declaration()
	cost := declared.Owners["cost"]
	cost.Busy.Then, cost.Fields = schema.Defer, map[string]schema.Field{"n": {Type: schema.TypeUint, Kind: schema.Counter}}
	declared.Owners["cost"] = cost
	dir := filepath.Join(t.TempDir(), "state")
	if err := Create(dir, declared); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, metaName, OwnerPending("cost"))
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	d, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	_, err = d.OpenPending(manifestOf(t, d), "cost")
	wantError(t, err, status.Lost)
	said.Same(t, "deferred: a directory that is gone", err, dir, "STATE")
	// An upgrade is no repair: their directory is missing.
	cost.Fields["more"] = cost.Fields["n"]
	_, err = d.Upgrade(t.Context(), declared, time.Minute)
	wantError(t, err, status.Lost)
	remade, err := Remake(t.Context(), dir)
	if diff := cmp.Diff([]string{"cost.pending"}, remade); diff != "" || err != nil {
		t.Errorf("remade (%v) (-want +got):\n%s", err, diff)
	}
	a, err := d.OpenPending(manifestOf(t, d), "cost")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if err := os.WriteFile(a.Path("a.1.json"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if names, err := a.Names(); err != nil || len(names) != 1 {
		t.Errorf("names %v (%v)", names, err)
	}
	known := map[string]int64{"a.0.json": 7, "a.1.json": 5} // what is known is not looked at again
	if sizes, bytes, err := a.Sizes([]string{"a.1.json"}, known); err != nil || bytes != 5 || len(sizes) != 1 {
		t.Errorf("the files have %d bytes, of %v (%v)", bytes, sizes, err)
	}
	if sizes, bytes, err := a.Sizes([]string{"a.1.json", "gone"}, nil); err != nil || bytes != 1 || len(sizes) != 1 {
		t.Errorf("the files have %d bytes, of %v (%v)", bytes, sizes, err)
	}
	if err := a.folder.CreateExclusive("a.2.json", []byte("z")); err != nil {
		t.Fatal(err)
	}
	wantError(t, a.folder.CreateExclusive("a.2.json", []byte("z")), fs.ErrExist)
	if raw, err := a.ReadFile("a.2.json", nil, 10); string(raw) != "z" || err != nil {
		t.Errorf("read %q (%v)", raw, err)
	}
	other, err := d.OpenPending(manifestOf(t, d), "cost")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := errors.Join(a.Share(), other.Share()); err != nil { // as many as want to
		t.Fatal(err)
	}
	wantError(t, other.Seal(t.Context(), 0), status.Busy)
	a.Unshare()
	other.Unshare()
	if err := other.Seal(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	said.Same(t, "deferred: while the state is upgraded", a.Share(), dir, "STATE")
	other.Unshare()
	if err := errors.Join(os.Rename(path, path+".moved"), os.Mkdir(path, 0o777), os.Chmod(path, 0o777)); err != nil {
		t.Fatal(err)
	}
	said.Same(t, "deferred: a directory that was moved while it was used", a.Unmoved(), dir, "STATE")
	_, err = d.OpenPending(manifestOf(t, d), "cost")
	said.Same(t, "deferred: a directory for others", err, dir, "STATE")
	if err := errors.Join(os.Remove(path), os.Rename(path+".moved", path)); err != nil {
		t.Fatal(err)
	}
	if all, err := os.ReadDir(path); err != nil || len(all) != 3 { // two patches and the id
		t.Errorf("left behind: %v (%v)", all, err)
	}
}

// A seal comes while any number of processes defer without pause: a process
// that comes later does not keep it waiting.
func TestSealComesWhileOthersDefer(t *testing.T) {
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
		a, err := d.OpenPending(manifestOf(t, d), "cost")
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
	a, err := d.OpenPending(manifestOf(t, d), "cost")
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
	m, err := d.Manifest()
	if err != nil {
		return err
	}
	a, err := d.OpenPending(m, "cost")
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
