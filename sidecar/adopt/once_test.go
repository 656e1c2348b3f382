package adopt

import (
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/google/go-cmp/cmp"
)

func latched() *schema.Declaration {
	once := schema.Field{Type: schema.TypeTime, Kind: schema.Once}
	return &schema.Declaration{State: "session", Owners: map[string]schema.Owner{"hook": {Fields: spec{"fired": once, "ended": once, "begun": once, "turn": counter}}}}
}

const latchedFile = `{"fired": "2026-08-11T10:12:44+01:00", "ended": null, "begun": "2026-08-10T00:00:00Z", "turn": 3}`

// A stamp of a legacy file becomes a claim of that time; a claimed field keeps its
// claim.
func TestAStampIsAdoptedAsAClaim(t *testing.T) {
	dir := newState(t, latched())
	claim(t, dir, "begun")
	p := planned(t, latched(), latchedFile)
	dry, err := p.Apply(t.Context(), dir, &Options{DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, by, err := sidecar.ResolveClaim(dir, "hook", "fired", ""); by.ID != "" || err != nil {
		t.Errorf("a dry run has claimed: %+v (%v)", by, err)
	}
	r := apply(t, p, dir)
	for _, r := range []*Report{dry, r} {
		if diff := cmp.Diff([]string{"/fired", "/turn"}, imported(r)); diff != "" {
			t.Errorf("imported (-want +got):\n%s", diff)
		}
		if kept := r.Owners[0].Kept; len(kept) != 1 || kept[0].Pointer != "/begun" || kept[0].Program != "hook" {
			t.Errorf("kept %+v", kept)
		}
	}
	_, by, err := sidecar.ResolveClaim(dir, "hook", "fired", "")
	if at, _ := schema.Time.Append(nil, by.At); err != nil || string(at) != `"2026-08-11T09:12:44Z"` || by.Program != "adopt runtime.json" {
		t.Errorf("claimed by %+v (%v)", by, err)
	}
	if _, by, err := sidecar.ResolveClaim(dir, "hook", "ended", ""); by.ID != "" || err != nil {
		t.Errorf("null was claimed: %+v (%v)", by, err)
	}
	before := files(t, dir)
	again := apply(t, p, dir)
	if diff := cmp.Diff(before, files(t, dir)); diff != "" {
		t.Errorf("adopting again changed something (-before +after):\n%s", diff)
	}
	if o := again.Owners[0]; o.Outcome != sidecar.Unchanged || o.Same != 2 || len(o.Imported) != 0 {
		t.Errorf("adopting again: %+v", o)
	}
}

// A claim that is lost at the last moment is reported as kept, and not as
// imported.
func TestAClaimThatIsLostMeanwhileIsKept(t *testing.T) {
	dir, p := newState(t, latched()), planned(t, latched(), latchedFile)
	lost := false
	clock := func() time.Time { // is asked by the commit, after which the claims come
		if !lost {
			lost = true
			claim(t, dir, "fired")
		}
		return time.Now()
	}
	r, err := p.Apply(t.Context(), dir, &Options{Clock: clock})
	if err != nil || !lost {
		t.Fatalf("lost: %v (%v)", lost, err)
	}
	if diff := cmp.Diff([]string{"/begun", "/turn"}, imported(r)); diff != "" {
		t.Errorf("imported (-want +got):\n%s", diff)
	}
	if kept := r.Owners[0].Kept; len(kept) != 1 || kept[0].Pointer != "/fired" || kept[0].Program != "hook" {
		t.Errorf("kept %+v", kept)
	}
}

// claim claims a once field of hook, and must win.
func claim(t *testing.T, dir, field string) {
	t.Helper()
	w, err := sidecar.Open(t.Context(), dir, nil, "hook", &sidecar.Options{Program: "hook"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if won, _, err := w.Claim(t.Context(), field); !won {
		t.Fatal(err)
	}
}
