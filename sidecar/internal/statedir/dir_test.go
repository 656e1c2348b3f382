package statedir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/errorstest"
	"github.com/freehold-dev/freehold/sidecar/internal/dir"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"golang.org/x/sys/unix"
)

func declaration() *schema.Declaration {
	return &schema.Declaration{State: "agent", Owners: map[string]schema.Owner{
		"cost":     {Fields: map[string]schema.Field{"turns": {Type: schema.TypeUint, Kind: schema.Counter}}},
		"watchdog": {Mode: schema.Exclusive, Fields: map[string]schema.Field{"reason": {Type: schema.TypeString}}},
	}}
}

// newState makes and opens a state directory that is private under every umask.
func newState(t *testing.T) *Dir {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	if err := Create(dir, declaration()); err != nil {
		t.Fatal(err)
	}
	return openState(t, dir)
}

func openState(t *testing.T, dir string) *Dir {
	t.Helper()
	d, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// wantError is [errorstest.Wraps].
var wantError = errorstest.Wraps

// Case 144.
func TestCreateOfOneStateByManyHasOneWinner(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "state")
	errs := make([]error, 16)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { errs[i] = Create(dir, declaration()) })
	}
	wg.Wait()
	won := 0
	for _, err := range errs {
		switch {
		case err == nil:
			won++
		case !errors.Is(err, status.Exists):
			t.Errorf("a loser got %v, want Exists", err)
		}
	}
	if won != 1 {
		t.Errorf("%d creators won, want 1", won)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("the state directory holds %v (%v), want .freehold alone", entries, err)
	}
	openState(t, dir)
}

// A maker of an instance that is stopped at any moment keeps no process from
// working in it, and no process takes it for a leftover.
func TestDirectoryInTheMakingBlocksNoProcess(t *testing.T) {
	f, err := openSafe(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	err = stage(f, "made", func(fresh *dir.Dir) error {
		if removed, err := removeLeftover(f, filepath.Base(fresh.Path())); removed || err != nil {
			t.Errorf("what is being made was removed: %v (%v)", removed, err)
		}
		other, err := dir.Open(fresh.Path())
		if err != nil {
			return err
		}
		defer other.Close()
		// As LockShared does: the maker has its lock until after the rename.
		if free, err := other.Lock(unix.LOCK_SH); !free || err != nil {
			t.Errorf("another could work in it: %v (%v), want true", free, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if left, err := leftovers(f); len(left) > 0 || err != nil {
		t.Errorf("%v is left (%v)", left, err)
	}
}

func TestOpenRefusesOtherDirectories(t *testing.T) {
	dir := t.TempDir()
	_, err := Open(dir)
	wantError(t, err, status.NoState, dir, "state init")
	_, err = Open(filepath.Join(dir, "absent"))
	wantError(t, err, status.NoState)
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Open(file)
	wantError(t, err, status.NoState)
}

func TestOpenRefusesADirectoryThatOthersMayWrite(t *testing.T) {
	d := newState(t)
	for _, mode := range []fs.FileMode{0o720, 0o702, 0o777} {
		if err := os.Chmod(d.Path(), mode); err != nil {
			t.Fatal(err)
		}
		_, err := Open(d.Path())
		wantError(t, err, status.Unsafe, "chmod go-w")
	}
}

func TestOpenRefusesALink(t *testing.T) {
	d := newState(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(d.Path(), link); err != nil {
		t.Fatal(err)
	}
	_, err := Open(link)
	wantError(t, err, status.Unsafe, "symbolic link")
}

func TestOpenRefusesAnotherUsersDirectory(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to give a directory away")
	}
	d := newState(t)
	if err := os.Chown(d.Path(), 65534, 65534); err != nil {
		t.Fatal(err)
	}
	_, err := Open(d.Path())
	wantError(t, err, status.Unsafe, "user 65534")
}

func TestReadFileNeverFollowsNeverWaits(t *testing.T) {
	d := newState(t)
	put := func(name string, make func(path string) error) {
		t.Helper()
		if err := make(filepath.Join(d.Path(), name)); err != nil {
			t.Fatal(err)
		}
	}
	secret := filepath.Join(t.TempDir(), "secret")
	put("plain.json", func(p string) error { return os.WriteFile(p, []byte("{}"), 0o600) })
	put("inside.json", func(p string) error { return os.Symlink("plain.json", p) })
	put("outside.json", func(p string) error {
		return errors.Join(os.WriteFile(secret, []byte("x"), 0o600), os.Symlink(secret, p))
	})
	put("dangling.json", func(p string) error { return os.Symlink("nowhere", p) })
	put("pipe.json", func(p string) error { return unix.Mkfifo(p, 0o600) })
	put("dir.json", func(p string) error { return os.Mkdir(p, 0o700) })
	put("hard.json", func(p string) error {
		return errors.Join(os.WriteFile(p, nil, 0o600), os.Link(p, p+"2"))
	})
	for name, says := range map[string]string{
		"inside.json": "symbolic link", "outside.json": "symbolic link", "dangling.json": "symbolic link",
		"pipe.json": "named pipe", "dir.json": "directory", "hard.json": "2 names",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := d.ReadFile(name, nil, 1<<20)
			wantError(t, err, ErrIrregular, says, filepath.Join(d.Path(), name))
			_, err = d.state.Existing(name)
			wantError(t, err, ErrIrregular, says)
		})
	}
	if _, err := d.ReadFile("absent.json", nil, 10); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file gives %v", err)
	}
}

func TestReadFileStopsAtItsBound(t *testing.T) {
	d := newState(t)
	path := filepath.Join(d.Path(), "big.json")
	if err := os.WriteFile(path, []byte(strings.Repeat("x", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := d.ReadFile("big.json", make([]byte, 0, 7), 1000)
	if err != nil || len(got) != 1000 {
		t.Errorf("read %d bytes (%v), want 1000", len(got), err)
	}
	_, err = d.ReadFile("big.json", nil, 999)
	wantError(t, err, ErrTooLarge, "1000 bytes", "999")
	if err := os.Truncate(path, 1<<40); err != nil { // sparse
		t.Fatal(err)
	}
	_, err = d.ReadFile("big.json", nil, 999)
	wantError(t, err, ErrTooLarge)
}

func TestReadFileAllocatesNothing(t *testing.T) {
	d := newState(t)
	if err := os.WriteFile(filepath.Join(d.Path(), "a.json"), make([]byte, 3000), 0o600); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 0, 4096)
	if n := testing.AllocsPerRun(100, func() {
		got, err := d.ReadFile("a.json", buf, 4096)
		if err != nil || len(got) != 3000 || d.Unmoved() != nil {
			t.Fatal(len(got), err)
		}
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func TestUnmovedNoticesAReplacedDirectory(t *testing.T) {
	d := newState(t)
	if err := d.Unmoved(); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(d.Path(), d.Path()+".old"); err != nil {
		t.Fatal(err)
	}
	wantError(t, d.Unmoved(), status.Moved)
	if err := Create(d.Path(), declaration()); err != nil {
		t.Fatal(err)
	}
	wantError(t, d.Unmoved(), status.Moved)
}

func TestFindGoesUpward(t *testing.T) {
	d := newState(t)
	below := filepath.Join(d.Path(), "a", "b")
	if err := os.MkdirAll(below, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, start := range []string{d.Path(), below} {
		if got, err := Find(start); err != nil || got != d.Path() {
			t.Errorf("from %s: found %q (%v), want %q", start, got, err, d.Path())
		}
	}
	_, err := Find(filepath.Dir(d.Path()))
	wantError(t, err, status.NoState)
}

func TestUpgradeAddsAndNeverTakesAway(t *testing.T) {
	d := newState(t)
	newer := declaration()
	newer.Owners["reset"] = schema.Owner{Fields: map[string]schema.Field{"at": {Type: schema.TypeTime}}}
	before, err := d.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.Upgrade(t.Context(), newer, stateWait)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := m.Declaration.OwnerNames(), []string{"cost", "reset", "watchdog"}; !slices.Equal(got, want) {
		t.Errorf("owners %v after the upgrade, want %v", got, want)
	}
	for name, ino := range before.Locks {
		if m.Locks[name] != ino {
			t.Errorf("lock %s changed its inode from %d to %d", name, ino, m.Locks[name])
		}
	}
	if _, err := d.OpenLock(m, OwnerLock("reset")); err != nil {
		t.Error(err)
	}
	older, err := d.Upgrade(t.Context(), declaration(), stateWait)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(older.Declaration.OwnerNames(), m.Declaration.OwnerNames()) {
		t.Errorf("an older build took owners away: %v", older.Declaration.OwnerNames())
	}
	moved := declaration()
	moved.Owners["reset"] = schema.Owner{Fields: map[string]schema.Field{"turns": {Type: schema.TypeUint}}}
	_, err = d.Upgrade(t.Context(), moved, stateWait)
	wantError(t, err, schema.ErrDeclaration, "turns")
}

func TestUpgradeByManyLosesNoOwner(t *testing.T) {
	d := newState(t)
	names := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	var wg sync.WaitGroup
	for _, name := range names {
		wg.Go(func() {
			mine := declaration()
			mine.Owners[name] = schema.Owner{Fields: map[string]schema.Field{"of_" + name: {Type: schema.TypeInt}}}
			if _, err := d.Upgrade(t.Context(), mine, stateWait); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	m, err := d.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := m.Declaration.OwnerNames(), append(names, "cost", "watchdog"); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		t.Errorf("owners %v, want all of %v", got, want)
	}
}

func TestManifestOfAStrangerIsRefused(t *testing.T) {
	d := newState(t)
	for name, text := range map[string]string{
		"no json":      `{"format":`,
		"newer format": `{"format":2}`,
		"bad owner":    `{"format":1,"declaration":{"state":"s","owners":{"../x":{"fields":{}}}}}`,
		"bad kind":     `{"format":1,"declaration":{"state":"s","owners":{"x":{"fields":{"f":{"type":"int","kind":"sum"}}}}}}`,
		"two owners":   `{"format":1,"declaration":{"state":"s","owners":{"x":{"fields":{"f":{"type":"int"}}},"y":{"fields":{"f":{"type":"int"}}}}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(filepath.Join(d.Path(), metaName, manifestName), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := d.Manifest()
			wantError(t, err, ErrInvalidManifest, manifestName)
		})
	}
}
