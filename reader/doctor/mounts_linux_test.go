package doctor_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// mountOver mounts a copy of a file, or an empty directory, over path until the
// test ends, and skips the test if this process may not.
func mountOver(t *testing.T, path string) {
	t.Helper()
	info, err := os.Stat(path)
	check(t, err)
	other := filepath.Join(t.TempDir(), "other")
	if info.IsDir() {
		check(t, os.Mkdir(other, 0o700))
	} else {
		text, err := os.ReadFile(path)
		check(t, err)
		check(t, os.WriteFile(other, text, 0o600))
	}
	if err := unix.Mount(other, path, "", unix.MS_BIND, ""); err != nil {
		t.Skipf("no right to mount: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(path, unix.MNT_DETACH) }) // fails after a remedy that cures
}

// A mount over any file or directory of a state is found, and the remedy removes
// that mount: nothing else cures, since a name below a mount cannot be replaced.
func TestTheRemedyOfAMountRemovesTheMount(t *testing.T) {
	places := []string{
		"cost.json", ".freehold", ".freehold/manifest.json", ".freehold/state.lock", ".freehold/cost.lock", ".freehold/watchdog.lease", ".freehold/watchdog.lease.json",
		".freehold/claims", ".freehold/claims/cost", ".freehold/claims/cost/fired", ".freehold/usage.pending", ".freehold/quarantine", ".freehold/strange",
	}
	for _, place := range places {
		t.Run(place, func(t *testing.T) {
			dir := newState(t)
			path := filepath.Join(dir, place)
			if place == ".freehold/quarantine" || place == ".freehold/strange" {
				check(t, os.Mkdir(path, 0o700))
			}
			mountOver(t, path)
			found := examine(t, dir, nil).Findings
			if len(found) == 0 {
				t.Fatal("no finding")
			}
			cure(t, dir, nil)
			if place == ".freehold/strange" {
				return // its remedies remove the mount, then the directory
			}
			if unix.Unmount(path, 0) == nil {
				t.Errorf("the mount is still there after the remedies of %+v", found)
			}
		})
	}
}
