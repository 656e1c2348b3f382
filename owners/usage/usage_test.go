package usage_test

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/freehold-dev/freehold/owners/usage"
	"github.com/freehold-dev/freehold/owners/usage/usagetest"
	"github.com/freehold-dev/freehold/reader"
)

// A skill is a record of the file that programs shared before; a member
// that is null or missing there is nil.
type skill struct {
	CreatedBy     *string    `json:"created_by"`
	CreatedAt     *time.Time `json:"created_at"`
	UseCount      *uint64    `json:"use_count"`
	ViewCount     *uint64    `json:"view_count"`
	PatchCount    *uint64    `json:"patch_count"`
	LastUsedAt    *time.Time `json:"last_used_at"`
	LastViewedAt  *time.Time `json:"last_viewed_at"`
	LastPatchedAt *time.Time `json:"last_patched_at"`
	State         *string    `json:"state"`
	ArchivedAt    *time.Time `json:"archived_at"`
	Pinned        *bool      `json:"pinned"`
}

// TestAViewShowsWhatFourOwnersWrote writes a real file's skills, each value
// through its owner, and reads them back as one record each.
func TestAViewShowsWhatFourOwnersWrote(t *testing.T) {
	text, err := os.ReadFile(legacyFile)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]skill{}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	var settings []usagetest.Setting
	for name, s := range want {
		settings = append(settings, s.settings(t, name)...)
	}
	v := usagetest.View(t, settings...)
	names, err := v.Skills().Keys()
	if err != nil || len(names) != len(want) || !slices.IsSorted(names) {
		t.Fatalf("%d skills, want %d (%v)", len(names), len(want), err)
	}
	got := map[string]skill{}
	for _, name := range names {
		got[name] = read(t, v.Skills().Key(name))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("skills (-want +got):\n%s", diff)
	}
}

func (s skill) settings(t *testing.T, name string) []usagetest.Setting {
	settings := []usagetest.Setting{usagetest.Skills(name)}
	add := func(setting usagetest.Setting) { settings = append(settings, setting) }
	put(s.CreatedBy, name, usagetest.SkillsCreatedBy, add)
	put(s.CreatedAt, name, usagetest.SkillsCreatedAt, add)
	put(s.UseCount, name, usagetest.SkillsUseCount, add)
	put(s.ViewCount, name, usagetest.SkillsViewCount, add)
	put(s.PatchCount, name, usagetest.SkillsPatchCount, add)
	put(s.LastUsedAt, name, usagetest.SkillsLastUsedAt, add)
	put(s.LastViewedAt, name, usagetest.SkillsLastViewedAt, add)
	put(s.LastPatchedAt, name, usagetest.SkillsLastPatchedAt, add)
	put(s.ArchivedAt, name, usagetest.SkillsArchivedAt, add)
	put(s.Pinned, name, usagetest.SkillsPinned, add)
	if s.State != nil {
		state, err := usage.ParseSkillsState(*s.State)
		if err != nil {
			t.Fatal(err)
		}
		add(usagetest.SkillsState(name, state))
	}
	return settings
}

func put[T any](v *T, key string, set func(string, T) usagetest.Setting, add func(usagetest.Setting)) {
	if v != nil {
		add(set(key, *v))
	}
}

func read(t *testing.T, e usage.SkillsEntry) skill {
	s := skill{
		CreatedBy: get(t, e.CreatedBy()), CreatedAt: get(t, e.CreatedAt()),
		UseCount: get(t, e.UseCount()), ViewCount: get(t, e.ViewCount()), PatchCount: get(t, e.PatchCount()),
		LastUsedAt: get(t, e.LastUsedAt()), LastViewedAt: get(t, e.LastViewedAt()), LastPatchedAt: get(t, e.LastPatchedAt()),
		ArchivedAt: get(t, e.ArchivedAt()), Pinned: get(t, e.Pinned()),
	}
	if state := get(t, e.State()); state != nil {
		text := state.String()
		s.State = &text
	}
	return s
}

// get returns the value of a member, or nil if it is unset.
func get[T any](t *testing.T, f reader.Field[T]) *T {
	v, err := f.Get()
	if errors.Is(err, reader.ErrUnset) {
		return nil
	}
	if err != nil {
		t.Error(err)
	}
	return &v
}
