package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
)

// usageState makes a state of owners/usage in which the skill deploy exists.
func usageState(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "state")
	must(t, "state", "init", "--dir", dir, "--owners", "../../owners/usage/owners.yaml")
	must(t, "insert", "creator", "skills", "deploy", "--dir", dir)
	return dir
}

// A count that cannot wait is done all the same: exit status 0, in time, in
// every view at once, and in the sidecar with the next commit or by fold.
func TestAWriteThatCannotWaitIsSetPending(t *testing.T) {
	dir := usageState(t)
	w, err := sidecar.Open(context.Background(), dir, nil, "tool", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	_, err = w.Update(context.Background(), func(*sidecar.Tx) error {
		start := time.Now()
		got := must(t, "put", "tool", "skills", "deploy", "use_count=2", "--wait", "0s", "--dir", dir, "--program", "hook")
		if !regexp.MustCompile(`^tool deferred patch [0-9a-v]{13}: views show it`).MatchString(got) {
			t.Errorf("put says %q", got)
		}
		got = must(t, "put", "tool", "skills", "deploy", "use_count=3", "--json", "--wait", "10ms", "--dir", dir)
		if !regexp.MustCompile(`^\{"owner":"tool","outcome":"deferred","changed":false,"version":"","fields":\{\},"patch":"[0-9a-v]{13}"\}\n$`).MatchString(got) {
			t.Errorf("put --json says %s", got)
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("it took %v", took)
		}
		conditional := call(t, "", "put", "tool", "skills", "deploy", "use_count=1", "--if-version", "", "--wait", "0s", "--dir", dir)
		if conditional.Status != failure.ExitBusy || conditional.Stdout != "" {
			t.Errorf("a conditional commit cannot be deferred: %+v", conditional)
		}
		fold := call(t, "", "fold", "tool", "--wait", "0s", "--dir", dir)
		if fold.Status != failure.ExitBusy || !strings.Contains(fold.Stderr, "tool.lock: busy: ") || strings.Contains(fold.Stderr, "patch") { // it defers none
			t.Errorf("fold: %+v", fold)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := must(t, "get", "skills", "deploy", "use_count", "--dir", dir); got != "5\n" {
		t.Errorf("get says %q", got)
	}
	for _, want := range []string{"tool has 2 pending patches, which the view shows", " PENDING"} {
		if got := must(t, "view", "--dir", dir); !strings.Contains(got, want) {
			t.Errorf("the view does not say %q:\n%s", want, got)
		}
	}
	if got := must(t, "view", "--json", "--dir", dir); !strings.Contains(got, `"pending":2`) {
		t.Errorf("the view does not count them: %s", got)
	}
	if got := must(t, "explain", "skills", "--dir", dir); !strings.Contains(got, "which is deferred and in no commit yet") {
		t.Errorf("explain does not say it:\n%s", got)
	}
	if got := must(t, "fold", "tool", "--dir", dir); !strings.HasPrefix(got, "tool folded 2 patches: version ") {
		t.Errorf("fold says %q", got)
	}
	if got := must(t, "fold", "tool", "--json", "--dir", dir); !strings.HasPrefix(got, `{"owner":"tool","folded":0,"version":"`) {
		t.Errorf("fold again says %q", got)
	}
	if got := must(t, "view", "--dir", dir); strings.Contains(got, " PENDING") {
		t.Errorf("the view says that something is deferred:\n%s", got)
	}
	if got := must(t, "get", "skills", "deploy", "use_count", "--dir", dir); got != "5\n" {
		t.Errorf("get says %q", got)
	}
}

// What cannot be folded is told, by whoever finds it.
func TestAPatchThatIsNotFoldedIsTold(t *testing.T) {
	dir := usageState(t)
	odd := filepath.Join(dir, ".freehold", "tool.pending", "odd.1.json")
	if err := os.WriteFile(odd, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := call(t, "", "put", "tool", "skills", "deploy", "use_count=1", "--dir", dir)
	if got.Status != failure.ExitDone || !strings.Contains(got.Stderr, odd+": changed by a hand") {
		t.Errorf("put: %+v", got)
	}
	if got := must(t, "view", "--dir", dir); !strings.Contains(got, "not all of which the view shows") {
		t.Errorf("view says:\n%s", got)
	}
	if err := os.Remove(filepath.Dir(odd) + "/odd.1.json"); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Dir(odd)); err != nil {
		t.Fatal(err)
	}
	lost := call(t, "", "put", "tool", "skills", "deploy", "use_count=1", "--dir", dir)
	if lost.Status != failure.ExitState || !strings.Contains(lost.Stderr, "freehold state repair") {
		t.Errorf("put without the directory: %+v", lost)
	}
	must(t, "state", "repair", "--dir", dir)
	must(t, "put", "tool", "skills", "deploy", "use_count=1", "--dir", dir)
	if got := must(t, "get", "skills", "deploy", "use_count", "--dir", dir); got != "2\n" {
		t.Errorf("get says %q", got)
	}
}

// Where too much is deferred already, a write that cannot wait is an error that
// says so and what to do, and nothing is lost of what is there.
func TestAWriteIsRefusedWhereTooMuchIsSetPending(t *testing.T) {
	dir := usageState(t)
	w, err := sidecar.Open(context.Background(), dir, nil, "tool", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	put := []string{"put", "tool", "skills", "deploy", "use_count=1", "--wait", "0s", "--dir", dir}
	var before string
	_, err = w.Update(context.Background(), func(*sidecar.Tx) error {
		must(t, put...)
		before = must(t, "get", "skills", "deploy", "use_count", "--dir", dir)
		big := filepath.Join(dir, ".freehold", "tool.pending", "zzzz.1.json")
		if err := os.WriteFile(big, make([]byte, sidecar.MaxPendingBytes), 0o600); err != nil {
			t.Fatal(err)
		}
		defer os.Remove(big)
		got := call(t, "", put...)
		if got.Status != failure.ExitBusy || got.Stdout != "" || !strings.Contains(got.Stderr, "run `freehold fold tool --dir ") {
			t.Errorf("put says %+v", got)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := must(t, "get", "skills", "deploy", "use_count", "--dir", dir); got != before {
		t.Errorf("the count is %q and was %q", got, before)
	}
}

// However much is deferred, and however short the owner's wait: fold goes on
// until all is folded; with --wait, no longer than that, and then what it took
// in stays so.
func TestFoldGoesOnUntilAllIsFolded(t *testing.T) {
	in := t.TempDir()
	dir, owners := filepath.Join(in, "state"), filepath.Join(in, "owners.yaml")
	err := os.WriteFile(owners, []byte(`state: pile
owners:
  tool:
    busy: {wait: 1ns, then: defer}
    fields:
      n: {type: uint, kind: counter, doc: How often.}
      tags: {type: string, kind: set, doc: What.}
`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	must(t, "state", "init", "--dir", dir, "--owners", owners)
	w, err := sidecar.Open(context.Background(), dir, nil, "tool", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	pile := func() {
		t.Helper()
		held := false
		_, err := w.Update(context.Background(), func(tx *sidecar.Tx) error {
			held = !tx.WriteOnly()
			other, err := sidecar.Open(context.Background(), dir, nil, "tool", nil)
			if err != nil {
				return err
			}
			defer other.Close()
			for range 45 { // more than two versions fold
				c, err := other.Update(context.Background(), func(tx *sidecar.Tx) error {
					tx.Apply(sidecar.Op{Field: "n", Verb: schema.VerbAdd, Value: []byte("1")})
					tx.Apply(sidecar.Op{Field: "tags", Verb: schema.VerbInsert, Value: []byte(`"` + strings.Repeat("x", 20_000) + `"`)})
					return nil
				})
				if err != nil || c.Outcome != sidecar.Deferred {
					t.Fatalf("%+v (%v)", c, err)
				}
			}
			return nil
		})
		if err != nil || !held {
			t.Fatalf("held: %t (%v)", held, err)
		}
	}
	pile()
	if got := must(t, "fold", "tool", "--dir", dir); !strings.HasPrefix(got, "tool folded 45 patches: version ") {
		t.Errorf("fold says %q", got)
	}
	pile()
	some := call(t, "", "fold", "tool", "--wait", "0s", "--dir", dir)
	if some.Status != failure.ExitBusy || some.Stdout != "" || !strings.Contains(some.Stderr, "are folded, and the next commit goes on with the rest") {
		t.Errorf("fold --wait 0s says %+v", some)
	}
	if got := must(t, "get", "n", "--dir", dir); got != "90\n" {
		t.Errorf("get says %q", got)
	}
	if got := must(t, "add", "tool", "n", "10", "--dir", dir); !strings.HasPrefix(got, "tool deferred patch ") {
		t.Errorf("add says %q", got)
	}
	if got := must(t, "fold", "tool", "--dir", dir); !strings.HasPrefix(got, "tool folded ") {
		t.Errorf("fold says %q", got)
	}
	if got := must(t, "get", "n", "--dir", dir); got != "100\n" {
		t.Errorf("get says %q", got)
	}
}
