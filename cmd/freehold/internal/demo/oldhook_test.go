package demo

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func legacyFile(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../../../owners/runtime/testdata/legacy-runtime.json")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "runtime.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func fieldsOf(t *testing.T, file string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	return fields
}

// The comparison would be none if the old hooks lost anything by themselves.
func TestOldHooksLoseNothingOneAfterTheOther(t *testing.T) {
	file := legacyFile(t)
	var stamp string
	for range 3 {
		for _, args := range [][]string{{sessionstart}, {stop, "0.25"}, {tick}} {
			s, err := oldHook(file, args, strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			if s != "" {
				stamp = s
			}
		}
	}
	fields := fieldsOf(t, file)
	for _, program := range programNames {
		if got := fields[callsOf(program)]; got != 3.0 {
			t.Errorf("%v calls of %s are left, want 3", got, program)
		}
	}
	if fields[fieldTotal] != 0.75 || fields[fieldReset] != stamp {
		t.Errorf("total %v, stamp %v; want 0.75 and %s", fields[fieldTotal], fields[fieldReset], stamp)
	}
	if got := fields["tmux_session"]; got != "agent-proj" {
		t.Errorf("another program's field is %v", got)
	}
}

// What is lost need not be a field that both write.
func TestAnOldHookUndoesWhatRanMeanwhile(t *testing.T) {
	file := legacyFile(t)
	err := rewrite(file, func(fields map[string]any) {
		if _, err := oldHook(file, []string{stop, "0.25"}, strings.NewReader("{}")); err != nil {
			t.Error(err)
		}
		if got := fieldsOf(t, file)[callsOf(stop)]; got != 1.0 {
			t.Errorf("stop has not acknowledged what it did: %v", got)
		}
		add(fields, callsOf(tick), 1)
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := fieldsOf(t, file)[callsOf(stop)]; ok {
		t.Errorf("stop's update is still there: %v", got)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*.tmp")); err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v (%v)", left, err)
	}
}

// A variable that somebody left set must not turn a command into a hook.
func TestOldHookIsForTheDemoAlone(t *testing.T) {
	if _, ok := OldHook([]string{tick}, nil, nil, nil); ok {
		t.Error("this process is an old hook without being told so")
	}
	file := legacyFile(t)
	before := fieldsOf(t, file)
	t.Setenv(oldHookVariable, file)
	for _, args := range [][]string{nil, {"view"}, {"set", "reset", "x=1"}} {
		var stderr bytes.Buffer
		status, ok := OldHook(args, strings.NewReader(""), nil, &stderr)
		if !ok || status != 1 || !strings.Contains(stderr.String(), "unset it") {
			t.Errorf("%q: %v, status %d, %q", args, ok, status, &stderr)
		}
	}
	if len(fieldsOf(t, file)) != len(before) {
		t.Error("the file was changed")
	}
}
