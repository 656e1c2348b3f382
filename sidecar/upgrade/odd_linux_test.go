package upgrade

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
	"golang.org/x/sys/unix"
)

// unfinished makes a state of which an upgrade has taken effect, and has put no
// sidecar in its place. It returns the new sidecar of owner cost.
func unfinished(t *testing.T) (dir, staged string) {
	t.Helper()
	dir = newState(t)
	quarantine := filepath.Join(dir, ".freehold", "quarantine")
	if err := os.Symlink("..", quarantine); err != nil {
		t.Fatal(err)
	}
	_, err := Run(t.Context(), dir, younger(), nil)
	wantError(t, err, sidecar.ErrIndeterminate)
	found, err := filepath.Glob(filepath.Join(dir, ".freehold", "upgrade-*", "cost.json"))
	if err = errors.Join(err, os.Remove(quarantine)); err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	return dir, found[0]
}

// An obstacle to finishing an upgrade is named, and moving it away helps.
func TestAnObstacleIsNamed(t *testing.T) {
	var away string
	pipe := func(path string) error {
		away = filepath.Join(filepath.Dir(filepath.Dir(path)), "away")
		return errors.Join(os.Rename(path, away), unix.Mkfifo(path, 0o600))
	}
	for name, put := range map[string]func(dir, staged string) (at string, err error){
		"a pipe for the old sidecar": func(dir, _ string) (at string, err error) {
			at = filepath.Join(dir, "cost.json")
			return at, pipe(at)
		},
		"a pipe for both": func(dir, staged string) (at string, err error) {
			at = filepath.Join(dir, "cost.json")
			return at, errors.Join(os.Remove(staged), pipe(at))
		},
		"a pipe for the new sidecar": func(_, staged string) (string, error) { return staged, pipe(staged) },
		"a pipe for the directory":   func(_, staged string) (string, error) { return filepath.Dir(staged), pipe(filepath.Dir(staged)) },
		"a link for the directory": func(_, staged string) (string, error) {
			at := filepath.Dir(staged)
			away = filepath.Join(filepath.Dir(filepath.Dir(filepath.Dir(at))), "away")
			return at, errors.Join(os.Rename(at, away), os.Symlink(away, at))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, staged := unfinished(t)
			at, err := put(dir, staged)
			if err != nil {
				t.Fatal(err)
			}
			kind := "named pipe"
			if name == "a link for the directory" {
				kind = "symbolic link"
				if got := viewed(t, dir)["stamp"]; !strings.Contains(got, kind) {
					t.Errorf("a reader reads through the link: %q", got)
				}
			}
			for _, dry := range []bool{true, false} {
				_, err := Run(t.Context(), dir, younger(), &Options{DryRun: dry})
				wantError(t, err, sidecar.ErrIndeterminate, at, kind, "move it away")
			}
			if err := os.Remove(at); err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(name, "the new sidecar") || strings.HasSuffix(name, "the directory") {
				if err := os.Rename(away, at); err != nil {
					t.Fatal(err)
				}
			}
			if report := upgraded(t, dir, younger()); !report.Resumed {
				t.Error("it was not finished")
			}
		})
	}
}

// A new sidecar that was damaged beyond reading does not keep the upgrade from
// being finished: only then can the file be quarantined.
func TestNewSidecarThatIsTooLargeGoesToItsPlace(t *testing.T) {
	dir, staged := unfinished(t)
	statetest.Damaged(dir, "sidecar-invalid")
	if err := os.Truncate(staged, 1<<40); err != nil {
		t.Fatal(err)
	}
	report, err := Run(t.Context(), dir, younger(), nil)
	wantError(t, err, store.Invalid, "quarantine cost")
	if report == nil || !report.Resumed {
		t.Error("it was not finished")
	}
	if _, err := sidecar.Quarantine(t.Context(), dir, "cost", nil); err != nil {
		t.Error(err)
	}
	upgraded(t, dir, younger())
}
