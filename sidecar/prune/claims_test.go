package prune

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// newClaimed makes a state with an instance "a" that holds only a claim.
func newClaimed(t *testing.T) (dir, claim string) {
	t.Helper()
	dir = newInstances(t)
	w, err := sidecar.OpenInstance(t.Context(), dir, "a", declaration(), "hook", &sidecar.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	if won, _, err := w.Claim(t.Context(), "fired"); !won || err != nil {
		t.Fatalf("won %v (%v)", won, err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, filepath.Join(pathOf(t, dir, "a"), statedir.ClaimFile("hook", "fired"))
}

// restampClaim rewrites a claim as a process of another boot would have left it.
func restampClaim(t *testing.T, path string, at time.Time) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	claim, err := document.DecodeClaim(raw)
	if err != nil {
		t.Fatal(err)
	}
	claim.At, claim.Writer.Identity.Boot = at, "another boot"
	if raw, err = claim.Encode(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

// An instance that holds only claims is as old as they are: by their dates, and by
// the monotonic clock.
func TestAClaimHasAnAge(t *testing.T) {
	dir, claim := newClaimed(t)
	wants := func(what, want string, o *Options) {
		t.Helper()
		if got := reasons(run(t, dir, o))["a"]; got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	wants("with the clock set forward", "kept: young", &Options{OlderThan: 7 * day, Clock: later(10 * 365 * day)})
	wants("with the clock set back", "kept: future", &Options{OlderThan: 1, Clock: later(-day)})
	restampClaim(t, claim, time.Now())
	past := time.Now().Add(-9 * day)
	touch := func() {
		t.Helper()
		err := filepath.WalkDir(pathOf(t, dir, "a"), func(path string, _ os.DirEntry, err error) error {
			if err == nil {
				err = os.Chtimes(path, past, past)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	touch()
	wants("claimed just now, in files with old dates", "kept: young", &Options{OlderThan: 7 * day})
	restampClaim(t, claim, past)
	wants("claimed long ago, in a file with a new date", "kept: young", &Options{OlderThan: 7 * day})
	touch()
	wants("claimed long ago", "removed: old", &Options{OlderThan: 7 * day})
}

// A claim that cannot be read keeps the instance.
func TestADamagedClaimKeepsItsInstance(t *testing.T) {
	for what, spoil := range map[string]struct {
		do   func(claim string) error
		want string
	}{
		"torn":           {func(claim string) error { return os.Truncate(claim, 9) }, "kept: damaged"},
		"edited":         {func(claim string) error { return edit(claim, `"field":"fired"`, `"field":"firet"`) }, "kept: foreign"},
		"its folder":     {func(claim string) error { return os.Rename(filepath.Dir(claim), filepath.Dir(claim)+".away") }, "kept: foreign"},
		"a pipe instead": {func(claim string) error { os.Remove(claim); return unix.Mkfifo(claim, 0o600) }, "kept: foreign"},
	} {
		t.Run(what, func(t *testing.T) {
			dir, claim := newClaimed(t)
			statetest.Damaged(dir, "claim-invalid", "claim-foreign", "claim-unreadable", "claims-lost", "unknown")
			if err := spoil.do(claim); err != nil {
				t.Fatal(err)
			}
			report := run(t, dir, &Options{OlderThan: 1})
			if got := reasons(report)["a"]; got != spoil.want || !report.Items[0].WantsALook() {
				t.Errorf("%s, want %s: %+v", got, spoil.want, report.Items)
			}
		})
	}
}

// The staged file of a dead claimant is removed; claims, and the staged file of a
// live claimant, stay.
func TestOnlyDeadClaimantsLeaveLitter(t *testing.T) {
	dir, claim := newClaimed(t)
	statetest.Damaged(dir, "claim-invalid")
	folder := filepath.Dir(claim)
	name := func() string { return filepath.Join(folder, ".fired."+process.NewNonce()) }
	dead, live := name(), name()
	for _, path := range []string{dead, live} {
		if err := os.WriteFile(path, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(live)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(claim)
	if err != nil {
		t.Fatal(err)
	}
	for _, dry := range []bool{true, false} {
		removed := map[bool]string{true: "would remove: left", false: "removed: left"}[dry]
		want := map[string]string{"a": "kept: young", filepath.Base(dead): removed, filepath.Base(live): "kept: busy"}
		if diff := cmp.Diff(want, reasons(run(t, dir, &Options{OlderThan: time.Hour, DryRun: dry}))); diff != "" {
			t.Errorf("dry run %v (-want +got):\n%s", dry, diff)
		}
		if _, err := os.Lstat(dead); (err == nil) != dry {
			t.Errorf("dry run %v: what the dead one left: %v", dry, err)
		}
	}
	if _, err := os.Lstat(live); err != nil {
		t.Error(err)
	}
	after, err := os.ReadFile(claim)
	if err != nil || string(after) != string(before) {
		t.Errorf("the claim is %q and was %q (%v)", after, before, err)
	}
	if err := os.Remove(claim); err != nil { // as if the field were unclaimed
		t.Fatal(err)
	}
	if err := os.Rename(live, claim); err != nil {
		t.Errorf("the live claimant: %v", err)
	}
}

func edit(path, old, new string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, bytes.Replace(raw, []byte(old), []byte(new), 1), 0o600)
}

// newPending makes a state with an instance "a" that holds only a pending patch.
func newPending(t *testing.T) (dir, patch string) {
	t.Helper()
	d := &schema.Declaration{State: "session", Instances: schema.Instances{By: "session_id"}, Owners: map[string]schema.Owner{
		"hook": {Busy: schema.Busy{Then: schema.Defer}, Fields: map[string]schema.Field{"turns": {Type: schema.TypeUint, Kind: schema.Counter}}},
	}}
	dir = filepath.Join(t.TempDir(), "sessions")
	if err := sidecar.Create(dir, d); err != nil {
		t.Fatal(err)
	}
	open := func() *sidecar.Writer {
		w, err := sidecar.OpenInstance(t.Context(), dir, "a", d, "hook", &sidecar.Options{Create: true, Wait: -1})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	holder, w := open(), open()
	add := func(tx *sidecar.Tx) error { sidecar.CounterOf(tx, "turns", schema.Uint).Add(1); return nil }
	_, err := holder.Update(t.Context(), func(*sidecar.Tx) error {
		if c, err := w.Update(t.Context(), add); err != nil || c.Outcome != sidecar.Deferred {
			t.Errorf("%+v (%v)", c, err)
		}
		return nil
	})
	if err := errors.Join(err, holder.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(pathOf(t, dir, "a"), ".freehold", statedir.OwnerPending("hook"), "*.json"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v (%v)", found, err)
	}
	return dir, found[0]
}

// A pending patch has an age, by the monotonic clock; one that cannot be read keeps
// the instance.
func TestAPendingPatchHasAnAge(t *testing.T) {
	dir, patch := newPending(t)
	ahead := &Options{OlderThan: 7 * day, Clock: later(10 * 365 * day)}
	if got := reasons(run(t, dir, ahead))["a"]; got != "kept: young" {
		t.Errorf("with the clock set forward: %s, want kept: young", got)
	}
	if err := edit(patch, `"value":1`, `"value":2`); err != nil {
		t.Fatal(err)
	}
	report := run(t, dir, ahead)
	if got := reasons(report)["a"]; got != "kept: foreign" || !strings.Contains(report.Items[0].Says, patch) {
		t.Errorf("edited: %s, want kept: foreign: %+v", got, report.Items)
	}
	if err := os.Remove(patch); err != nil {
		t.Fatal(err)
	}
	if got := reasons(run(t, dir, ahead))["a"]; got != "removed: old" {
		t.Errorf("with nothing: %s, want removed: old", got)
	}
}
