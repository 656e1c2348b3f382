package prune

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/inject"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/role"
)

func TestMain(m *testing.M) {
	inject.Main()
	role.Main(m, roles)
}

// roles are the programs that tests run as processes of their own.
var roles = role.Roles{
	"work":  roleWork,
	"prune": rolePrune,
}

func declaration() *schema.Declaration {
	return &schema.Declaration{State: "session", Instances: schema.Instances{By: "session_id"}, Owners: map[string]schema.Owner{
		"hook":  {Durability: schema.Process, Fields: map[string]schema.Field{"turns": {Type: schema.TypeUint, Kind: schema.Counter}, "fired": {Type: schema.TypeTime, Kind: schema.Once}}},
		"guard": {Mode: schema.Exclusive, Fields: map[string]schema.Field{"word": {Type: schema.TypeString}}},
	}}
}

// roleWork opens instance after instance, rounds times, and commits to each twice.
// An acknowledged commit must stay as long as the Writer is open. It prints the
// commits by instance.
func roleWork(args []string) error {
	rounds, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	done := map[string]int{}
	for i := range rounds {
		id := fmt.Sprintf("S %d", i%3)
		if err := work(args[0], id, args[1]); err != nil {
			return fmt.Errorf("round %d, instance %q: %w", i, id, err)
		}
		done[id] += 2
	}
	return json.NewEncoder(os.Stdout).Encode(done)
}

func work(dir, id, program string) error {
	ctx := context.Background()
	w, err := sidecar.OpenInstance(ctx, dir, id, declaration(), "hook", &sidecar.Options{Create: true, Program: program, Wait: time.Minute})
	if err != nil {
		return err
	}
	defer w.Close()
	won, by, err := sidecar.OnceOf(w, "fired").Claim(ctx)
	if err != nil {
		return err
	}
	last := uint64(0)
	for range 2 {
		_, err := w.Update(ctx, func(tx *sidecar.Tx) error {
			turns := sidecar.CounterOf(tx, "turns", schema.Uint)
			now, _ := turns.Get()
			if now < last {
				return fmt.Errorf("turns is %d and was %d", now, last)
			}
			turns.Add(1)
			last = now + 1
			return nil
		})
		if err != nil {
			return err
		}
	}
	// A claim that was won is there as long as the Writer is open.
	again, now, err := sidecar.OnceOf(w, "fired").Claim(ctx)
	if err != nil || again || won && now.ID != by.ID {
		return fmt.Errorf("claimed: %v, then %v by %q and not %q (%w)", won, again, now.ID, by.ID, err)
	}
	return nil
}

// rolePrune prunes once.
func rolePrune(args []string) error {
	age, err := time.ParseDuration(args[1])
	if err != nil {
		return err
	}
	inject.Begin()
	defer inject.End()
	report, err := Run(context.Background(), args[0], &Options{OlderThan: age})
	if err != nil {
		return err
	}
	for _, i := range report.Items {
		if i.Action == Failed {
			return fmt.Errorf("%+v", i)
		}
	}
	return nil
}

// newInstances makes a state with instances, each with one commit.
func newInstances(t *testing.T, ids ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "sessions")
	if err := sidecar.Create(dir, declaration()); err != nil {
		t.Fatal(err)
	}
	statetest.Healthy(t, dir)
	for _, id := range ids {
		commit(t, dir, id)
	}
	return dir
}

func commit(t *testing.T, dir, id string) {
	t.Helper()
	if err := work(dir, id, "test"); err != nil {
		t.Fatal(err)
	}
}

// turns returns the commits that an instance has counted.
func turns(t *testing.T, dir, id string) (n uint64) {
	t.Helper()
	w, err := sidecar.OpenInstance(t.Context(), dir, id, declaration(), "hook", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	_, err = w.Update(t.Context(), func(tx *sidecar.Tx) error {
		n, _ = sidecar.CounterOf(tx, "turns", schema.Uint).Get()
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return n
}

func pathOf(t *testing.T, dir, id string) string {
	t.Helper()
	name, err := schema.InstanceDir(id)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name)
}

// later is a clock that is so much ahead.
func later(by time.Duration) func() time.Time {
	return func() time.Time { return time.Now().Add(by) }
}

// restamp rewrites an instance's sidecar, and its claim if there is one, as a
// process of another boot would have left them.
func restamp(t *testing.T, dir, id string, at time.Time) {
	t.Helper()
	stamp(t, filepath.Join(pathOf(t, dir, id), "hook.json"), at)
	claim := filepath.Join(pathOf(t, dir, id), statedir.ClaimFile("hook", "fired"))
	if _, err := os.Lstat(claim); err == nil {
		restampClaim(t, claim, at)
	}
	err := filepath.WalkDir(pathOf(t, dir, id), func(path string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Chtimes(path, at, at))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, dir string, o *Options) *Report {
	t.Helper()
	r, err := Run(t.Context(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// reasons returns the report by id of instance, or name.
func reasons(r *Report) map[string]string {
	m := map[string]string{}
	for _, i := range r.Items {
		name := i.Instance
		if i.Kind != Instance || name == "" {
			name = filepath.Base(i.Path)
		}
		m[name] = i.Action + ": " + i.Reason
	}
	return m
}

func exists(t *testing.T, dir, id string) bool {
	t.Helper()
	_, err := os.Lstat(pathOf(t, dir, id))
	return err == nil
}

// onlyWhole holds that nothing of a prune or of a create is left half done:
// every name in dir is an instance that can be used.
func onlyWhole(t *testing.T, dir string) {
	t.Helper()
	if left, err := statedir.Leftovers(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v (%v)", left, err)
	}
	found, err := statedir.Instances(dir)
	if err != nil {
		t.Error(err)
	}
	for _, i := range found {
		if i.Err != nil {
			t.Errorf("%s: %v", i.Name, i.Err)
		}
	}
}
