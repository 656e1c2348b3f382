package reader_test

import (
	"errors"
	"os"
	"testing"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/scratch/statedir"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// An instance that was removed is no instance with nothing in it.
func TestARemovedInstanceDoesNotReadAsEmpty(t *testing.T) {
	d := &schema.Declaration{State: "session", Instances: schema.Instances{By: "session_id"}, Owners: map[string]schema.Owner{
		"hook": {Fields: map[string]schema.Field{"turn": {Type: schema.TypeUint}}},
	}}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := sidecar.CreateInstance(dir, "A", d); err != nil {
		t.Fatal(err)
	}
	r, err := reader.OpenInstance(dir, "A", d)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.View(t.Context()); err != nil {
		t.Fatal(err)
	}
	held, err := statedir.OpenInstance(dir, "A")
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	s, err := held.LockExclusive()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Discard(); err != nil {
		t.Fatal(err)
	}
	if v, err := r.View(t.Context()); !errors.Is(err, store.Moved) {
		t.Errorf("got %v, %v", v, err)
	}
	if _, err := reader.OpenInstance(dir, "A", d); !errors.Is(err, store.NoState) {
		t.Errorf("got %v", err)
	}
}
