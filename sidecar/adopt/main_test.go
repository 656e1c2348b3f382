package adopt

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/errorstest"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/inject"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/role"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// roles are the programs that tests run as processes of their own.
var roles = role.Roles{"adopt": roleAdopt}

func TestMain(m *testing.M) {
	inject.Main()
	role.Main(m, roles)
}

// spec is short for the fields of a declaration.
type spec = map[string]schema.Field

var (
	number  = schema.Field{Type: schema.TypeInt}
	counter = schema.Field{Type: schema.TypeUint, Kind: schema.Counter}
	moment  = schema.Field{Type: schema.TypeTime}
	latest  = schema.Field{Type: schema.TypeTime, Kind: schema.Max}
	first   = schema.Field{Type: schema.TypeTime, Kind: schema.Min}
	text    = schema.Field{Type: schema.TypeString}
	truth   = schema.Field{Type: schema.TypeBool}
)

// flat is a state of plain fields; one of its owners is exclusive.
func flat() *schema.Declaration {
	return &schema.Declaration{State: "flat", Owners: map[string]schema.Owner{
		"cost":  {Fields: spec{"total": {Type: schema.TypeDecimal, Kind: schema.Counter, Legacy: "cost_total"}, "opened_at": moment}},
		"reset": {Fields: spec{"reset_at": latest, "cleared": truth, "labels": {Type: schema.TypeString, Kind: schema.Set}}},
		"watchdog": {Mode: schema.Exclusive, Fields: spec{
			"reason": {Type: schema.TypeEnum, Values: []string{"dead", "frozen"}, Legacy: "watchdog_reason"}, "ticks": number,
		}},
	}}
}

const flatFile = `{"version": 1, "cost_total": 12.50, "opened_at": "2026-08-10T08:02:11+0100", "reset_at": "2026-08-11T09:12:44.031Z",
"cleared": false, "labels": ["b", "a", "b"], "watchdog_reason": "frozen", "ticks": 3.0}`

// usage is a state whose one map has several owners, and is the legacy file.
func usage() *schema.Declaration {
	part := func(keys bool, record spec) schema.Owner {
		return schema.Owner{Fields: spec{"skills": {Kind: schema.Map, Keys: keys, Record: record, Legacy: schema.LegacyFile}}}
	}
	return &schema.Declaration{State: "usage", Owners: map[string]schema.Owner{
		"creator": part(true, spec{"created_by": {Type: schema.TypeEnum, Values: []string{"agent", "hub", "user"}}, "created_at": first}),
		"curator": part(false, spec{"state": {Type: schema.TypeEnum, Values: []string{"active", "archived", "stale"}}, "archived_at": moment}),
		"tool": part(false, spec{
			"use_count": counter, "view_count": counter, "patch_count": counter,
			"last_used_at": latest, "last_viewed_at": latest, "last_patched_at": latest,
		}),
		"user": part(false, spec{"pinned": truth}),
	}}
}

// newState makes a state directory.
func newState(t *testing.T, d *schema.Declaration) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	if err := sidecar.Create(dir, d); err != nil {
		t.Fatal(err)
	}
	Healthy(t, dir)
	return dir
}

// legacyFile writes a legacy file.
func legacyFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "runtime.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// planned returns the plan of a legacy file, which it writes.
func planned(t *testing.T, d *schema.Declaration, text string) *Plan {
	t.Helper()
	l, err := Parse(legacyFile(t, text), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	p, err := l.Plan(d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// apply applies a plan, which must succeed.
func apply(t *testing.T, p *Plan, dir string) *Report {
	t.Helper()
	r, err := p.Apply(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// commit writes as an owner, in one commit.
func commit(t *testing.T, dir, owner string, ops ...sidecar.Op) {
	t.Helper()
	w, err := sidecar.Open(t.Context(), dir, nil, owner, &sidecar.Options{Program: "hook", Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	_, err = w.Update(t.Context(), func(tx *sidecar.Tx) error {
		for _, op := range ops {
			tx.Apply(op)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// contents returns the fields of every sidecar, by owner.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, path := range paths {
		doc := sidecarOf(t, path)
		var b strings.Builder
		for _, name := range slices.Sorted(slices.Values(doc.Names())) {
			raw, _, _ := doc.Field(name)
			fmt.Fprintf(&b, "%s=%s\n", name, raw)
		}
		all[strings.TrimSuffix(filepath.Base(path), ".json")] = b.String()
	}
	return all
}

func sidecarOf(t *testing.T, path string) *document.Document {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := document.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// storedIn returns the value of a field in the sidecar of owner.
func storedIn(t *testing.T, dir, owner, field string) string {
	t.Helper()
	raw, _, _ := sidecarOf(t, filepath.Join(dir, owner+".json")).Field(field)
	return string(raw)
}

// golden compares got with the file name in testdata, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v: run go test ./sidecar/adopt -update", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// pretty returns v as JSON to be read.
func pretty(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw) + "\n"
}

// wantError is [errorstest.Wraps].
var wantError = errorstest.Wraps

// kept returns the kept items of a report, each as "pointer: state / file".
func kept(r *Report) map[string]string {
	all := map[string]string{}
	for _, o := range r.Owners {
		for _, k := range o.Kept {
			all[string(k.Pointer)] = string(k.State) + " / " + string(k.Value)
		}
	}
	return all
}

// imported returns the pointers of what a report imported, sorted.
func imported(r *Report) []string {
	all := map[string]bool{}
	for _, o := range r.Owners {
		for _, i := range o.Imported {
			all[string(i.Pointer)] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}
