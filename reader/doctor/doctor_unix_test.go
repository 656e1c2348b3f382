//go:build unix

package doctor_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/freehold-dev/freehold/reader/doctor"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
)

func declaration() *schema.Declaration {
	return &schema.Declaration{State: "agent", Owners: map[string]schema.Owner{
		"cost": {Fields: map[string]schema.Field{
			"count": {Type: schema.TypeUint, Kind: schema.Counter, Legacy: "n"},
			"note":  {Type: schema.TypeString},
			"fired": {Type: schema.TypeTime, Kind: schema.Once},
		}},
		"usage":    {Busy: schema.Busy{Then: schema.Aside}, Fields: map[string]schema.Field{"turns": {Type: schema.TypeUint, Kind: schema.Counter}}},
		"watchdog": {Mode: schema.Exclusive, Fields: map[string]schema.Field{"reason": {Type: schema.TypeString}}},
	}}
}

// newState returns a state in which every owner has written.
func newState(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	check(t, sidecar.Create(dir, declaration()))
	for owner, op := range map[string]sidecar.Op{
		"cost":     {Field: "count", Verb: sidecar.Add, Value: []byte("1")},
		"usage":    {Field: "turns", Verb: sidecar.Add, Value: []byte("1")},
		"watchdog": {Field: "reason", Verb: sidecar.Set, Value: []byte(`"dead"`)},
	} {
		commit(t, dir, owner, op)
	}
	w, err := sidecar.Open(t.Context(), dir, nil, "cost", nil)
	check(t, err)
	defer w.Close()
	_, _, err = sidecar.OnceOf(w, "fired").Claim(t.Context())
	check(t, err)
	return dir
}

func commit(t *testing.T, dir, owner string, op sidecar.Op) {
	t.Helper()
	w, err := sidecar.Open(t.Context(), dir, nil, owner, &sidecar.Options{Program: "test"})
	check(t, err)
	defer w.Close()
	_, err = w.Update(t.Context(), func(tx *sidecar.Tx) error { tx.Apply(op); return nil })
	check(t, err)
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func examine(t *testing.T, dir string, o *doctor.Options) *doctor.Report {
	t.Helper()
	r, err := doctor.Examine(t.Context(), dir, o)
	check(t, err)
	return r
}

// brief returns the findings as "code path owner field".
func brief(r *doctor.Report) []string {
	found := []string{}
	for _, f := range r.Findings {
		path, err := filepath.Rel(r.Dir, f.Path)
		if err != nil || !filepath.IsLocal(path) {
			path = "/" + filepath.Base(f.Path)
		}
		found = append(found, strings.TrimSpace(strings.Join([]string{string(f.Code), path, f.Owner, f.Field}, " ")))
	}
	return found
}

// Nothing of what Freehold does by itself is a finding.
func TestAStateThatFreeholdMadeHasNoFindings(t *testing.T) {
	dir := newState(t)
	if found := brief(examine(t, dir, &doctor.Options{Around: true, Declaration: declaration(), Declared: "owners.yaml"})); len(found) > 0 {
		t.Errorf("found %q", found)
	}
}

// A damage is done to a state in dir, and found.
type damage struct {
	do   func(t *testing.T, dir string)
	want []string
}

func edit(name, old, now string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		path := filepath.Join(dir, name)
		text, err := os.ReadFile(path)
		check(t, err)
		if !strings.Contains(string(text), old) {
			t.Fatalf("%s has no %s", name, old)
		}
		check(t, os.WriteFile(path, []byte(strings.Replace(string(text), old, now, 1)), 0o600))
	}
}

func write(name, text string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		check(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700))
		check(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
}

func remove(name string) func(*testing.T, string) {
	return func(t *testing.T, dir string) { check(t, os.RemoveAll(filepath.Join(dir, name))) }
}

func chmod(name string, mode fs.FileMode) func(*testing.T, string) {
	return func(t *testing.T, dir string) { check(t, os.Chmod(filepath.Join(dir, name), mode)) }
}

func link(from, to string, how func(string, string) error) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		check(t, how(filepath.Join(dir, from), filepath.Join(dir, to)))
	}
}

func all(do ...func(*testing.T, string)) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		for _, do := range do {
			do(t, dir)
		}
	}
}

var damages = map[string]damage{
	"another hand":       {edit("cost.json", `"count":1`, `"count":2`), []string{"sidecar-foreign cost.json cost"}},
	"no JSON":            {write("cost.json", "{"), []string{"sidecar-invalid cost.json cost"}},
	"an unflushed write": {write("cost.json", strings.Repeat("\x00", 480)), []string{"sidecar-invalid cost.json cost"}},
	"a newer format":     {edit("cost.json", `"format":1`, `"format":9`), []string{"sidecar-newer cost.json cost"}},
	"a link": {all(remove("cost.json"), link("usage.json", "cost.json", os.Symlink)),
		[]string{"sidecar-unreadable cost.json cost"}},
	"a second name": {link("cost.json", "spare", os.Link),
		[]string{"sidecar-unreadable cost.json cost"}},
	"a pipe": {all(remove("cost.json"), func(t *testing.T, dir string) { check(t, syscall.Mkfifo(filepath.Join(dir, "cost.json"), 0o600)) }),
		[]string{"sidecar-unreadable cost.json cost"}},
	"a claim edited":        {edit(".freehold/claims/cost/fired", `doctor.test`, `doctor.Test`), []string{"claim-foreign .freehold/claims/cost/fired cost fired"}},
	"a claim torn":          {write(".freehold/claims/cost/fired", "{"), []string{"claim-invalid .freehold/claims/cost/fired cost fired"}},
	"a claim linked":        {link(".freehold/claims/cost/fired", "spare", os.Link), []string{"claim-unreadable .freehold/claims/cost/fired cost fired"}},
	"claims moved":          {link(".freehold/claims/cost", "away", os.Rename), []string{"claims-lost .freehold/claims/cost cost"}},
	"no place to set aside": {remove(".freehold/usage.aside"), []string{"aside-lost .freehold/usage.aside usage"}},
	"a patch by hand":       {write(".freehold/usage.aside/0.1.json", "{}"), []string{"patch-stuck .freehold/usage.aside usage"}},
	"no lock":               {remove(".freehold/cost.lock"), []string{"lock-lost .freehold/cost.lock cost"}},
	"a copied lock":         {all(write("fresh", ""), link("fresh", ".freehold/state.lock", os.Rename)), []string{"lock-lost .freehold/state.lock"}},
	"no manifest":           {remove(".freehold/manifest.json"), []string{"manifest-invalid .freehold/manifest.json"}},
	"a record by hand":      {write(".freehold/watchdog.lease.json", "{}"), []string{"lease-record .freehold/watchdog.lease.json watchdog"}},
	"others may write": {all(chmod("cost.json", 0o620), chmod(".freehold/claims", 0o770)),
		[]string{"others-write .freehold/claims", "others-write cost.json cost"}},
	"others may write in it": {chmod(".", 0o777), []string{"directory-unsafe ."}},
	"a manifest with names":  {link(".freehold/manifest.json", "spare", os.Link), []string{"manifest-invalid .freehold/manifest.json"}},
	"a twin": {all(write("Cost.json", "{}"), write(".Freehold/x", "")),
		[]string{"twin .Freehold", "twin Cost.json"}},
	"an old sidecar": {link("cost.json", "spent.json", os.Rename), []string{"sidecar-undeclared spent.json"}},
	"strangers inside": {all(write(".freehold/x", ""), write(".freehold/claims/nobody/x", "")),
		[]string{"unknown .freehold/claims/nobody", "unknown .freehold/x"}},
	"killed writers": {all(write(".cost.json77", "{"), write(".freehold/.manifest.json3", ""), write(".freehold/.watchdog.lease.json9", ""),
		write(".freehold/claims/cost/.fired.0123456789abc", ""), write(".freehold/usage.aside/.x.json.0123456789abc", ""),
		write(".freehold-new-0123456789abc/x", ""), write(".freehold/upgrade-0123456789abc/cost.json", "")),
		[]string{"litter .cost.json77", "litter .freehold/.manifest.json3", "litter .freehold/.watchdog.lease.json9", "litter .freehold/claims/cost/.fired.0123456789abc",
			"litter .freehold/upgrade-0123456789abc", "litter .freehold/usage.aside/.x.json.0123456789abc", "litter .freehold-new-0123456789abc"}},
	"a patch kept out": {all(write(".freehold/quarantine/usage.json.1", "{}"), write(".freehold/quarantine/usage.json.1.why", "it does not fit\n")),
		[]string{"patch-kept .freehold/quarantine/usage.json.1"}},
	"a link to a quarantine": {link("a", ".freehold/quarantine", os.Symlink), []string{"irregular .freehold/quarantine"}},
	"a state below":          {func(t *testing.T, dir string) { check(t, sidecar.Create(filepath.Join(dir, "a", "b"), declaration())) }, []string{"decoy a/b"}},
	"a state above": {func(t *testing.T, dir string) {
		check(t, os.Mkdir(filepath.Join(filepath.Dir(dir), ".freehold"), 0o700))
	},
		[]string{"decoy /.."}},
	"a copy beside": {func(t *testing.T, dir string) { check(t, os.CopyFS(dir+".bak", os.DirFS(dir))) }, []string{"copy /state.bak"}},
	"a copy below": {func(t *testing.T, dir string) {
		aside := filepath.Join(t.TempDir(), "copy")
		check(t, errors.Join(os.CopyFS(aside, os.DirFS(dir)), os.Rename(aside, filepath.Join(dir, "a"))))
	}, []string{"copy a"}},
	"a way that is open": {func(t *testing.T, dir string) { check(t, os.Chmod(filepath.Dir(dir), 0o777)) },
		[]string{"directory-unsafe ."}},
}

func TestEveryDamageIsFoundUnderItsCode(t *testing.T) {
	for name, d := range damages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := newState(t)
			d.do(t, dir)
			found := examine(t, dir, &doctor.Options{Around: true})
			got := brief(found)
			for i := range got {
				got[i] = strings.ReplaceAll(got[i], "/"+filepath.Base(filepath.Dir(dir)), "/..")
			}
			slices.Sort(got)
			slices.Sort(d.want)
			if diff := cmp.Diff(d.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			for _, f := range found.Findings {
				if f.Says == "" || f.Remedy == "" {
					t.Errorf("it does not say what is wrong and what to do: %+v", f)
				}
			}
		})
	}
}

// A member that nobody declares is kept by commits, and worth knowing.
func TestMembersThatAreNotDeclaredAreNamed(t *testing.T) {
	dir := newState(t)
	edit("cost.json", `"count":1`, `"count":1,"counts":9`)(t, dir)
	_, err := sidecar.Accept(t.Context(), dir, "cost", nil)
	check(t, err)
	r := examine(t, dir, nil)
	if !slices.ContainsFunc(r.Notes, func(n doctor.Note) bool {
		return n.About == "undeclared" && strings.Contains(n.Says, "cost has") && strings.Contains(n.Says, ": counts")
	}) || len(r.Findings) > 0 {
		t.Errorf("%+v", r)
	}
}

// A declaration that contradicts the manifest is a finding; one that adds is not.
func TestTheDeclarationIsComparedWithTheManifest(t *testing.T) {
	dir := newState(t)
	built := declaration()
	built.Owners["cost"].Fields["more"] = schema.Field{Type: schema.TypeInt}
	r := examine(t, dir, &doctor.Options{Declaration: built, Declared: "owners.yaml"})
	if found := brief(r); len(found) > 0 {
		t.Errorf("found %q", found)
	}
	built.Owners["cost"].Fields["note"] = schema.Field{Type: schema.TypeInt}
	r = examine(t, dir, &doctor.Options{Declaration: built, Declared: "owners.yaml"})
	if len(r.Findings) != 1 || r.Findings[0].Code != doctor.DeclarationContradicts || !strings.Contains(r.Findings[0].Remedy, "state upgrade --dry-run") {
		t.Errorf("found %+v", r.Findings)
	}
}

// Doctor looks and leaves everything as it was.
func TestDoctorWritesNothing(t *testing.T) {
	dir := newState(t)
	damages["killed writers"].do(t, dir)
	damages["another hand"].do(t, dir)
	before := listing(t, filepath.Dir(dir))
	examine(t, dir, &doctor.Options{Around: true})
	if diff := cmp.Diff(before, listing(t, filepath.Dir(dir))); diff != "" {
		t.Errorf("(-before +after)\n%s", diff)
	}
}

func listing(t *testing.T, dir string) (lines []string) {
	t.Helper()
	check(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		info, statErr := os.Lstat(path)
		if err == nil {
			err = statErr
		}
		if err == nil {
			st := info.Sys().(*syscall.Stat_t)
			lines = append(lines, fmt.Sprint(path, info.Mode(), info.Size(), info.ModTime().UnixNano(), st.Ino))
		}
		return err
	}))
	return lines
}

// Cases 87 and 129: what a legacy file has and the state has not, and what
// somebody still writes into it, is found for as long as the file is there.
func TestALegacyFileIsComparedForAsLongAsItIsThere(t *testing.T) {
	dir := newState(t)
	legacy := filepath.Join(filepath.Dir(dir), "old.json")
	write("old.json", `{"note":"from the old file","n":1}`)(t, filepath.Dir(dir))
	old := time.Now().Add(-time.Hour)
	check(t, os.Chtimes(legacy, old, old))
	o := &doctor.Options{Around: true, Legacy: legacy}
	if diff := cmp.Diff([]string{"legacy-open /old.json cost note"}, brief(examine(t, dir, o))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	adopted := sidecar.Op{Field: "note", Verb: sidecar.Set, Value: []byte(`"from the old file"`)}
	w, err := sidecar.Open(t.Context(), dir, nil, "cost", &sidecar.Options{Program: "adopt old.json"})
	check(t, err)
	_, err = w.Update(t.Context(), func(tx *sidecar.Tx) error { tx.Apply(adopted); return nil })
	check(t, err)
	w.Close()
	o.Legacy = "" // the state says what it was adopted from
	if found := brief(examine(t, dir, o)); len(found) > 0 {
		t.Errorf("found %q", found)
	}
	write("old.json", `{"note":"still written","n":1}`)(t, filepath.Dir(dir))
	check(t, os.Chtimes(legacy, old, old))
	if diff := cmp.Diff([]string{"legacy-moved /old.json cost note"}, brief(examine(t, dir, o))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	write("old.json", `{"note":7}`)(t, filepath.Dir(dir))
	check(t, os.Chtimes(legacy, old, old))
	if diff := cmp.Diff([]string{"legacy-bad /old.json"}, brief(examine(t, dir, o))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestEveryInstanceIsLookedAt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sessions")
	d := declaration()
	d.Instances.By = "session_id"
	for _, id := range []string{"a", "b", "C d"} {
		check(t, sidecar.CreateInstance(dir, id, d))
	}
	write("a/cost.json", "{")(t, dir)
	write(".freehold-gone-0123456789abc/x", "")(t, dir)
	check(t, os.Rename(filepath.Join(dir, "b"), filepath.Join(dir, "c")))
	r := examine(t, dir, &doctor.Options{Around: true, Stale: time.Hour, Clock: func() time.Time { return time.Now().Add(2 * time.Hour) }})
	if diff := cmp.Diff([]string{"instances-stale .", "litter .freehold-gone-0123456789abc", "sidecar-invalid a/cost.json cost", "misplaced c"}, brief(r)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, f := range r.Findings {
		if f.Code == doctor.InstancesStale && (!strings.HasPrefix(f.Says, "2 of 3 instances") || !strings.Contains(f.Remedy, "prune --older-than 1h")) {
			t.Errorf("%+v", f)
		}
		if f.Code == doctor.SidecarInvalid && f.Instance != "a" {
			t.Errorf("it does not name the instance: %+v", f)
		}
	}
}

func TestNoStateIsAnErrorAndNoFinding(t *testing.T) {
	if r, err := doctor.Examine(context.Background(), t.TempDir(), nil); err == nil {
		t.Errorf("no error, and %+v", r)
	}
}
