package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
)

// A program that holds a lease by itself is not disturbed.
func TestHandoffOfAProgramThatCannotBeAsked(t *testing.T) {
	dir := t.TempDir() + "/state"
	d := &schema.Declaration{State: "agent", Owners: map[string]schema.Owner{
		"watchdog": {Mode: schema.Exclusive, Fields: map[string]schema.Field{"reason": {Type: schema.TypeString}}},
	}}
	if err := sidecar.Create(dir, d); err != nil {
		t.Fatal(err)
	}
	w, err := sidecar.Open(t.Context(), dir, d, "watchdog", &sidecar.Options{Program: "own"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	got := call(t, "", "handoff", "watchdog", "--dir", dir, "--to", fmt.Sprint(os.Getppid()))
	want := fmt.Sprintf(`process %d, program "own", holds the lease and does not answer`, os.Getpid())
	if got.Status != exitBusy || got.Stdout != "" || !strings.Contains(got.Stderr, want) {
		t.Errorf("got %+v, want status %d and %q", got, exitBusy, want)
	}
	if _, err := w.Update(t.Context(), func(*sidecar.Tx) error { return nil }); err != nil {
		t.Errorf("the holder is disturbed: %v", err)
	}
}
