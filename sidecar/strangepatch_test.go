package sidecar

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/pending"
)

// What a newer release has deferred, and what another hand has put there,
// stays where it is, and stops nothing.
func TestUnknownPatchesStay(t *testing.T) {
	dir, _ := newSetters(t)
	var told []error
	w := openSetter(t, dir, "tool", &Options{Notice: func(err error) { told = append(told, err) }})
	put := func(p *pending.Patch, damage func([]byte) []byte) {
		t.Helper()
		a, err := w.dir.OpenPending(w.manifest, "tool")
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		raw, err := p.Encode("tool", w.manifest.StateID)
		if err == nil {
			err = os.WriteFile(a.Path(pending.Name(p.ID)), damage(raw), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	at := time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)
	same := func(raw []byte) []byte { return raw }
	put(&pending.Patch{ID: "0000000000001", At: at, Ops: Patch{op("n", "multiply", "2")}}, same)
	put(&pending.Patch{ID: "0000000000002", At: at, Ops: Patch{op("unheard_of", schema.VerbAdd, "2")}}, same)
	put(&pending.Patch{ID: "0000000000003", At: at, Ops: Patch{op("n", schema.VerbAdd, "2")}}, func(raw []byte) []byte { return []byte(strings.Replace(string(raw), `"value":2`, `"value":3`, 1)) })
	put(&pending.Patch{ID: "0000000000004", At: at, Ops: Patch{op("n", schema.VerbAdd, "2")}}, func(raw []byte) []byte { return raw[:len(raw)/2] })
	deferUpdate(t, w, op("n", schema.VerbAdd, "1"))
	update(t, w, ops())
	update(t, w, ops(op("n", schema.VerbAdd, "1")))
	if diff := cmp.Diff(map[string]string{"n": "2"}, values(t, w, "n")); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"0000000000001.json", "0000000000002.json", "0000000000003.json", "0000000000004.json"}, pendingNames(t, w)); diff != "" {
		t.Errorf("deferred (-want +got):\n%s", diff)
	}
	if len(told) != 4 {
		t.Errorf("told %d times, want once for each:\n%v", len(told), errors.Join(told...))
	}
}

// While a patch waits for a newer release, the sidecar does not go on collecting
// the ids of all others.
func TestAPatchThatWaitsKeepsNoIDsOfOthers(t *testing.T) {
	_, w := newSetters(t)
	waiting := &pending.Patch{ID: "0000000000001", At: time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC), Ops: Patch{op("n", "multiply", "2")}}
	raw, err := waiting.Encode("tool", w.manifest.StateID)
	if err != nil {
		t.Fatal(err)
	}
	if err := openPending(t, w).Put(pending.Name(waiting.ID), raw); err != nil {
		t.Fatal(err)
	}
	for n := range 4 {
		deferUpdate(t, w, op("n", schema.VerbAdd, "1"))
		if c := update(t, w, ops()); c.Folded != 1 || len(w.last.Folded()) != 1 {
			t.Errorf("fold %d: %+v, and the sidecar lists %d ids", n, c, len(w.last.Folded()))
		}
	}
	if diff := cmp.Diff([]string{pending.Name(waiting.ID)}, pendingNames(t, w)); diff != "" {
		t.Errorf("deferred (-want +got):\n%s", diff)
	}
}

// A copy under another name is no second patch.
func TestCopiedPatchIsNotFoldedTwice(t *testing.T) {
	_, w := newSetters(t)
	deferUpdate(t, w, op("n", schema.VerbAdd, "1"))
	a := openPending(t, w)
	name := pendingNames(t, w)[0]
	raw := readFile(t, a.Path(name))
	wantError(t, a.Put(name, []byte(raw)), fs.ErrExist)
	if err := os.WriteFile(a.Path("0000000000009.json"), []byte(raw), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if diff := cmp.Diff(map[string]string{"n": "1"}, values(t, w, "n")); diff != "" {
			t.Errorf("values (-want +got):\n%s", diff)
		}
	}
	if diff := cmp.Diff([]string{"0000000000009.json"}, pendingNames(t, w)); diff != "" {
		t.Errorf("deferred (-want +got):\n%s", diff)
	}
}
