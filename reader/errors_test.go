package reader_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/errorstest"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/scratch/document"
	"github.com/freehold-dev/freehold/sidecar/scratch/statedir"
)

var said = errorstest.Golden{
	Update: update,
	Also:   []string{"*errors.txt"},
	Wraps:  []string{"../sidecar/store", "../sidecar/internal/statedir", "../sidecar/internal/document", "../sidecar/internal/dir", "../sidecar/internal/claims", "../sidecar/internal/status"},
	Unhelped: map[string]string{
		"unset: …": "that a field is unset is an answer; what to make of it the caller knows",
	},
}

// TestErrorsSayWhatToDo provokes what the tables of the other tests do not.
func TestErrorsSayWhatToDo(t *testing.T) {
	s := example(t)
	r, err := reader.Open(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	v := view(t, r)
	raw := func(e reader.Entry) error {
		_, err := e.Raw()
		return err
	}
	said.Same(t, "the zero entry", raw(reader.Entry{}))
	said.Same(t, "a hostile field", raw(v.Field("\x1b[2J\u202e")))
	said.Same(t, "a key of no map", raw(v.Field("turn").Key("\x1b[2J")))
	said.Same(t, "no such member", raw(v.Field("skills").Key("deploy").Member("use_cuont")))
	said.Same(t, "unset: no such key", raw(v.Field("skills").Key("\x1b[2J")))
	_, err = v.Field("turn").Keys()
	said.Same(t, "keys of no map", err)

	_, err = v.Observe("skills")
	said.Same(t, "what cannot be observed", err)

	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	_, err = r.View(ctx)
	said.Same(t, "a view that is given up", err, s.dir, "STATE")
	r.Close()
	_, err = r.View(t.Context())
	said.Same(t, "a closed reader", err, s.dir, "STATE")

	latched := newState(t, &schema.Declaration{State: "latches", Owners: map[string]schema.Owner{"hook": {Fields: map[string]schema.Field{"fired": {Type: schema.TypeTime, Kind: schema.Once}}}}})
	said.Same(t, "unset: nobody has claimed it", raw(view(t, latched.open()).Field("fired")))

	spooled := filepath.Join(t.TempDir(), "state")
	d := &schema.Declaration{State: "tools", Owners: map[string]schema.Owner{
		"tool": {Busy: schema.Busy{Then: schema.Defer}, Fields: map[string]schema.Field{"n": {Type: schema.TypeUint, Kind: schema.Counter}}},
	}}
	err = errors.Join(sidecar.Create(spooled, d), os.Symlink("nowhere", filepath.Join(spooled, ".freehold", "tool.pending", "x.1.json")))
	if err != nil {
		t.Fatal(err)
	}
	tools, err := reader.Open(spooled)
	if err != nil {
		t.Fatal(err)
	}
	defer tools.Close()
	owner, _ := view(t, tools).Owner("tool")
	said.Same(t, "a link among the pending patches", owner.PendingErr, spooled, "STATE")

	contradicts := usage()
	contradicts.Owners["tool"].Fields["turn"] = schema.Field{Type: schema.TypeString}
	_, err = reader.OpenAs(s.dir, contradicts)
	said.Same(t, "another declaration", err, s.dir, "STATE")
}

func TestErrorsSayWhatToDoOfRegression(t *testing.T) {
	d := depending()
	at := d.Owners["reset"].Fields["at"]
	at.Kind = schema.Event
	d.Owners["reset"].Fields["at"] = at
	s := newState(t, d)
	statetest.Damaged(s.dir, "sidecar-regressed")
	r := s.open()
	s.commit("reset", "cleared", "true")
	_, err := view(t, r).Field("at").Raw()
	said.Same(t, "an event that was never begun", err)
	s.text("reset")
	doc := s.docs["reset"]
	by := document.Provenance{Version: doc.Version, At: now, Program: "x", PID: 1}
	doc.Begin("at", "0000000000001", by)
	s.rewrite("reset")
	_, err = view(t, r).Field("at").Raw()
	said.Same(t, "an event that was never done", err)
	s.observed(document.Observation{"at": {Epoch: 1786439564031000, Revision: 99, Nonce: "000000000000v"}})
	_, err = view(t, r).Field("at").Raw()
	said.Same(t, "an older copy", err, s.dir, "STATE", doc.Version.Nonce, "NONCE")
	if err := os.Remove(s.path("reset")); err != nil {
		t.Fatal(err)
	}
	_, err = view(t, r).Field("at").Raw()
	said.Same(t, "a sidecar that is gone", err, s.dir, "STATE")
}

// While an upgrade is not finished, nothing else helps against a damaged sidecar:
// it may stand beside the state's yet.
func TestErrorsSayWhatToDoDuringAnUpgrade(t *testing.T) {
	s := newState(t, depending())
	s.commit("reset", "cleared", "true")
	statetest.Damaged(s.dir, "sidecar-foreign", "sidecar-invalid", "sidecar-unreadable", "upgrade-unfinished")
	dir, err := statedir.Open(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	m, err := dir.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	m.Pending = &schema.Pending{ID: "000000000000v", Sidecars: []string{"reset"}}
	text, err := os.ReadFile(s.path("reset"))
	if err == nil {
		err = errors.Join(dir.Staged(m.Pending.ID).Write(map[string][]byte{"reset.json": text}), dir.WriteManifest(m))
	}
	if err != nil {
		t.Fatal(err)
	}
	staged := dir.Staged(m.Pending.ID).Path("reset.json")
	for how, damage := range map[string]func() error{
		"foreign": func() error {
			return os.WriteFile(staged, bytes.Replace(text, []byte("true"), []byte("false"), 1), 0o600)
		},
		"too large": func() error { return os.Truncate(staged, 2<<20) },
		"a link":    func() error { return errors.Join(os.Remove(staged), os.Symlink("nowhere", staged)) },
	} {
		os.Remove(staged)
		if err := errors.Join(os.WriteFile(staged, text, 0o600), damage()); err != nil {
			t.Fatal(err)
		}
		o, _ := view(t, s.open()).Owner("reset")
		said.Same(t, "a new sidecar, during an upgrade: "+how, o.Err, s.dir, "STATE")
	}
}

// TestErrorsAreAllTold fails for an error that no test of the package provokes.
func TestErrorsAreAllTold(t *testing.T) { said.Complete(t) }
