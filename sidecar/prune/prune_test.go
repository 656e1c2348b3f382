package prune

import (
	"context"
	"errors"
	"fmt"
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
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/freehold-dev/freehold/sidecar/upgrade"
	"github.com/google/go-cmp/cmp"
)

const day = 24 * time.Hour

// stamp makes the sidecar one that was written then, by a process of an earlier
// boot.
func stamp(t *testing.T, path string, at time.Time) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := document.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	writer := doc.Writer
	writer.Identity.Boot = "another boot"
	v := doc.Version
	v.Revision++
	v.Nonce = process.NewNonce()
	doc.Commit(v, at, writer)
	if raw, err = doc.Encode(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Case 128: everything that was kept is in the report, with its reason.
func TestEverythingKeptHasAReason(t *testing.T) {
	dir := newInstances(t, "old", "Older", "young", "open", "edited", "ahead", "strange", "unreadable", "fresh file", "theirs", "public")
	statetest.Damaged(dir, "sidecar-invalid", "manifest-invalid", "directory-unsafe")
	for id, age := range map[string]time.Duration{
		"old": 8 * day, "Older": 400 * day, "open": 9 * day, "edited": 9 * day, "ahead": -time.Hour, "strange": 9 * day, "fresh file": 9 * day, "unreadable": 9 * day, "theirs": 9 * day, "public": 9 * day,
	} {
		restamp(t, dir, id, time.Now().Add(-age))
	}
	w, err := sidecar.OpenInstance(t.Context(), dir, "open", declaration(), "hook", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	change := func(id, name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(pathOf(t, dir, id), name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	change("edited", "hook.json", "{}")
	change("strange", "notes", "mine")
	change("unreadable", ".freehold/manifest.json", "{")
	now := time.Now()
	if err := os.Chtimes(filepath.Join(pathOf(t, dir, "fresh file"), ".freehold", "manifest.json"), now, now); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "none"), 0o700); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"old": "removed: old", "Older": "removed: old", "young": "kept: young", "fresh file": "kept: young", "open": "kept: busy",
		"edited": "kept: damaged", "ahead": "kept: future", "strange": "kept: foreign", "unreadable": "kept: damaged", "none": "kept: not an instance",
	}
	if err := os.Chmod(pathOf(t, dir, "public"), 0o777); err != nil {
		t.Fatal(err)
	}
	want["public"], want["theirs"] = "kept: unsafe", "removed: old"
	if os.Geteuid() == 0 { // only root can give a directory away
		want["theirs"] = "kept: unsafe"
		if err := os.Chown(pathOf(t, dir, "theirs"), 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	o := Options{OlderThan: 7 * day, DryRun: true}
	planned := map[string]string{}
	for id, reason := range want {
		planned[id] = strings.Replace(reason, "removed", "would remove", 1)
	}
	if diff := cmp.Diff(planned, reasons(run(t, dir, &o))); diff != "" {
		t.Errorf("a dry run (-want +got):\n%s", diff)
	}
	o.DryRun = false
	if diff := cmp.Diff(want, reasons(run(t, dir, &o))); diff != "" {
		t.Errorf("a real run (-want +got):\n%s", diff)
	}
	if exists(t, dir, "old") || exists(t, dir, "Older") || !exists(t, dir, "young") {
		t.Error("the report is not what was done")
	}
	for _, id := range []string{"young", "open", "strange", "ahead", "public"} {
		if !exists(t, dir, id) {
			t.Errorf("%s is gone", id)
		}
	}
}

// Case 127: an instance that a process has open is kept, however old its files are.
func TestALiveInstanceIsNeverRemoved(t *testing.T) {
	for name, hold := range map[string]func(dir string) (func() error, error){
		"a writer between commits": func(dir string) (func() error, error) {
			w, err := sidecar.OpenInstance(t.Context(), dir, "a", declaration(), "hook", nil)
			return w.Close, err
		},
		"a writer that knows the path": func(dir string) (func() error, error) {
			w, err := sidecar.Open(t.Context(), filepath.Join(dir, "a"), nil, "hook", nil)
			return w.Close, err
		},
		"a lease": func(dir string) (func() error, error) {
			w, err := sidecar.OpenInstance(t.Context(), dir, "a", declaration(), "guard", nil)
			return w.Close, err
		},
		"a lock alone": func(dir string) (func() error, error) {
			d, err := statedir.OpenInstance(dir, "a")
			if err != nil {
				return nil, err
			}
			m, err := d.Manifest()
			if err != nil {
				return nil, err
			}
			l, err := d.OpenLock(m, "guard.fence")
			if err != nil {
				return nil, err
			}
			_, err = l.TryShared()
			return l.Close, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := newInstances(t, "a")
			release, err := hold(dir)
			if err != nil {
				t.Fatal(err)
			}
			restamp(t, dir, "a", time.Now().Add(-400*day))
			for _, dry := range []bool{true, false} {
				if diff := cmp.Diff(map[string]string{"a": "kept: busy"}, reasons(run(t, dir, &Options{OlderThan: day, DryRun: dry}))); diff != "" {
					t.Errorf("dry run %v (-want +got):\n%s", dry, diff)
				}
			}
			if err := release(); err != nil {
				t.Fatal(err)
			}
			if name == "a lease" { // it was given back just now
				restamp(t, dir, "a", time.Now().Add(-400*day))
			}
			if got := reasons(run(t, dir, &Options{OlderThan: day}))["a"]; got != "removed: old" || exists(t, dir, "a") {
				t.Errorf("released: %s", got)
			}
		})
	}
}

// A clock that was set forward makes no instance old if its writer started since
// the boot.
func TestNoClockMakesAnInstanceOld(t *testing.T) {
	dir := newInstances(t, "a")
	if got := reasons(run(t, dir, &Options{OlderThan: 7 * day, Clock: later(10 * 365 * day)}))["a"]; got != "kept: young" {
		t.Errorf("with the clock set forward: %s", got)
	}
	if got := reasons(run(t, dir, &Options{OlderThan: time.Nanosecond, Clock: later(-10 * 365 * day)}))["a"]; got != "kept: future" {
		t.Errorf("with the clock set back: %s", got)
	}
	if got := reasons(run(t, dir, nil))["a"]; got != "kept: young" {
		t.Errorf("without an age: %s", got)
	}
	if got := reasons(run(t, dir, &Options{OlderThan: time.Nanosecond}))["a"]; got != "removed: old" {
		t.Errorf("with the right clock: %s", got)
	}
}

// A process that has an instance open when it is removed gets an error, and writes
// nothing.
func TestARemovedInstanceIsWrittenNoMore(t *testing.T) {
	dir := newInstances(t, "a")
	d, err := statedir.OpenInstance(dir, "a")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	s, err := d.LockExclusive()
	if err != nil {
		t.Fatal(err)
	}
	// While the instance is being removed, an Open is refused in time.
	_, err = sidecar.OpenInstance(t.Context(), dir, "a", declaration(), "hook", &sidecar.Options{Create: true, Wait: -1})
	if got, want := reasonOf(err), busy; got != want {
		t.Errorf("got %v (%v), want %v", got, err, want)
	}
	if err := s.Discard(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := d.LockShared(t.Context(), time.Minute); !errors.Is(err, store.Moved) {
		t.Errorf("who comes too late hears %v", err)
	}
	if _, err := d.Manifest(); !errors.Is(err, store.Moved) {
		t.Errorf("who has it open hears %v", err)
	}
	if _, err = sidecar.OpenInstance(t.Context(), dir, "a", declaration(), "hook", nil); err == nil {
		t.Error("the instance can be opened")
	}
	commit(t, dir, "a")
	if n := turns(t, dir, "a"); n != 2 {
		t.Errorf("the new instance has %d turns, want 2", n)
	}
}

// Case 102: only the directory that was inspected is removed.
func TestOnlyTheInspectedDirectoryIsRemoved(t *testing.T) {
	dir := newInstances(t, "a")
	statetest.Damaged(dir, "misplaced")
	d, err := statedir.OpenInstance(dir, "a")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	s, err := d.LockExclusive()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "moved")); err != nil {
		t.Fatal(err)
	}
	commit(t, dir, "a")
	if err := s.Discard(); reasonOf(err) != active {
		t.Errorf("got %v", err)
	}
	if !exists(t, dir, "a") || !exists(t, dir, "moved") {
		t.Error("something was removed")
	}
}

// A link in the place of a file of Freehold keeps the instance, and is not followed.
func TestNoLinkIsFollowed(t *testing.T) {
	outside := t.TempDir()
	precious := filepath.Join(outside, "precious")
	if err := os.WriteFile(precious, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]string{
		"a link in the place of a lease record": ".freehold/guard.lease.json",
		"a link beside the sidecars":            "more",
		"a link for what is moved aside":        ".freehold/quarantine",
		"a staged link":                         ".hook.json500000000000000",
	} {
		t.Run(name, func(t *testing.T) {
			dir := newInstances(t, "a")
			statetest.Damaged(dir, "irregular", "lease-record")
			restamp(t, dir, "a", time.Now().Add(-9*day))
			if err := os.Symlink(outside, filepath.Join(dir, "a", at)); err != nil {
				t.Fatal(err)
			}
			if got := reasons(run(t, dir, &Options{OlderThan: day}))["a"]; got != "kept: foreign" {
				t.Errorf("got %s", got)
			}
			if _, err := os.Stat(precious); err != nil {
				t.Error(err)
			}
		})
	}
}

// The leftovers of an owner that an upgrade removed are not foreign, and keep no
// instance.
func TestAnInstanceWithARemovedOwnerIsRemoved(t *testing.T) {
	dir := newInstances(t, "S")
	w, err := sidecar.OpenInstance(t.Context(), dir, "S", declaration(), "guard", nil) // so that the lease has a record
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	less := declaration()
	delete(less.Owners, "guard")
	pending := less.Owners["hook"]
	pending.Fields = map[string]schema.Field{"turns": pending.Fields["turns"]}
	less.Owners["hook"] = pending
	if _, err := upgrade.Run(t.Context(), pathOf(t, dir, "S"), less, nil); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(pathOf(t, dir, "S"), ".freehold", "upgrade-"+process.NewNonce())
	if err := os.Mkdir(left, 0o700); err != nil { // and one that was killed
		t.Fatal(err)
	}
	restamp(t, dir, "S", time.Now().Add(-9*day))
	if diff := cmp.Diff(map[string]string{"S": "removed: old"}, reasons(run(t, dir, &Options{OlderThan: 7 * day}))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if exists(t, dir, "S") {
		t.Error("it is still there")
	}
}

// Case 126: an instance is inspected again under all its locks: one that was
// written since, or got a foreign file, stays.
func TestAChangeBeforeTheLocksKeepsTheInstance(t *testing.T) {
	for want, change := range map[string]func(t *testing.T, dir string){
		"kept: active": func(t *testing.T, dir string) { commit(t, dir, "a") },
		"kept: foreign": func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(pathOf(t, dir, "a"), "notes"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(want, func(t *testing.T) {
			dir := newInstances(t, "a")
			restamp(t, dir, "a", time.Now().Add(-9*day))
			changed := false
			clock := func() time.Time { // is asked at the end of each look
				if !changed {
					changed = true
					change(t, dir)
				}
				return time.Now()
			}
			if got := reasons(run(t, dir, &Options{OlderThan: 7 * day, Clock: clock}))["a"]; got != want || !exists(t, dir, "a") {
				t.Errorf("it was %s", got)
			}
		})
	}
}

// Instances that come and go beside prunes are never reported as damaged or foreign,
// and their makers get at most the error that they are gone.
func TestShortLivedInstancesAreNotDamaged(t *testing.T) {
	dir := newInstances(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	const makers = 3
	for range makers {
		go func() {
			for ctx.Err() == nil {
				w, err := sidecar.OpenInstance(t.Context(), dir, "a", declaration(), "hook", &sidecar.Options{Create: true, Wait: time.Minute})
				switch {
				case err == nil:
					w.Close()
				case !errors.Is(err, store.NoState) && !errors.Is(err, store.Moved): // as often as it was made it was removed
					ended <- err
					return
				}
			}
			ended <- nil
		}()
	}
	prune := func() error {
		report, err := Run(t.Context(), dir, &Options{OlderThan: 1})
		if err != nil {
			return err
		}
		for _, i := range report.Items {
			if i.WantsALook() || i.Kind == "other" {
				return fmt.Errorf("%+v", i)
			}
		}
		return nil
	}
	const prunes = 400
	go func() {
		for range prunes {
			if err := prune(); err != nil {
				ended <- err
				return
			}
		}
		ended <- nil
	}()
	for range prunes {
		if err := prune(); err != nil {
			t.Error(err)
			break
		}
	}
	stop()
	for range makers + 1 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}
