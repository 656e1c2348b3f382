package store

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/google/go-cmp/cmp"
)

// A draft gets one name, which replaces nothing; as long as it is open nobody
// else takes it for abandoned; and what it withdraws is its own.
func TestDraftGetsANameThatIsFree(t *testing.T) {
	declared := declaration()
	cost := declared.Owners["cost"]
	cost.Busy.Then, cost.Fields = schema.Defer, map[string]schema.Field{"n": {Type: schema.TypeUint, Kind: schema.Counter}}
	declared.Owners["cost"] = cost
	dir := filepath.Join(t.TempDir(), "state")
	if err := Create(dir, declared); err != nil {
		t.Fatal(err)
	}
	d, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	a, err := d.OpenPending("cost")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if err := os.WriteFile(a.Path("1.json"), []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	draft, err := a.Draft([]byte("mine"))
	if err != nil {
		t.Fatal(err)
	}
	is := func(what string, have func() (bool, error), want bool) {
		t.Helper()
		if got, err := have(); got != want || err != nil {
			t.Errorf("%s: %t (%v), want %t", what, got, err, want)
		}
	}
	free := func(name string) func() (bool, error) { return func() (bool, error) { return a.Free(name) } }
	wantError(t, draft.Put("1.json"), fs.ErrExist)
	if err := draft.Put("2.json"); err != nil {
		t.Fatal(err)
	}
	is("the other is free", free("1.json"), true)
	is("it is free", free("2.json"), false)
	is("what is not there is free", free("3.json"), false)
	if raw, err := a.ReadFile("2.json", nil, 10); string(raw) != "mine" || err != nil {
		t.Errorf("read %q (%v)", raw, err)
	}
	if err := os.Rename(a.Path("1.json"), a.Path("2.json")); err != nil {
		t.Fatal(err)
	}
	is("another's file is withdrawn", draft.Withdraw, false)
	if diff := cmp.Diff([]string{"2.json"}, patchNames(t, a)); diff != "" {
		t.Errorf("another's file is withdrawn (-want +got):\n%s", diff)
	}
	if err := draft.Close(); err != nil {
		t.Error(err)
	}
	if draft, err = a.Draft([]byte("mine")); err != nil {
		t.Fatal(err)
	}
	if err := draft.Put("3.json"); err != nil {
		t.Fatal(err)
	}
	is("it is withdrawn", draft.Withdraw, true)
	is("it is withdrawn again", draft.Withdraw, false)
	if err := draft.Close(); err != nil {
		t.Error(err)
	}
	is("closed, the other is free", free("2.json"), true)
	if err := a.Remove("2.json"); err != nil {
		t.Fatal(err)
	}
	if all, err := os.ReadDir(a.Path("")); err != nil || len(all) > 0 {
		t.Errorf("left behind: %v (%v)", all, err)
	}
}

func patchNames(t *testing.T, a *PendingDir) []string {
	t.Helper()
	all, err := a.Names()
	if err != nil {
		t.Fatal(err)
	}
	return all
}
