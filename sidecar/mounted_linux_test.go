package sidecar

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// mounted mounts a file system at a new directory until the test ends.
func mounted(t *testing.T, source, kind, options string) (dir string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root to mount")
	}
	dir = t.TempDir()
	if err := unix.Mount(source, dir, kind, 0, options); err != nil {
		t.Fatalf("mount %s (%s): %v", kind, options, err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}

// Rows FB13, FC1 and FC3: a file system that becomes read-only, or full, under a
// Writer fails its commits and changes nothing, and as soon as it is well the
// same Writer goes on, also that of an exclusive owner, which keeps its lease.
func TestAWriterOutlivesAFileSystemThatFails(t *testing.T) {
	for name, trouble := range map[string]struct {
		begin, end func(disk string) error
		want       error
	}{
		"read-only": {
			func(disk string) error { return unix.Mount("", disk, "", unix.MS_REMOUNT|unix.MS_RDONLY, "") },
			func(disk string) error { return unix.Mount("", disk, "", unix.MS_REMOUNT, "") },
			unix.EROFS,
		},
		"full": {
			func(disk string) error {
				err := os.WriteFile(filepath.Join(disk, "filler"), make([]byte, 1<<20), 0o600)
				if errors.Is(err, unix.ENOSPC) {
					return nil
				}
				return errors.Join(errors.New("it is not full"), err)
			},
			func(disk string) error { return os.Remove(filepath.Join(disk, "filler")) },
			unix.ENOSPC,
		},
	} {
		t.Run(name, func(t *testing.T) {
			disk := mounted(t, "tmpfs", "tmpfs", "size=512k,mode=700")
			dir := filepath.Join(disk, "state")
			if err := Create(dir, declaration()); err != nil {
				t.Fatal(err)
			}
			cost, boss := openOwner(t, dir, "cost", nil), mustOpen(t, dir)
			update(t, cost, addTurns(1))
			update(t, boss, beat)
			for round := range 2 {
				before := []string{readFile(t, sidecarPath(dir, "cost")), readFile(t, sidecarPath(dir, "watchdog"))}
				if err := trouble.begin(disk); err != nil {
					t.Fatal(err)
				}
				c, err := cost.Update(t.Context(), addTurns(1))
				wantError(t, err, trouble.want)
				if !same(c, Commit{}) || errors.Is(err, ErrIndeterminate) {
					t.Errorf("round %d: the commit is %+v (%v)", round, c, err)
				}
				_, err = boss.Update(t.Context(), beat)
				wantError(t, err, trouble.want)
				if errors.Is(err, ErrFenced) {
					t.Errorf("round %d: the lease is called lost: %v", round, err)
				}
				for i, owner := range []string{"cost", "watchdog"} {
					if now := readFile(t, sidecarPath(dir, owner)); now != before[i] {
						t.Errorf("round %d: the sidecar of %s has changed", round, owner)
					}
				}
				if err := trouble.end(disk); err != nil {
					t.Fatal(err)
				}
				update(t, cost, addTurns(1))
				update(t, boss, beat)
			}
			if got := stored(t, dir, "turns"); got != "3" {
				t.Errorf("turns is %s, want 3", got)
			}
		})
	}
}

// Row FF10: on an overlay, where the first write to a file puts another in its
// place, no increment is lost, also in a state that was made below it.
func TestAnOverlayLosesNoIncrement(t *testing.T) {
	for _, below := range []bool{false, true} {
		t.Run(map[bool]string{true: "made below it", false: "made on it"}[below], func(t *testing.T) {
			layers := mounted(t, "tmpfs", "tmpfs", "size=8m,mode=700")
			for _, name := range []string{"lower", "upper", "work"} {
				if err := os.Mkdir(filepath.Join(layers, name), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if below {
				lower := filepath.Join(layers, "lower", "state")
				if err := Create(lower, declaration()); err != nil {
					t.Fatal(err)
				}
				w := openOwner(t, lower, "cost", nil)
				update(t, w, addTurns(0))
				w.Close()
			}
			dir := filepath.Join(mounted(t, "overlay", "overlay", "lowerdir="+layers+"/lower,upperdir="+layers+"/upper,workdir="+layers+"/work"), "state")
			if !below {
				if err := Create(dir, declaration()); err != nil {
					t.Fatal(err)
				}
			}
			addTogether(t, dir, 4, 10)
			if got := stored(t, dir, "turns"); got != "40" {
				t.Errorf("turns is %s, want 40", got)
			}
		})
	}
}
