package doctor_test

import (
	"context"
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
	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/scratch/statedir"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/freehold-dev/freehold/sidecar/upgrade"
)

func declaration() *schema.Declaration {
	return &schema.Declaration{State: "agent", Owners: map[string]schema.Owner{
		"cost": {Fields: map[string]schema.Field{
			"count":  {Type: schema.TypeUint, Kind: schema.Counter, Legacy: "n"},
			"note":   {Type: schema.TypeString},
			"fired":  {Type: schema.TypeTime, Kind: schema.Once},
			"tokens": {Type: schema.TypeUint, DependsOn: []string{"phase"}},
		}},
		"reset":    {Fields: map[string]schema.Field{"phase": {Type: schema.TypeString}}},
		"usage":    {Busy: schema.Busy{Then: schema.Defer}, Fields: map[string]schema.Field{"turns": {Type: schema.TypeUint, Kind: schema.Counter}}},
		"watchdog": {Mode: schema.Exclusive, Fields: map[string]schema.Field{"reason": {Type: schema.TypeString}}},
	}}
}

// newState returns a state in which every owner has written.
func newState(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	check(t, sidecar.Create(dir, declaration()))
	for owner, op := range map[string]sidecar.Op{
		"cost":     {Field: "count", Verb: schema.VerbAdd, Value: []byte("1")},
		"usage":    {Field: "turns", Verb: schema.VerbAdd, Value: []byte("1")},
		"watchdog": {Field: "reason", Verb: schema.VerbSet, Value: []byte(`"dead"`)},
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
	for _, f := range r.Findings {
		produced.Store(f.Code, true)
	}
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

func TestEveryDamageIsFoundAndCured(t *testing.T) {
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
				if f.Says == "" || f.Remedy.IsZero() {
					t.Errorf("it has no fault or no remedy: %+v", f)
				}
			}
			cure(t, dir, &doctor.Options{Around: true})
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
	file, err := filepath.Abs("owners.yaml") // the remedy can be run from anywhere
	check(t, err)
	if len(r.Findings) != 1 || r.Findings[0].Code != "declaration-contradicts" || !strings.Contains(r.Findings[0].Remedy.String(), "state upgrade --owners "+file) {
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
	cure(t, dir, o)
	adopted := sidecar.Op{Field: "note", Verb: schema.VerbSet, Value: []byte(`"from the old file"`)}
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
	deferUpdate(`{"field":"turns","op":"add","value":2}`)(t, filepath.Join(dir, "a"))
	check(t, os.CopyFS(filepath.Join(dir, "copy"), os.DirFS(filepath.Join(dir, "a"))))
	write(".freehold-gone-0123456789abc/x", "")(t, dir)
	check(t, os.Rename(filepath.Join(dir, "b"), filepath.Join(dir, "c")))
	check(t, sidecar.Create(filepath.Join(dir, "plain"), declaration()))
	r := examine(t, dir, &doctor.Options{Around: true, Stale: time.Hour, Clock: func() time.Time { return time.Now().Add(2 * time.Hour) }})
	if diff := cmp.Diff([]string{"instances-stale .", "litter .freehold-gone-0123456789abc", "pending-waiting a/.freehold/usage.pending usage", "sidecar-invalid a/cost.json cost", "misplaced c", "misplaced copy", "instance-odd plain"}, brief(r)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, f := range r.Findings {
		if f.Code == "instances-stale" && (!strings.HasSuffix(f.Says, ": 2 of 5 instances") || !strings.Contains(f.Remedy.String(), "prune --older-than 1h")) {
			t.Errorf("%+v", f)
		}
		if (f.Code == "sidecar-invalid" || f.Code == "pending-waiting") && f.Instance != "a" {
			t.Errorf("it does not name the instance: %+v", f)
		}
	}
	cure(t, dir, &doctor.Options{Around: true})
}

// What an upgrade leaves of an owner that it removes is Freehold's own still.
func TestAnOwnerThatAnUpgradeRemovedLeavesNoFindings(t *testing.T) {
	dir := newState(t)
	d := declaration()
	delete(d.Owners, "usage")
	delete(d.Owners, "watchdog")
	delete(d.Owners["cost"].Fields, "fired")
	_, err := upgrade.Run(t.Context(), dir, d, nil)
	check(t, err)
	if found := brief(examine(t, dir, &doctor.Options{Around: true, Declaration: d, Declared: "owners.yaml"})); len(found) > 0 {
		t.Errorf("found %q", found)
	}
}

func TestNoStateIsAnErrorAndNoFinding(t *testing.T) {
	if r, err := doctor.Examine(context.Background(), t.TempDir(), nil); err == nil {
		t.Errorf("no error, and %+v", r)
	}
}

// Who mends the only finding may meet others behind it.
func TestItSaysWhereItLookedNoFurther(t *testing.T) {
	dir := newState(t)
	check(t, os.Chmod(dir, 0o777))
	r := examine(t, dir, nil)
	if !slices.ContainsFunc(r.Notes, func(n doctor.Note) bool { return n.About == "unexamined" && strings.Contains(n.Says, dir) }) {
		t.Errorf("the notes are %+v", r.Notes)
	}
	check(t, os.Chmod(dir, 0o700))
}

// What is counted reads well of one thing as of many.
func TestOnePatchPendingIsNotSpokenOfAsMany(t *testing.T) {
	dir := newState(t)
	deferUpdate(`{"field":"turns","op":"add","value":2}`)(t, dir)
	for _, n := range examine(t, dir, nil).Notes {
		if n.About == "pending" {
			if want := fmt.Sprintf("usage has 1 of at most %d pending patches, with ", sidecar.MaxPending); !strings.HasPrefix(n.Says, want) {
				t.Errorf("the note says %q, want %q at its start", n.Says, want)
			}
			return
		}
	}
	t.Error("no note speaks of pending patches")
}

// A patch waits for nobody's fault while it is fresh, or while somebody who would
// fold it is at work.
func TestPatchesThatSomebodyMayFoldAreNoFinding(t *testing.T) {
	dir := newState(t)
	deferUpdate(`{"field":"turns","op":"add","value":2}`)(t, dir)
	if found := brief(examine(t, dir, nil)); len(found) > 0 {
		t.Errorf("a fresh patch: %v", found)
	}
	aged(t, dir)
	d, err := statedir.Open(dir)
	check(t, err)
	defer d.Close()
	m, err := d.Manifest()
	check(t, err)
	name := store.FilesOf("usage").Lock
	l, err := d.OpenLock(m, name)
	check(t, err)
	defer l.Close()
	if free, err := l.Try(); !free || err != nil {
		t.Fatal(free, err)
	}
	if found := brief(examine(t, dir, nil)); !slices.Equal(found, []string{"lock-held .freehold/usage.lock usage"}) {
		t.Errorf("an old patch, and the lock held: %v", found)
	}
	l.Release()
	if found := brief(examine(t, dir, nil)); len(found) != 1 {
		t.Errorf("an old patch, and the lock free: %v", found)
	}
	statetest.CheckUp(t, dir) // a test that took long has done nothing wrong
}

// Two looks that find one fault make one finding.
func TestAReportHasEachFindingOnce(t *testing.T) {
	a := doctor.Finding{Code: "litter", Path: "/s/x", Says: "left", Remedy: store.By("prune")}
	b, c := a, a
	b.Instance, c.Says = "i", "left behind"
	r := doctor.Report{Findings: []doctor.Finding{c, a, b, a, c}}
	r.Sort()
	if diff := cmp.Diff([]doctor.Finding{a, c, b}, r.Findings); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
