package adopt

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/inject"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/role"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/google/go-cmp/cmp"
)

// roleAdopt adopts a file into a state, both given.
func roleAdopt(args []string) error {
	dir, path := args[0], args[1]
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	l, err := Parse(path, text)
	if err != nil {
		return err
	}
	p, err := l.Plan(mixed())
	if err != nil {
		return err
	}
	inject.Begin()
	defer inject.End()
	_, err = p.Apply(context.Background(), dir, &Options{Wait: time.Minute})
	return err
}

// mixed is a state with everything in it that takes steps of its own: an
// exclusive owner, a map of two owners, a set.
func mixed() *schema.Declaration {
	d := flat()
	delete(d.Owners, "cost")
	part := func(keys bool, record spec) schema.Owner {
		return schema.Owner{Fields: spec{"skills": {Kind: schema.Map, Keys: keys, Record: record}}}
	}
	d.Owners["creator"] = part(true, spec{"created_by": text})
	d.Owners["tool"] = part(false, spec{"use_count": counter})
	return d
}

const mixedFile = `{"cleared": false, "labels": ["b", "a"], "watchdog_reason": "frozen", "ticks": 3,
"skills": {"deploy": {"created_by": "agent", "use_count": 77}, "bare": {"use_count": 3}}}`

// Case 131: any number of processes may adopt one file at once. All succeed, and
// the state is that of one adoption.
func TestSeveralAdoptAtOnce(t *testing.T) {
	want := inOneRun(t)
	dir, path := newState(t, mixed()), legacyFile(t, mixedFile)
	var running []*exec.Cmd
	for range 8 {
		cmd := role.Process(t, "adopt", dir, path)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		running = append(running, cmd)
	}
	for _, cmd := range running {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff(want, contents(t, dir)); diff != "" {
		t.Errorf("sidecars (-alone +together):\n%s", diff)
	}
	for _, owner := range mixed().OwnerNames() {
		if v := sidecarOf(t, dir+"/"+owner+".json").Version; v.Revision != 1 {
			t.Errorf("%s was committed %d times", owner, v.Revision)
		}
	}
}

func inOneRun(t *testing.T) map[string]string {
	t.Helper()
	dir := newState(t, mixed())
	apply(t, planned(t, mixed(), mixedFile), dir)
	return contents(t, dir)
}

// An adoption waits for each owner as long as the most patient of those that it
// has something for, or as its caller says.
func TestAdoptWaitsAsLongAsTheMostPatientOwner(t *testing.T) {
	d := flat()
	for owner, wait := range map[string]string{"cost": "1ms", "reset": "2ms", "watchdog": "1h"} {
		o, ok := d.Owners[owner]
		if !ok {
			t.Fatalf("no owner %s", owner)
		}
		o.Busy.Wait = wait
		d.Owners[owner] = o
	}
	for file, want := range map[string]time.Duration{
		`{"cost_total": 1, "cleared": true}`: 2 * time.Millisecond,
		`{"cost_total": 1, "ticks": 3}`:      time.Hour,
		`{}`:                                 0,
	} {
		if got := planned(t, d, file).longestWait(); got != want {
			t.Errorf("%s: it waits %v, want %v", file, got, want)
		}
	}
	dir := newState(t, d)
	w, err := sidecar.Open(t.Context(), dir, d, "watchdog", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, o := range []*Options{{Wait: -1}, {Wait: time.Millisecond}} {
		_, err := planned(t, d, `{"ticks": 3}`).Apply(t.Context(), dir, o)
		wantError(t, err, store.Busy, "watchdog")
	}
}
