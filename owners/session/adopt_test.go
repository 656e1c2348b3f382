package session_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/freehold-dev/freehold/owners/session"
	"github.com/freehold-dev/freehold/owners/session/sessiontest"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/adopt"
)

// TestTheLegacyFileIsAdoptedInFull adopts a real file of one session.
func TestTheLegacyFileIsAdoptedInFull(t *testing.T) {
	const file = "../../sidecar/adopt/testdata/legacy-context-seen.json"
	legacy, err := adopt.Read(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := legacy.Plan(session.Declaration())
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Unowned)+len(plan.Unset) > 0 {
		t.Errorf("unowned: %v, unset: %v", plan.Unowned, plan.Unset)
	}
	const id = "6F1B5C8E/main" // no directory's name
	dir := sessiontest.State(t, id)
	name, err := schema.InstanceDir(id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Apply(t.Context(), filepath.Join(dir, name), nil); err != nil {
		t.Fatal(err)
	}
	r, err := session.Open(dir, id)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	v, err := r.View(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	type context struct {
		Turn uint64            `json:"turn"`
		Seen map[string]uint64 `json:"seen"`
	}
	var want context
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	got := context{Seen: map[string]uint64{}}
	if got.Turn, err = v.Turn().Get(); err != nil {
		t.Fatal(err)
	}
	items, err := v.Seen().Keys()
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range items {
		if got.Seen[item], err = v.Seen().Key(item).Get(); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the session (-want +got):\n%s", diff)
	}
}
