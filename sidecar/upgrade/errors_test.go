package upgrade

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/errorstest"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/scratch"
	"github.com/freehold-dev/freehold/sidecar/scratch/statedir"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var said = errorstest.Golden{
	Update: update,
	Untold: map[string]string{
		"nothing was changed: %w":     "wants a disk that fails: TestFailedAtEveryCallItSaysSoAndResumes",
		"%s: %w: the new sidecar: %w": "wants two owners whose files together have more than one may have",
	},
	Wraps: []string{"../internal/document", "../internal/dir", "../internal/status", "../store", "../internal/statedir"},
}

// TestErrorsSayWhatToDo provokes the errors of an upgrade.
func TestErrorsSayWhatToDo(t *testing.T) {
	refused := func(how, dir string, d *schema.Declaration) {
		t.Helper()
		before := sidecars(t, dir)
		_, dry := Run(t.Context(), dir, d, &Options{Wait: time.Millisecond, DryRun: true})
		_, err := Run(t.Context(), dir, d, &Options{Wait: time.Millisecond})
		said.Same(t, how, err, dir, "STATE")
		if how != "a link for a quarantine" && how != "again" && fmt.Sprint(dry) != fmt.Sprint(err) {
			t.Errorf("%s: the dry run says %v", how, dry)
		}
		if diff := cmp.Diff(before, sidecars(t, dir)); diff != "" {
			t.Errorf("%s: something was changed (-before +after):\n%s", how, diff)
		}
	}
	dir := newState(t)
	w, err := sidecar.Open(t.Context(), dir, nil, "watchdog", nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Run(t.Context(), dir, younger(), &Options{DryRun: true})
	said.Same(t, "a dry run beside a living process", err, dir, "STATE", "process "+strconv.Itoa(os.Getpid()), "process PID")
	w.Close()
	other := younger()
	other.State = "other"
	refused("another state", dir, other)
	other = younger()
	other.Instances.By = "session_id"
	refused("instances now", dir, other)
	other = younger()
	other.Owners["cost"].Fields["worse"] = schema.Field{Type: "money"}
	refused("an unsound declaration", dir, other)
	unfit := younger()
	unfit.Owners["cost"].Fields["target"] = schema.Field{Type: schema.TypeRecord, Fields: spec{"host": {Type: schema.TypeInt}, "port": {Type: schema.TypeEnum, Values: []string{"http"}}}}
	unfit.Owners["curator"].Fields["skills"].Record["state"] = schema.Field{Type: schema.TypeEnum, Values: []string{"old"}}
	refused("values that do not fit", dir, unfit)
	many := slices.Repeat(misfits{errors.New("cost.json: /x is 1: want less")}, 25)
	said.Same(t, "many of them", store.WithRemedy(many, store.Remedy{Note: "correct these values, or declare fields that hold them"}))
	quarantine := filepath.Join(dir, ".freehold", "quarantine")
	if err := os.Symlink("..", quarantine); err != nil {
		t.Fatal(err)
	}
	refused("a link for a quarantine", dir, younger())
	refused("again", dir, younger())
	staged, err := filepath.Glob(filepath.Join(dir, ".freehold", "upgrade-*", "cost.json"))
	away := filepath.Join(t.TempDir(), "away")
	if err = errors.Join(err, os.Remove(quarantine)); err != nil || len(staged) != 1 {
		t.Fatal(staged, err)
	}
	if err := os.Rename(staged[0], away); err != nil {
		t.Fatal(err)
	}
	_, err = Run(t.Context(), dir, younger(), nil)
	said.Same(t, "a new sidecar is gone", err, filepath.Base(filepath.Dir(staged[0])), "UPGRADE", dir, "STATE")
	file, old := filepath.Join(dir, "cost.json"), filepath.Join(filepath.Dir(away), "old")
	if err := errors.Join(os.Rename(file, old), os.Symlink("nowhere", file)); err != nil {
		t.Fatal(err)
	}
	refused("a new sidecar is gone, and something is in its place", dir, younger())
	if err := errors.Join(os.Remove(file), os.Rename(old, file), os.Rename(away, staged[0])); err != nil {
		t.Fatal(err)
	}
	if report := upgraded(t, dir, younger()); !report.Resumed {
		t.Error("it was not finished")
	}

	for how, damage := range map[string]func(file string) error{
		"foreign":    func(file string) error { return edit(file, `"kept"`, `"mine"`) },
		"too large":  func(file string) error { return os.Truncate(file, 2<<20) },
		"unreadable": func(file string) error { return errors.Join(os.Remove(file), os.Symlink("elsewhere", file)) },
		"newer":      func(file string) error { return edit(file, `"format":1`, `"format":2`) },
		"torn":       func(file string) error { return os.Truncate(file, 20) },
		"foreign, with a value that does not fit": func(file string) error { return edit(file, `"kept"`, `["mine"]`) },
	} {
		dir := newState(t)
		statetest.Damaged(dir, "sidecar-foreign", "sidecar-invalid", "sidecar-unreadable", "sidecar-newer")
		file := filepath.Join(dir, "cost.json")
		if err := damage(file); err != nil {
			t.Fatal(err)
		}
		refused("a sidecar that is "+how, dir, younger())
	}
	for how, text := range map[string][]byte{"no JSON": []byte("x"), "much too large": make([]byte, 2<<20)} {
		dir := newState(t)
		stranger := filepath.Join(dir, "clock.json")
		if err := os.WriteFile(stranger, text, 0o600); err != nil {
			t.Fatal(err)
		}
		refused("a stranger's file where a new owner's will be, "+how, dir, younger())
		if err := os.Remove(stranger); err != nil {
			t.Fatal(err)
		}
	}
	for how, damage := range map[string]func(file string, older []byte) error{
		"older than was observed": func(file string, older []byte) error { return os.WriteFile(file, older, 0o600) },
		"gone and was observed":   func(file string, _ []byte) error { return os.Remove(file) },
	} {
		dir, older := regressible(t)
		if err := errors.Join(damage(filepath.Join(dir, "reset.json"), older), scratch.Unwitness(dir)); err != nil {
			t.Fatal(err)
		}
		refused("a sidecar that is "+how, dir, dependent(needing(schema.TypeUint), nil))
	}

	d := &schema.Declaration{State: "agent", Owners: map[string]schema.Owner{
		"tool": {Busy: schema.Busy{Then: schema.Defer}, Fields: spec{"n": {Type: schema.TypeUint, Kind: schema.Counter}}},
		"hook": {Fields: spec{"fired": {Type: schema.TypeTime, Kind: schema.Once}, "note": {Type: schema.TypeString}}},
	}}
	dir = create(t, d)
	statetest.Damaged(dir, "patch-stuck")
	next := *d
	next.Owners = map[string]schema.Owner{"tool": d.Owners["tool"], "hook": {Fields: spec{
		"fired": {Type: schema.TypeTime}, "note": {Type: schema.TypeString},
	}}}
	refused("a once field that is a value now", dir, &next)
	next.Owners["hook"] = schema.Owner{Fields: spec{"fired": {Type: schema.TypeTime, Kind: schema.Once}, "note": {Type: schema.TypeString, Kind: schema.Value}}}
	commit(t, dir, "hook", sidecar.Op{Field: "note", Verb: schema.VerbSet, Value: []byte(`"` + strings.Repeat("x", 100) + `"`)})
	sd, err := statedir.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer sd.Close()
	pending, err := sd.OpenPending(manifest(t, dir), "tool")
	if err != nil {
		t.Fatal(err)
	}
	defer pending.Close()
	if err := os.WriteFile(pending.Path("x.1.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused("a pending patch", dir, &next)
}

func manifest(t *testing.T, dir string) *schema.Manifest {
	t.Helper()
	_, m := openDir(t, dir)
	return m
}

// TestErrorsAreAllTold fails for an error that no test of the package provokes.
func TestErrorsAreAllTold(t *testing.T) { said.Complete(t) }
