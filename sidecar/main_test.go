package sidecar

import (
	"context"
	"fmt"
	"github.com/freehold-dev/freehold/sidecar/scratch"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/errorstest"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/inject"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/role"
)

// roleVar names the part that a re-executed test binary plays.
const roleVar = role.Variable

func TestMain(m *testing.M) {
	inject.Main()
	role.Main(m, roles)
}

// roles are the programs that tests run as processes of their own.
var roles = role.Roles{
	"add":   roleAdd,
	"hold":  roleHold,
	"use":   roleUse,
	"begin": roleBegin,
}

// roleProcess is [role.Process].
var roleProcess = role.Process

// roleAdd adds 1 to cost's turns, n times, one commit each.
func roleAdd(args []string) error {
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	w, err := Open(context.Background(), args[0], declaration(), "cost", &Options{Wait: time.Minute})
	if err != nil {
		return err
	}
	for range n {
		if _, err := w.Update(context.Background(), addTurns(1)); err != nil {
			return err
		}
	}
	return w.Close()
}

// roleHold opens an owner, takes its lock within an Update, says so and stays
// until its standard input ends.
func roleHold(args []string) error {
	w, err := Open(context.Background(), args[0], nil, args[1], nil)
	if err != nil {
		return err
	}
	_, err = w.Update(context.Background(), func(*Tx) error {
		fmt.Println("held")
		os.Stdin.Read(make([]byte, 1))
		return nil
	})
	return err
}

func declaration() *schema.Declaration {
	return &schema.Declaration{State: "agent", Owners: map[string]schema.Owner{
		"cost": {Fields: map[string]schema.Field{
			"turns":    {Type: schema.TypeUint, Kind: schema.Counter},
			"note":     {Type: schema.TypeString},
			"ratio":    {Type: schema.TypeFloat},
			"total":    {Type: schema.TypeDecimal, Kind: schema.Counter},
			"peak":     {Type: schema.TypeInt, Kind: schema.Max},
			"earliest": {Type: schema.TypeTime, Kind: schema.Min},
		}},
		"reset": {Durability: schema.Process, Fields: map[string]schema.Field{"cleared": {Type: schema.TypeBool}}},
		"watchdog": {Mode: schema.Exclusive, Fields: map[string]schema.Field{
			"reason": {Type: schema.TypeEnum, Values: []string{"dead", "frozen"}},
			"beats":  {Type: schema.TypeUint, Kind: schema.Counter},
		}},
	}}
}

// newState makes a state directory, which is looked over when the test ends.
func newState(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	if err := Create(dir, declaration()); err != nil {
		t.Fatal(err)
	}
	Healthy(t, dir)
	// Many tests kill the holder of a lease. Its record names the dead one
	// until somebody takes the lease again, and what it was writing stays until
	// the next commit; the tests of that look for it themselves.
	Damaged(dir, "lease-gone", "lease-stopped", "litter")
	return dir
}

// open opens an owner in dir until the test ends.
func openOwner(t *testing.T, dir, owner string, o *Options) *Writer {
	t.Helper()
	w, err := Open(t.Context(), dir, declaration(), owner, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func update(t *testing.T, w *Writer, fn func(*Tx) error) Commit {
	t.Helper()
	c, err := w.Update(t.Context(), fn)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func addTurns(n uint64) func(*Tx) error {
	return func(tx *Tx) error {
		CounterOf(tx, "turns", schema.Uint).Add(n)
		return nil
	}
}

func setNote(text string) func(*Tx) error {
	return func(tx *Tx) error {
		ValueOf(tx, "note", schema.String).Set(text)
		return nil
	}
}

func setCleared(tx *Tx) error {
	tx.Apply(Op{Field: "cleared", Verb: schema.VerbSet, Value: []byte("true")})
	return nil
}

// stored returns the stored text of cost's field, or "unset".
func stored(t *testing.T, dir, field string) string {
	t.Helper()
	w, err := Open(t.Context(), dir, nil, "cost", &Options{Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	text := "unset"
	_, err = w.Update(t.Context(), func(tx *Tx) error {
		if raw, ok := tx.Get(field); ok {
			text = string(raw)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func sidecarPath(dir, owner string) string { return filepath.Join(dir, statedir.Sidecar(owner)) }

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// wantError is [errorstest.Wraps].
var wantError = errorstest.Wraps

func same(a, b Commit) bool { return reflect.DeepEqual(a, b) }

// unwitness takes the versions and claims out of the lock files of a state, so
// that other defences can be seen.
func unwitness(t testing.TB, dir string) {
	t.Helper()
	if err := scratch.Unwitness(dir); err != nil {
		t.Fatal(err)
	}
}
