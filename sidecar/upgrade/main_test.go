package upgrade

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/errorstest"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/inject"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/role"
)

// roles are the programs that tests run as processes of their own.
var roles = role.Roles{"upgrade": roleUpgrade, "commit": roleCommit}

func TestMain(m *testing.M) {
	inject.Main()
	role.Main(m, roles)
}

// roleUpgrade brings a state up to the younger declaration, and counts the
// system calls of that.
func roleUpgrade(args []string) error {
	inject.Begin()
	defer inject.End()
	_, err := Run(context.Background(), args[0], younger(), nil)
	return err
}

// roleCommit adds 1 to turns as a program of the older build does, until its
// standard input ends or it is refused.
func roleCommit(args []string) error {
	w, err := sidecar.Open(context.Background(), args[0], older(), "cost", &sidecar.Options{Wait: time.Minute})
	if err != nil {
		return err
	}
	defer w.Close()
	for {
		_, err := w.Update(context.Background(), func(tx *sidecar.Tx) error {
			sidecar.CounterOf(tx, "turns", schema.Uint).Add(1)
			return nil
		})
		if err != nil {
			return err
		}
		fmt.Println("committed")
	}
}

// spec is short for the fields of a declaration.
type spec = map[string]schema.Field

// older and younger are declarations of one state. Between them is every change of
// an upgrade: fields go, or get another name, type or owner; an owner goes and one
// comes; a map's member moves, and its keys get another owner; observed fields go
// and move, an open event among them.
func older() *schema.Declaration {
	return &schema.Declaration{State: "agent", Owners: map[string]schema.Owner{
		"cost": {Fields: spec{
			"turns": {Type: schema.TypeUint, Kind: schema.Counter}, "note": {Type: schema.TypeString}, "stamp": {Type: schema.TypeTime},
			"target": {Type: schema.TypeRecord, Fields: spec{"host": {Type: schema.TypeString}, "port": {Type: schema.TypeUint}}},
		}},
		"reset": {Fields: spec{"cleared": {Type: schema.TypeBool}, "pause": {Type: schema.TypeTime, Kind: schema.Event}}},
		"usage": {Fields: spec{"tokens": needing(schema.TypeUint, "cleared", "note"), "spent": needing(schema.TypeUint, "pause")}},
		"tool": {Fields: spec{"skills": {Kind: schema.Map, Keys: true, Record: spec{
			"uses": {Type: schema.TypeUint, Kind: schema.Counter}, "pinned": {Type: schema.TypeBool},
		}}}},
		"curator":  {Fields: spec{"skills": {Kind: schema.Map, Record: spec{"state": {Type: schema.TypeString}}}}},
		"watchdog": {Mode: schema.Exclusive, Fields: spec{"beats": {Type: schema.TypeUint}}},
	}}
}

func younger() *schema.Declaration {
	return &schema.Declaration{State: "agent", Owners: map[string]schema.Owner{
		"cost": {Fields: spec{
			"count":  {Type: schema.TypeString, Was: "turns"},
			"target": {Type: schema.TypeRecord, Fields: spec{"name": {Type: schema.TypeString, Was: "host"}}},
		}},
		"clock": {Fields: spec{
			"stamp": {Type: schema.TypeTime}, "cleared": {Type: schema.TypeBool}, "pause": {Type: schema.TypeTime, Kind: schema.Event},
		}},
		"usage":    {Fields: spec{"tokens": needing(schema.TypeUint, "cleared"), "spent": needing(schema.TypeUint, "pause")}},
		"tool":     {Fields: spec{"skills": {Kind: schema.Map, Record: spec{"uses": {Type: schema.TypeUint, Kind: schema.Counter}}}}},
		"curator":  {Fields: spec{"skills": {Kind: schema.Map, Keys: true, Record: spec{"state": {Type: schema.TypeString}, "pinned": {Type: schema.TypeBool}}}}},
		"watchdog": {Mode: schema.Exclusive, Fields: spec{"beats": {Type: schema.TypeDecimal}}},
	}}
}

// The views of a full state by the two declarations.
var (
	oldView = view{
		"cleared": "true", "note": `"kept"`, "stamp": `"2026-08-11T09:12:44Z"`, "target": `{"host":"h","port":80}`, "turns": "7", "beats": "3",
		"skills": `{"a":{"pinned":true,"state":"new","uses":2},"b":{}}`,
		"tokens": "5", "tokens is": "current", "spent": "6", "spent is": "begun",
	}
	newView = view{
		"cleared": "true", "stamp": `"2026-08-11T09:12:44Z"`, "target": `{"name":"h"}`, "count": `"7"`, "beats": `"3"`,
		"skills": `{"a":{"pinned":true,"state":"new","uses":2},"b":{}}`,
		"tokens": "5", "tokens is": "current", "spent": "6", "spent is": "begun",
	}
)

// fullState makes a state in which everything has a value.
func fullState(t testing.TB, dir string) {
	t.Helper()
	if err := sidecar.Create(dir, older()); err != nil {
		t.Fatal(err)
	}
	insert := func(key string) sidecar.Op { return sidecar.Op{Field: "skills", Key: key, Verb: schema.VerbInsert} }
	commit(t, dir, "cost", set("note", `"kept"`), set("stamp", `"2026-08-11T09:12:44Z"`), set("target", `{"host":"h","port":80}`),
		sidecar.Op{Field: "turns", Verb: schema.VerbAdd, Value: []byte("7")})
	commit(t, dir, "reset", set("cleared", "true"))
	begin(t, dir, "reset", "pause")
	observing(t, dir, "usage", "tokens", "5")
	observing(t, dir, "usage", "spent", "6")
	commit(t, dir, "watchdog", set("beats", "3"))
	commit(t, dir, "tool", insert("a"), insert("b"))
	commit(t, dir, "tool", sidecar.Op{Field: "skills", Key: "a", Member: "uses", Verb: schema.VerbAdd, Value: []byte("2")},
		sidecar.Op{Field: "skills", Key: "a", Member: "pinned", Verb: schema.VerbSet, Value: []byte("true")})
	commit(t, dir, "curator", sidecar.Op{Field: "skills", Key: "a", Member: "state", Verb: schema.VerbSet, Value: []byte(`"new"`)})
}

func newState(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	fullState(t, dir)
	statetest.Healthy(t, dir)
	return dir
}

// create makes a state, which is healthy when the test ends.
func create(t testing.TB, d *schema.Declaration) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "state")
	if err := sidecar.Create(dir, d); err != nil {
		t.Fatal(err)
	}
	statetest.Healthy(t, dir)
	return dir
}

// set returns the operation that sets a field.
func set(field, raw string) sidecar.Op {
	return sidecar.Op{Field: field, Verb: schema.VerbSet, Value: []byte(raw)}
}

// commit writes as an owner, in one commit.
func commit(t testing.TB, dir, owner string, ops ...sidecar.Op) {
	t.Helper()
	if err := tryCommit(dir, owner, ops...); err != nil {
		t.Fatal(err)
	}
}

func tryCommit(dir, owner string, ops ...sidecar.Op) error {
	w, err := sidecar.Open(context.Background(), dir, nil, owner, &sidecar.Options{Program: "hook", Wait: time.Minute})
	if err != nil {
		return err
	}
	defer w.Close()
	_, err = w.Update(context.Background(), func(tx *sidecar.Tx) error {
		for _, op := range ops {
			tx.Apply(op)
		}
		return nil
	})
	return err
}

// begin begins an event, and leaves it at that.
func begin(t testing.TB, dir, owner, field string) {
	t.Helper()
	w, err := sidecar.Open(context.Background(), dir, nil, owner, &sidecar.Options{Program: "hook", Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := sidecar.EventOf(w, field).Begin(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// A view holds the values of a state's fields, or their errors, and the freshness
// of dependent ones.
type view map[string]string

// viewed reads a state once.
func viewed(t testing.TB, dir string) view {
	t.Helper()
	r, err := reader.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	return viewOf(t, r)
}

func viewOf(t testing.TB, r *reader.Reader) view {
	t.Helper()
	v, err := r.View(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	all := view{}
	for _, name := range v.Declaration().OwnerNames() {
		for field, f := range v.Declaration().Owners[name].Fields {
			if f.Dependent() {
				all[field+" is"] = string(v.Field(field).Freshness().Reason)
			}
			raw, err := v.Field(field).Raw()
			switch {
			case errors.Is(err, reader.ErrUnset):
			case err != nil:
				all[field] = err.Error()
			default:
				all[field] = string(raw)
			}
		}
	}
	return all
}

// openDir opens a state's directory until the test ends.
func openDir(t testing.TB, dir string) (*statedir.Dir, *schema.Manifest) {
	t.Helper()
	d, err := statedir.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	m, err := d.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	return d, m
}

// stored returns an owner's sidecar.
func stored(t testing.TB, dir, owner string) *document.Document {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, statedir.Sidecar(owner)))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := document.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// quarantined returns the bytes of the files in the quarantine, by sidecar.
func quarantined(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for name, text := range texts(t, filepath.Join(dir, ".freehold", "quarantine", "*")) {
		all[name[:strings.LastIndexByte(name, '.')]] = text
	}
	return all
}

// sidecars returns the bytes of every sidecar.
func sidecars(t testing.TB, dir string) map[string]string {
	t.Helper()
	return texts(t, filepath.Join(dir, "*.json"))
}

// texts returns the bytes of the plain files that match pattern, by name.
func texts(t testing.TB, pattern string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(file)] = string(text)
	}
	return all
}

func upgraded(t testing.TB, dir string, d *schema.Declaration) *Report {
	t.Helper()
	report, err := Run(context.Background(), dir, d, nil)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// wantError is [errorstest.Wraps].
var wantError = errorstest.Wraps
