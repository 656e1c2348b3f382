package upgrade

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// aCase is a state of which an upgrade comes to something.
type aCase struct {
	name string
	make func(t *testing.T) (dir string)
	next *schema.Declaration
	want error // of both runs, or nil
}

// deferUpdate adds to n and raises peak, while another process has tool's lock.
func deferUpdate(t *testing.T, dir string, add, peak uint64) {
	t.Helper()
	w := openAs(t, dir, "tool", nil)
	defer w.Close()
	busy(t, dir, func() {
		c, err := w.Update(t.Context(), func(tx *sidecar.Tx) error {
			sidecar.CounterOf(tx, "n", schema.Uint).Add(add)
			sidecar.MaxOf(tx, "peak", schema.Uint).Raise(peak)
			return nil
		})
		if err != nil || c.Outcome != sidecar.Deferred {
			t.Fatalf("%+v (%v)", c, err)
		}
	})
}

func spooledWith(t *testing.T, adds ...uint64) (dir string) {
	t.Helper()
	dir = newSpooled(t)
	for _, n := range adds {
		deferUpdate(t, dir, n, n)
	}
	return dir
}

// put writes a file that is none of Freehold's.
func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// retyped declares peak as another type.
func retyped(peak schema.Type) *schema.Declaration {
	d := spooled()
	d.Owners["tool"].Fields["peak"] = schema.Field{Type: peak, Kind: schema.Max}
	return d
}

func heldLock(name string, make func(t *testing.T) string) func(t *testing.T) string {
	return func(t *testing.T) string {
		dir := make(t)
		t.Cleanup(holding(t, dir, name))
		return dir
	}
}

// readOnly returns a full state on a file system that takes no more.
func readOnly(t *testing.T) string {
	if os.Geteuid() != 0 {
		t.Skip("needs root to mount")
	}
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=8m,mode=700"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Unmount(disk, unix.MNT_DETACH) })
	dir := filepath.Join(disk, "state")
	fullState(t, dir)
	if err := unix.Mount("", disk, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	return dir
}

func full(t *testing.T) string { return newState(t) }

func pendingCase(t *testing.T) string {
	dir, _ := unfinished(t)
	return dir
}

func pendingGone(t *testing.T) string {
	dir, staged := unfinished(t)
	if err := os.Remove(staged); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(filepath.Join(dir, "cost.json")); upgraded(t, dir, younger()) })
	return dir
}

func upgradeCases() []aCase {
	two := changed()["fails now"]
	return []aCase{
		{"nothing", newSpooled, spooled(), nil},
		{"nothing deferred", newSpooled, two, nil},
		{"deferred", func(t *testing.T) string { return spooledWith(t, 1, 2, 3) }, two, nil},
		{"deferred on a sidecar", func(t *testing.T) string {
			dir := newSpooled(t)
			commit(t, dir, "tool", sidecar.Op{Field: "n", Verb: schema.VerbAdd, Value: []byte("5")})
			deferUpdate(t, dir, 1, 1)
			return dir
		}, retyped(schema.TypeInt), nil},
		{"deferred and misfit", func(t *testing.T) string { return spooledWith(t, 1, 1<<63) }, retyped(schema.TypeInt), sidecar.ErrValue},
		{"deferred and rejected", func(t *testing.T) string {
			dir := spooledWith(t, 1<<63, 1<<63, 7)
			statetest.Damaged(dir, "patch-kept")
			return dir
		}, two, nil},
		{"deferred and damaged", func(t *testing.T) string {
			dir := spooledWith(t, 1)
			m := manifest(t, dir)
			put(t, filepath.Join(dir, ".freehold", "tool.pending", m.StateID+".9.json"), "{}")
			statetest.Damaged(dir, "patch-stuck")
			return dir
		}, two, sidecar.ErrBusy},
		{"deferred beside a foreign sidecar", func(t *testing.T) string {
			dir := newSpooled(t)
			commit(t, dir, "tool", sidecar.Op{Field: "n", Verb: schema.VerbAdd, Value: []byte("5")})
			deferUpdate(t, dir, 1, 1)
			text := sidecars(t, dir)["tool.json"]
			put(t, filepath.Join(dir, "tool.json"), strings.Replace(text, `"n":5`, `"n":6`, 1))
			statetest.Damaged(dir, "sidecar-foreign")
			return dir
		}, two, sidecar.ErrBusy},
		{"leased", heldLock("watchdog.lease", full), younger(), sidecar.ErrBusy},
		{"fenced", heldLock("watchdog.fence", full), younger(), sidecar.ErrBusy},
		{"locked", heldLock("cost.lock", full), younger(), sidecar.ErrBusy},
		{"under way", heldLock("state.lock", full), younger(), sidecar.ErrBusy},
		{"leased and foreign", heldLock("watchdog.lease", func(t *testing.T) string {
			dir := newState(t)
			put(t, filepath.Join(dir, "cost.json"), `{"note":"mine"}`)
			statetest.Damaged(dir, "sidecar-invalid")
			return dir
		}), younger(), sidecar.ErrBusy},
		{"a lock is lost", func(t *testing.T) string {
			dir := newState(t)
			if err := os.Remove(filepath.Join(dir, ".freehold", "cost.lock")); err != nil {
				t.Fatal(err)
			}
			statetest.Damaged(dir, "lock-lost")
			return dir
		}, younger(), store.Lost},
		{"read-only", readOnly, younger(), unix.EROFS},
		{"read-only and nothing to do", readOnly, older(), nil},
		{"interrupted", pendingCase, younger(), nil},
		{"interrupted and on to another", pendingCase, older(), nil},
		{"interrupted and damaged", pendingGone, younger(), sidecar.ErrIndeterminate},
	}
}

// everything returns the bytes and the modes of all that is in dir.
func everything(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			all[path] = "directory"
			return err
		}
		text, err := os.ReadFile(path)
		all[path] = e.Type().String() + string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A dry run ends as the upgrade after it, reports the same, and changes nothing.
func TestADryRunReportsTheUpgrade(t *testing.T) {
	for _, c := range upgradeCases() {
		t.Run(c.name, func(t *testing.T) {
			dir := c.make(t)
			before := everything(t, dir)
			var dryNotes, wetNotes int
			dry, dryErr := Run(t.Context(), dir, c.next, &Options{DryRun: true, Wait: 20 * time.Millisecond, Notice: func(error) { dryNotes++ }})
			if diff := cmp.Diff(before, everything(t, dir)); diff != "" {
				t.Errorf("the dry run changed (-before +after):\n%s", diff)
			}
			wet, wetErr := Run(t.Context(), dir, c.next, &Options{Wait: 20 * time.Millisecond, Notice: func(error) { wetNotes++ }})
			if !errors.Is(dryErr, c.want) || !errors.Is(wetErr, c.want) {
				t.Fatalf("the dry run: %v\nthe upgrade: %v\nwant %v", dryErr, wetErr, c.want)
			}
			if c.want != nil && c.want != unix.EROFS && !strings.Contains(dryErr.Error(), wetErr.Error()) {
				t.Errorf("the dry run says %q, the upgrade %q", dryErr, wetErr)
			}
			if dryNotes != wetNotes {
				t.Errorf("the dry run tells of %d patches, the upgrade of %d", dryNotes, wetNotes)
			}
			if c.want != nil {
				return
			}
			unplace(wet)
			if diff := cmp.Diff(wet, dry); diff != "" {
				t.Errorf("the dry run (-upgrade +dry):\n%s", diff)
			}
		})
	}
}

// A dry run tells of patches owner by owner, each time in the same order.
func TestADryRunNoticesPatchesOwnerByOwner(t *testing.T) {
	owners := []string{"a", "b", "c", "d", "e"}
	d := &schema.Declaration{State: "usage", Owners: map[string]schema.Owner{}}
	for _, owner := range owners {
		d.Owners[owner] = schema.Owner{Busy: schema.Busy{Then: schema.Defer}, Fields: spec{"n_" + owner: {Type: schema.TypeUint, Kind: schema.Counter}}}
	}
	dir := create(t, d)
	statetest.Damaged(dir, "patch-stuck")
	for _, owner := range owners {
		w := openAs(t, dir, owner, d)
		release := holding(t, dir, statedir.OwnerLock(owner))
		for range 2 { // the second one is too much
			c, err := w.Update(t.Context(), func(tx *sidecar.Tx) error {
				sidecar.CounterOf(tx, "n_"+owner, schema.Uint).Add(1 << 63)
				return nil
			})
			if err != nil || c.Outcome != sidecar.Deferred {
				t.Fatalf("%+v (%v)", c, err)
			}
		}
		release()
	}
	var told []string
	notice := func(err error) { told = append(told, store.RemedyOf(err).Args...) }
	if _, err := Run(t.Context(), dir, d, &Options{DryRun: true, Notice: notice}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(owners, told); diff != "" {
		t.Errorf("told of (-want +got):\n%s", diff)
	}
}
