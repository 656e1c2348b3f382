package curator_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/freehold-dev/freehold/owners/usage"
	"github.com/freehold-dev/freehold/owners/usage/creator"
	"github.com/freehold-dev/freehold/owners/usage/curator"
	"github.com/freehold-dev/freehold/owners/usage/tool"
	"github.com/freehold-dev/freehold/owners/usage/usagetest"
	"github.com/freehold-dev/freehold/owners/usage/user"
	"github.com/freehold-dev/freehold/reader/statetest"
)

var (
	now     = time.Date(2026, 8, 12, 0, 0, 0, 0, time.UTC)
	ago     = func(d time.Duration) time.Time { return now.Add(-d) }
	day     = 24 * time.Hour
	made    = func(at time.Time) usagetest.Setting { return usagetest.SkillsCreatedAt("x", at) }
	used    = func(at time.Time) usagetest.Setting { return usagetest.SkillsLastUsedAt("x", at) }
	viewed  = func(at time.Time) usagetest.Setting { return usagetest.SkillsLastViewedAt("x", at) }
	patched = func(at time.Time) usagetest.Setting { return usagetest.SkillsLastPatchedAt("x", at) }
	is      = func(s usage.SkillsState) usagetest.Setting { return usagetest.SkillsState("x", s) }
)

func TestRuleGoesByTheLastActivity(t *testing.T) {
	active, stale, archived := usage.SkillsStateActive(), usage.SkillsStateStale(), usage.SkillsStateArchived()
	old := ago(90 * day)
	for name, tc := range map[string]struct {
		settings []usagetest.Setting
		want     usage.SkillsState // zero: no move
		kept     string            // the reason to keep
	}{
		"made today":                      {settings: []usagetest.Setting{made(now)}, want: active},
		"active and used":                 {settings: []usagetest.Setting{made(old), used(now), is(active)}},
		"used shortly before":             {settings: []usagetest.Setting{used(ago(14*day - 1)), is(active)}},
		"used 14 days ago":                {settings: []usagetest.Setting{used(ago(14 * day)), is(active)}, want: stale},
		"used shortly before 30 days":     {settings: []usagetest.Setting{used(ago(30*day - 1)), is(stale)}},
		"used 30 days ago":                {settings: []usagetest.Setting{used(ago(30 * day)), is(stale)}, want: archived},
		"active and used 30 days ago":     {settings: []usagetest.Setting{used(ago(30 * day)), is(active)}, want: archived},
		"made long ago and never used":    {settings: []usagetest.Setting{made(old), is(active)}, want: archived},
		"viewed later than used":          {settings: []usagetest.Setting{made(old), used(old), viewed(ago(day)), is(stale)}, want: active},
		"patched later than used":         {settings: []usagetest.Setting{made(old), used(old), patched(ago(20 * day)), is(active)}, want: stale},
		"activity counts, not the making": {settings: []usagetest.Setting{made(now), used(ago(20 * day)), is(active)}, want: stale},
		"pinned":                          {settings: []usagetest.Setting{made(old), is(active), usagetest.SkillsPinned("x", true)}},
		"pinned once":                     {settings: []usagetest.Setting{made(old), is(active), usagetest.SkillsPinned("x", false)}, want: archived},
		"archived":                        {settings: []usagetest.Setting{used(ago(20 * day)), is(archived), usagetest.SkillsArchivedAt("x", ago(20*day))}},
		"archived, nobody knows when":     {settings: []usagetest.Setting{used(ago(day)), is(archived)}},
		"used since it was archived":      {settings: []usagetest.Setting{used(ago(day)), is(archived), usagetest.SkillsArchivedAt("x", ago(2*day))}, want: active},
		"used while the curator looks":    {settings: []usagetest.Setting{made(old), used(now.Add(time.Second)), is(stale)}, want: active},
		"no time known":                   {settings: []usagetest.Setting{is(active)}, kept: "no time is known when it was made or last used"},
		// Case 123, case 145: a clock that was ahead is not believed, and not
		// passed over in silence.
		"used in the future": {settings: []usagetest.Setting{made(old), used(now.Add(time.Hour)), is(stale)},
			kept: "its last activity, 2026-08-12T01:00:00Z, lies ahead of now, 2026-08-12T00:00:00Z: set the clock that is wrong"},
	} {
		t.Run(name, func(t *testing.T) {
			v := usagetest.View(t, append([]usagetest.Setting{usagetest.Skills("x")}, tc.settings...)...)
			p, err := curator.Decide(v, now)
			if err != nil {
				t.Fatal(err)
			}
			var to usage.SkillsState
			for _, m := range p.Moves {
				to = m.To
			}
			if to != tc.want || len(p.Moves) > 1 {
				t.Errorf("moves %v, want one to %q", p.Moves, tc.want)
			}
			var kept []curator.Kept
			if tc.kept != "" {
				kept = []curator.Kept{{Skill: "x", Why: tc.kept}}
			}
			if diff := cmp.Diff(kept, p.Kept); diff != "" {
				t.Errorf("kept (-want +got):\n%s", diff)
			}
		})
	}
}

func view(t *testing.T, dir string) usage.View {
	t.Helper()
	r, err := usage.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	v, err := r.View(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// old returns a state of four skills that are due for the archive, and the plan
// that says so.
func old(t *testing.T) (dir string, p curator.Plan) {
	t.Helper()
	var settings []usagetest.Setting
	for _, skill := range []string{"gone", "other", "pinned", "used", "x"} {
		settings = append(settings, usagetest.SkillsCreatedAt(skill, ago(90*day)), usagetest.SkillsLastUsedAt(skill, ago(40*day)))
	}
	dir = usagetest.State(t, settings...)
	p, err := curator.Decide(view(t, dir), now)
	if err != nil || len(p.Moves) != 5 {
		t.Fatalf("plan %v (%v), want 5 moves", p, err)
	}
	return dir, p
}

// Case 126: a skill that came back to life between a plan and its act is left
// alone, and said to be; the rest is not held up.
func TestAnOldPlanTouchesOnlyWhatItWasMadeFor(t *testing.T) {
	dir, p := old(t)
	ctx := t.Context()
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(creator.Delete(ctx, dir, "gone", nil))
	must(creator.Delete(ctx, dir, "other", nil))
	must(creator.Create(ctx, dir, "other", "agent", ago(60*day), nil)) // as old: only the incarnation tells
	must(user.Pin(ctx, dir, "pinned", true, nil))
	must(tool.Bump(ctx, dir, "used", tool.Use, ago(day), 1, nil))
	done, err := curator.Act(ctx, dir, p, now, nil)
	if err != nil {
		t.Fatal(err)
	}
	const moot = "the rule no longer moves it: it was used or pinned since, or moved already"
	want := []curator.Kept{
		{"gone", "it was deleted since"},
		{"other", "it was deleted since, and its name belongs to another one now"},
		{"pinned", moot},
		{"used", moot},
	}
	if diff := cmp.Diff(want, done.Kept); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	if len(done.Moves) != 1 || done.Moves[0].Skill.Key != "x" {
		t.Errorf("moved %v, want x alone", done.Moves)
	}
	v := view(t, dir)
	for _, skill := range []string{"other", "pinned", "used", "x"} {
		state, _ := v.Skills().Key(skill).State().Get()
		if (state == usage.SkillsStateArchived()) != (skill == "x") {
			t.Errorf("%s is %q", skill, state)
		}
	}
	if at, err := v.Skills().Key("x").ArchivedAt().Get(); err != nil || !at.Equal(now) {
		t.Errorf("archived at %v (%v), want %v", at, err, now)
	}
	if again, err := curator.Act(ctx, dir, p, now, nil); err != nil || len(again.Moves) > 0 || len(again.Kept) != 5 {
		t.Errorf("the same plan again: %+v (%v), want nothing to move", again, err)
	}
}

func TestASkillThatIsUsedAgainIsTakenOutOfTheArchive(t *testing.T) {
	dir, _ := old(t)
	if _, err := curator.Curate(t.Context(), dir, now, nil); err != nil {
		t.Fatal(err)
	}
	later := now.Add(day)
	if _, err := tool.Bump(t.Context(), dir, "x", tool.View, later, 1, nil); err != nil {
		t.Fatal(err)
	}
	done, err := curator.Curate(t.Context(), dir, later, nil)
	if err != nil || len(done.Moves) != 1 {
		t.Fatalf("done %+v (%v), want one move", done, err)
	}
	e := view(t, dir).Skills().Key("x")
	state, _ := e.State().Get()
	if at, err := e.ArchivedAt().Get(); err == nil || state != usage.SkillsStateActive() {
		t.Errorf("it is %v, archived at %v", state, at)
	}
}

// Half of the facts are not enough to put anything away.
func TestCuratorDoesNothingWhileASidecarCannotBeRead(t *testing.T) {
	for _, owner := range []string{"tool", "user", "creator"} {
		t.Run(owner, func(t *testing.T) {
			dir, p := old(t)
			statetest.Damaged(dir, "sidecar-invalid")
			if _, err := user.Pin(t.Context(), dir, "x", true, nil); err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(filepath.Join(dir, owner+".json"), 40); err != nil {
				t.Fatal(err)
			}
			if done, err := curator.Curate(t.Context(), dir, now, nil); err == nil || !strings.Contains(err.Error(), owner) {
				t.Errorf("curated %+v (%v), want an error that names %s", done, err, owner)
			}
			if done, err := curator.Act(t.Context(), dir, p, now, nil); err == nil {
				t.Errorf("acted %+v", done)
			}
		})
	}
}
