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
		put := call(t, "", "put", "tool", "skills", "deploy", "use_count=2", "--wait", "0s", "--dir", dir, "--program", "hook")
		if !regexp.MustCompile(`^freehold: hint: tool deferred patch [0-9a-v]{13}: views show it`).MatchString(put.Stderr) || put.Stdout != "" || put.Status != 0 {
			t.Errorf("put says %+v", put)
		}
		got := must(t, "put", "tool", "skills", "deploy", "use_count=3", "--json", "--wait", "10ms", "--dir", dir)
		if !regexp.MustCompile(`^\{"owner":"tool","outcome":"deferred","changed":false,"version":"","patch":"[0-9a-v]{13}"\}\n$`).MatchString(got) {
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
	if got := must(t, "view", "--dir", dir); !strings.Contains(got, "tool has 2 pending patches, which the view shows") {
		t.Errorf("the view does not say it:\n%s", got)
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

// A patch that cannot be folded is reported by every command that finds it.
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
	if err := os.RemoveAll(filepath.Dir(odd)); err != nil {
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
