package reader

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
)

// A spooling is a state with an owner, tool, that defers, and two
// of its processes: one that holds the lock when it is told to.
type spooling struct {
	testing.TB
	dir          string
	hook, worker *sidecar.Writer
}

func newSpooling(t testing.TB) *spooling {
	t.Helper()
	counter := schema.Field{Type: schema.TypeUint, Kind: schema.Counter}
	d := &schema.Declaration{State: "usage", Owners: map[string]schema.Owner{
		"tool": {Busy: schema.Busy{Wait: "1ms", Then: schema.Defer}, Fields: map[string]schema.Field{
			"n":      counter,
			"small":  {Type: schema.TypeInt, Kind: schema.Counter},
			"skills": {Kind: schema.Map, Record: map[string]schema.Field{"uses": counter}},
		}},
		"maker": {Fields: map[string]schema.Field{
			"skills": {Kind: schema.Map, Keys: true, Record: map[string]schema.Field{"by": {Type: schema.TypeString}}},
		}},
	}}
	s := &spooling{TB: t, dir: filepath.Join(t.TempDir(), "state")}
	open := func(owner, program string) *sidecar.Writer {
		w, err := sidecar.Open(context.Background(), s.dir, d, owner, &sidecar.Options{Create: true, Program: program})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { w.Close() })
		return w
	}
	s.hook, s.worker = open("tool", "hook"), open("tool", "worker")
	maker := open("maker", "maker")
	s.commit(maker, sidecar.Op{Field: "skills", Verb: schema.VerbInsert, Key: "deploy"})
	return s
}

func (s *spooling) commit(w *sidecar.Writer, ops ...sidecar.Op) sidecar.Commit {
	s.Helper()
	c, err := w.Update(context.Background(), func(tx *sidecar.Tx) error {
		for _, op := range ops {
			tx.Apply(op)
		}
		return nil
	})
	if err != nil {
		s.Fatal(err)
	}
	return c
}

// pending sets a patch pending while the worker holds the lock.
func (s *spooling) pending(ops ...sidecar.Op) (id string) {
	s.Helper()
	s.hold(func() { id = s.busy(ops...) })
	return id
}

// hold runs fn while the worker holds the lock.
func (s *spooling) hold(fn func()) {
	s.Helper()
	_, err := s.worker.Update(context.Background(), func(*sidecar.Tx) error {
		fn()
		return nil
	})
	if err != nil {
		s.Fatal(err)
	}
}

// busy sets a patch pending.
func (s *spooling) busy(ops ...sidecar.Op) (id string) {
	s.Helper()
	c := s.commit(s.hook, ops...)
	if c.Outcome != sidecar.Deferred {
		s.Fatalf("the commit is %+v", c)
	}
	return c.Version.Nonce
}

func add(field, n string) sidecar.Op {
	return sidecar.Op{Field: field, Verb: schema.VerbAdd, Value: []byte(n)}
}

func use(key string) sidecar.Op {
	return sidecar.Op{Field: "skills", Verb: schema.VerbAdd, Key: key, Member: "uses", Value: []byte("1")}
}

func (s *spooling) reader() *Reader {
	s.Helper()
	r, err := Open(s.dir)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { r.Close() })
	return r
}

func (s *spooling) view(r *Reader) *View {
	s.Helper()
	v, err := r.View(context.Background())
	if err != nil {
		s.Fatal(err)
	}
	return v
}

func raw(v *View, field string) string {
	text, err := v.Field(field).Raw()
	if err != nil {
		return err.Error()
	}
	return string(text)
}
