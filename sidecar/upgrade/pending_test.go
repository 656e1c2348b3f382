package upgrade

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/google/go-cmp/cmp"
)

// spooled declares an owner that defers, and claims, beside another one.
func spooled() *schema.Declaration {
	return &schema.Declaration{State: "usage", Owners: map[string]schema.Owner{
		"tool": {Busy: schema.Busy{Then: schema.Defer}, Fields: spec{
			"n": {Type: schema.TypeUint, Kind: schema.Counter}, "peak": {Type: schema.TypeUint, Kind: schema.Max},
		}},
		"hook": {Fields: spec{"fired": {Type: schema.TypeTime, Kind: schema.Once}, "word": {Type: schema.TypeString}}},
	}}
}

// changed returns upgrades after which no process may defer n, or claim fired.
func changed() map[string]*schema.Declaration {
	all := map[string]*schema.Declaration{}
	for name, change := range map[string]func(*schema.Declaration){
		"fails now":   func(d *schema.Declaration) { d.Owners["tool"] = schema.Owner{Fields: d.Owners["tool"].Fields} },
		"removed":     func(d *schema.Declaration) { delete(d.Owners, "tool") },
		"other field": func(d *schema.Declaration) { delete(d.Owners["tool"].Fields, "n") },
	} {
		d := spooled()
		change(d)
		delete(d.Owners["hook"].Fields, "fired")
		all[name] = d
	}
	return all
}

func newSpooled(t *testing.T) (dir string) {
	t.Helper()
	dir = create(t, spooled())
	return dir
}

func openAs(t *testing.T, dir, owner string, d *schema.Declaration) *sidecar.Writer {
	t.Helper()
	w, err := sidecar.Open(t.Context(), dir, d, owner, &sidecar.Options{Wait: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func addOne(tx *sidecar.Tx) error {
	sidecar.CounterOf(tx, "n", schema.Uint).Add(1)
	return nil
}

// busy runs fn while another process holds the lock of tool.
func busy(t *testing.T, dir string, fn func()) {
	t.Helper()
	defer holding(t, dir, statedir.OwnerLock("tool"))()
	fn()
}

// An upgrade leaves no pending patch behind: it folds all, and a writer opened
// before defers none afterwards, nor claims a removed field.
func TestUpgradeLeavesNoPatchBehind(t *testing.T) {
	for name, next := range changed() {
		t.Run(name, func(t *testing.T) {
			dir := newSpooled(t)
			built, byManifest := openAs(t, dir, "tool", spooled()), openAs(t, dir, "tool", nil)
			hook := openAs(t, dir, "hook", spooled())
			busy(t, dir, func() {
				if c, err := built.Update(t.Context(), addOne); err != nil || c.Outcome != sidecar.Deferred {
					t.Fatalf("%+v (%v)", c, err)
				}
			})
			upgraded(t, dir, next)
			for _, w := range []*sidecar.Writer{built, byManifest} {
				busy(t, dir, func() {
					_, err := w.Update(t.Context(), addOne)
					wantError(t, err, sidecar.ErrDeclaration)
				})
			}
			_, _, err := hook.Claim(t.Context(), "fired")
			wantError(t, err, sidecar.ErrDeclaration)
			for _, pattern := range []string{"tool.pending/[^.]*", "claims/hook/[^.]*"} {
				if left, err := filepath.Glob(filepath.Join(dir, ".freehold", pattern)); err != nil || len(left) > 0 {
					t.Errorf("left: %v (%v)", left, err)
				}
			}
			upgraded(t, dir, spooled())
			if diff := cmp.Diff(map[bool]string{true: "", false: "1"}[name != "fails now"], viewed(t, dir)["n"]); diff != "" {
				t.Errorf("n (-want +got):\n%s", diff)
			}
		})
	}
}

// An upgrade succeeds beside processes that defer without pause, and includes
// every acknowledged patch.
func TestUpgradeSucceedsBesideDeferringProcesses(t *testing.T) {
	dir := newSpooled(t)
	const setters = 8
	ended := make(chan error, setters)
	var added atomic.Int64
	for range setters {
		w := openAs(t, dir, "tool", spooled())
		go func() {
			for {
				switch _, err := w.Update(context.Background(), addOne); {
				case err == nil:
					added.Add(1)
				case !errors.Is(err, sidecar.ErrBusy): // a full pile, or a seal
					ended <- err
					return
				}
			}
		}()
	}
	for added.Load() < 50 {
		time.Sleep(time.Millisecond)
	}
	if _, err := Run(t.Context(), dir, changed()["fails now"], &Options{Wait: time.Minute}); err != nil {
		t.Fatal(err)
	}
	for range setters {
		wantError(t, <-ended, sidecar.ErrDeclaration)
	}
	if n := viewed(t, dir)["n"]; n != fmt.Sprint(added.Load()) {
		t.Errorf("n is %s, and %d were acknowledged", n, added.Load())
	}
}

// An upgrade waits for a process that is deferring, and a process that defers later
// does not wait for the upgrade.
func TestUpgradeAndDeferringExcludeEachOther(t *testing.T) {
	dir := newSpooled(t)
	w := openAs(t, dir, "tool", spooled())
	d, err := statedir.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	pending, err := d.OpenPending(manifest(t, dir), "tool")
	if err != nil {
		t.Fatal(err)
	}
	defer pending.Close()
	if err := pending.Share(); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), dir, changed()["removed"], &Options{DryRun: true, Wait: -1}); err != nil {
		t.Errorf("a dry run does not go on beside a process that defers: %v", err)
	}
	_, err = Run(t.Context(), dir, changed()["removed"], &Options{Wait: 20 * time.Millisecond})
	wantError(t, err, sidecar.ErrBusy, "tool.pending")
	pending.Unshare()
	if err := pending.Seal(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	busy(t, dir, func() {
		c, err := w.Update(t.Context(), addOne)
		wantError(t, err, sidecar.ErrBusy, "nothing was changed", "an upgrade of the state is under way")
		if c.Outcome != sidecar.NotApplied || c.Folded != 0 || !c.Version.IsZero() {
			t.Errorf("the commit is %+v", c)
		}
	})
	pending.Unshare()
	if left, err := filepath.Glob(filepath.Join(dir, ".freehold", "tool.pending", "[^.]*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v (%v)", left, err)
	}
	upgraded(t, dir, changed()["removed"])
}

// An owner that may defer only since the locks were released for folding is sealed
// too.
func TestAnOwnerThatDefersSinceIsSealedToo(t *testing.T) {
	dir := newSpooled(t)
	w := openAs(t, dir, "tool", spooled())
	busy(t, dir, func() {
		if c, err := w.Update(t.Context(), addOne); err != nil || c.Outcome != sidecar.Deferred {
			t.Fatalf("%+v (%v)", c, err)
		}
	})
	d, m := openDir(t, dir)
	m.Declaration.Owners["bell"] = schema.Owner{Busy: schema.Busy{Then: schema.Defer}, Fields: spec{"rung": {Type: schema.TypeUint, Kind: schema.Counter}}}
	another := sync.OnceFunc(func() { // upgrade, while the patch is folded
		if err := d.WriteManifest(m); err != nil {
			t.Error(err)
		}
	})
	r := &run{dir: d, folded: map[string]int{}, options: Options{Wait: time.Second, Program: "test", Clock: func() time.Time { another(); return time.Now() }}}
	release, err := r.lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	pending, err := d.OpenPending(r.manifest, "bell")
	if err != nil {
		t.Fatal(err)
	}
	defer pending.Close()
	if err := pending.Share(); !errors.Is(err, store.Busy) {
		t.Errorf("bell may defer during the upgrade: %v", err)
	}
}

// patient declares owners that wait so long.
func patient(waits map[string]string) *schema.Declaration {
	d := &schema.Declaration{State: "agent", Owners: map[string]schema.Owner{}}
	for owner, wait := range waits {
		d.Owners[owner] = schema.Owner{Busy: schema.Busy{Wait: wait}, Fields: spec{owner + "_n": {Type: schema.TypeUint}}}
	}
	return d
}

// An upgrade waits as long as the most patient owner of the state, or as long as
// its caller says.
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
		dir := create(t, patient(c.waits))
		sd, _ := openDir(t, dir)
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
	lock, err := sd.OpenLock(m, name)
	if err == nil {
		err = lock.Acquire(t.Context(), time.Minute)
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() { lock.Close() }
}
