package usage_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/freehold-dev/freehold/owners/usage"
	"github.com/freehold-dev/freehold/owners/usage/usagetest"
	"github.com/freehold-dev/freehold/sidecar/adopt"
)

// legacyFile is the real file that programs shared before.
const legacyFile = "../../sidecar/adopt/testdata/legacy-usage.json"

// adopted returns the records of the legacy file, and a state that has adopted
// it.
func adopted(t *testing.T) (records map[string]skill, dir string) {
	t.Helper()
	legacy, err := adopt.Read(t.Context(), legacyFile)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := legacy.Plan(usage.Declaration())
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Unowned) > 0 {
		t.Errorf("unowned: %v", plan.Unowned)
	}
	dir = usagetest.State(t)
	if _, err := plan.Apply(t.Context(), dir, nil); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(legacyFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &records); err != nil {
		t.Fatal(err)
	}
	return records, dir
}

// TestTheLegacyFileIsAdoptedInFull adopts a real file and compares the
// records of its four owners.
func TestTheLegacyFileIsAdoptedInFull(t *testing.T) {
	want, dir := adopted(t)
	r, err := usage.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	v, err := r.View(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	names, err := v.Skills().Keys()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]skill{}
	for _, name := range names {
		got[name] = read(t, v.Skills().Key(name))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("skills (-want +got):\n%s", diff)
	}
}
