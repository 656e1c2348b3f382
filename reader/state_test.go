package reader_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/scratch/document"
	"github.com/freehold-dev/freehold/sidecar/scratch/statedir"
	"github.com/freehold-dev/freehold/sidecar/store"
)

var now = time.Date(2026, 8, 11, 9, 12, 44, 31_000_000, time.UTC)

// A state is a state directory whose sidecars a test writes by itself, so that
// it can write what no Writer would.
type state struct {
	testing.TB
	dir  string
	id   string
	docs map[string]*document.Document
}

func declaration() *schema.Declaration {
	return &schema.Declaration{State: "runtime", Owners: map[string]schema.Owner{
		"cost": {Fields: map[string]schema.Field{
			"turns":     {Type: schema.TypeUint},
			"total_usd": {Type: schema.TypeDecimal, Kind: schema.Counter},
		}},
		"reset": {Fields: map[string]schema.Field{
			"last_reset_at": {Type: schema.TypeTime, Kind: schema.Max},
			"cleared":       {Type: schema.TypeBool},
		}},
		"watchdog": {Mode: schema.Exclusive, Fields: map[string]schema.Field{
			"reason": {Type: schema.TypeEnum, Values: []string{"dead", "frozen"}},
			"note":   {Type: schema.TypeString},
			"load":   {Type: schema.TypeFloat},
		}},
	}}
}

func newState(tb testing.TB, d *schema.Declaration) *state {
	tb.Helper()
	s := &state{tb, filepath.Join(tb.TempDir(), "state"), "", map[string]*document.Document{}}
	if err := store.Create(s.dir, d); err != nil {
		tb.Fatal(err)
	}
	s.id = s.manifest().StateID
	statetest.Healthy(tb, s.dir)
	return s
}

func (s *state) manifest() *schema.Manifest {
	s.Helper()
	dir, err := store.Open(s.dir)
	if err != nil {
		s.Fatal(err)
	}
	defer dir.Close()
	m, err := dir.Manifest()
	if err != nil {
		s.Fatal(err)
	}
	return m
}

func (s *state) path(owner string) string { return filepath.Join(s.dir, owner+".json") }

// text returns the next version of owner's sidecar with fields set to JSON, or
// cleared where it is empty.
func (s *state) text(owner string, fields ...string) []byte {
	s.Helper()
	d := s.docs[owner]
	if d == nil {
		d = document.New(owner, s.id)
		s.docs[owner] = d
	}
	v := document.Version{Epoch: 1786439564031000, Revision: d.Version.Revision + 1, Nonce: statedir.NewNonce()}
	d.Commit(v, now, document.Writer{Program: owner + "-hook", Identity: store.Identity{PID: 4711, Nonce: "n"}})
	by := document.Provenance{Version: v, At: now, Program: owner + "-hook", PID: 4711}
	for i := 0; i < len(fields); i += 2 {
		if fields[i+1] == "" {
			d.Clear(fields[i], by)
		} else {
			d.Set(fields[i], []byte(fields[i+1]), by)
		}
	}
	text, err := d.Encode()
	if err != nil {
		s.Fatal(err)
	}
	return text
}

// commit replaces owner's sidecar by its next version.
func (s *state) commit(owner string, fields ...string) {
	s.Helper()
	s.put(owner, s.text(owner, fields...))
}

// put replaces owner's sidecar by text.
func (s *state) put(owner string, text []byte) {
	s.Helper()
	fresh := s.path(owner) + ".fresh"
	if err := os.WriteFile(fresh, text, 0o600); err != nil {
		s.Fatal(err)
	}
	if err := os.Rename(fresh, s.path(owner)); err != nil {
		s.Fatal(err)
	}
}

func (s *state) open() *reader.Reader {
	s.Helper()
	r, err := reader.Open(s.dir)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { r.Close() })
	return r
}

func view(tb testing.TB, r *reader.Reader) *reader.View {
	tb.Helper()
	v, err := r.View(context.Background())
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

func ownerNames(v *reader.View) string {
	var names []string
	for _, o := range v.Owners() {
		names = append(names, o.Name)
	}
	return strings.Join(names, " ")
}
