package sidecar

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/inject"
)

func init() {
	roles["accept"] = repairRole(func(ctx context.Context, dir string) error {
		_, err := Accept(ctx, dir, "cost", nil)
		return err
	})
	roles["quarantine"] = repairRole(func(ctx context.Context, dir string) error {
		_, err := Quarantine(ctx, dir, "cost", nil)
		return err
	})
}

func repairRole(repair func(ctx context.Context, dir string) error) func(args []string) error {
	return func(args []string) error {
		inject.Begin()
		defer inject.End()
		return repair(context.Background(), args[0])
	}
}

// repairPlans are how a repair is interrupted: killed, and by a call that fails.
var repairPlans = map[string]inject.Plan{
	"killed": {Action: inject.KillBefore}, "EIO": {Action: inject.Fail, Errno: syscall.EIO},
	"ENOSPC": {Action: inject.Fail, Errno: syscall.ENOSPC, Persistent: true},
}

// strangeCost makes cost's sidecar what another hand left, and returns the
// bytes that were there before and are there now.
func strangeCost(t *testing.T, dir string, change func(text string) string) (bad string) {
	t.Helper()
	w := openOwner(t, dir, "cost", nil)
	update(t, w, setNote("before"))
	w.Close()
	path := sidecarPath(dir, "cost")
	bad = change(readFile(t, path))
	if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
		t.Fatal(err)
	}
	return bad
}

// copies returns how many files of the quarantine hold text, and every name in
// it that is no whole one's.
func copies(t *testing.T, dir, text string) (n int, litter []string) {
	t.Helper()
	files, err := filepath.Glob(metaPath(dir, "quarantine/*"))
	hidden, err2 := filepath.Glob(metaPath(dir, "quarantine/.*"))
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if readFile(t, file) == text {
			n++
		}
	}
	return n, hidden
}

// Wherever Accept is killed, or a call of it fails, the file is as the other
// hand left it or folded; what that left is not lost; and the next one takes
// it in. It is stopped before each call that changes something; with
// FREEHOLD_EVERY_CALL set, as .ci/run sets it, before every call.
func TestAcceptSurvivesEveryCall(t *testing.T) {
	for name, plan := range repairPlans {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan = plan.Among("openat", "mkdirat", "renameat", "linkat", "fsync", "unlinkat", "fchmod", "write")
			var bad string
			everyLeaseCall(t, "accept", plan, func(dir string) {
				bad = strangeCost(t, dir, func(text string) string { return strings.Replace(text, `"before"`, `"edited"`, 1) })
			}, func(dir string, r inject.Result) {
				path := sidecarPath(dir, "cost")
				now := readFile(t, path)
				_, err := document.Decode([]byte(now))
				switch kept, _ := copies(t, dir, bad); {
				case now != bad && (err != nil || !strings.Contains(now, `"edited"`)):
					t.Errorf("neither what was there nor what was to be, %v: %s", err, now)
				case now != bad && kept != 1:
					t.Errorf("it was folded and %d copies of it are kept", kept)
				case r.State != nil && r.State.Success() && now == bad:
					t.Error("it succeeded, and nothing was folded")
				}
				if _, err := Accept(t.Context(), dir, "cost", nil); err != nil {
					t.Error(err)
				}
				if _, err := document.Decode([]byte(readFile(t, path))); err != nil {
					t.Errorf("accepted again, it is %v", err)
				}
				update(t, openOwner(t, dir, "cost", nil), setNote("after"))
				if kept, litter := copies(t, dir, bad); kept != 1 || now == bad && litter != nil {
					t.Errorf("%d copies of it are kept; left behind: %v", kept, litter)
				}
			})
		})
	}
}

// Wherever Quarantine is killed, or a call of it fails, the bytes are in their
// place or in the quarantine, once, and the next one comes to the same end. Which
// calls these are, [TestAcceptSurvivesEveryCall] says.
func TestQuarantineSurvivesEveryCall(t *testing.T) {
	for name, plan := range repairPlans {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan = plan.Among("openat", "mkdirat", "renameat", "fsync", "unlinkat")
			var bad string
			everyLeaseCall(t, "quarantine", plan, func(dir string) {
				bad = strangeCost(t, dir, func(text string) string { return text[:len(text)/2] })
			}, func(dir string, r inject.Result) {
				raw, err := os.ReadFile(sidecarPath(dir, "cost"))
				kept, _ := copies(t, dir, bad)
				_, unsound := document.Decode(raw)
				if inPlace := string(raw) == bad; inPlace == (kept == 1) || err == nil && !inPlace && unsound != nil {
					t.Errorf("in place: %q (%v); in the quarantine: %d", raw, err, kept)
				}
				if r.State != nil && r.State.Success() && (err != nil || unsound != nil) {
					t.Errorf("it succeeded, and in place is %q (%v)", raw, err)
				}
				if err != nil || unsound != nil { // there is something left to be done
					_, again := Quarantine(t.Context(), dir, "cost", nil)
					if again != nil { // also where the file is gone: the lock file tells that there was one
						t.Errorf("the next one: %v", again)
					}
				}
				update(t, openOwner(t, dir, "cost", nil), setNote("after"))
				if kept, litter := copies(t, dir, bad); kept != 1 || litter != nil {
					t.Errorf("%d copies of it are kept; left behind: %v", kept, litter)
				}
			})
		})
	}
}
