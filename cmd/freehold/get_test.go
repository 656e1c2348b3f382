package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/reader/statetest"
)

// Case 146: --default stands in for a field that is unset, and for nothing
// else.
func TestDefaultReplacesOnlyUnset(t *testing.T) {
	dir := freshState(t)
	statetest.Damaged(dir, "sidecar-invalid")
	must(t, "set", "reset", "f=5", "--dir", dir)
	must(t, "set", "watchdog", "patience=1s", "--dir", dir)
	if err := os.WriteFile(filepath.Join(dir, "watchdog.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	stoodIn := 0
	for _, test := range []struct {
		situation, field, dir, stand string
		status                       int
		stdout, withDefault          string
		statusWithDefault            int
	}{
		{"set", "f", dir, "7", 0, "5\n", "5\n", 0},
		{"unset", "n", dir, "7", 1, "", "7\n", 0},
		{"unknown field", "nope", dir, "7", 4, "", "", 4},
		{"owner unreadable", "patience", dir, "7s", 3, "", "", 3},
		{"no state", "f", nowhere, "7", 64, "", "", 64},
	} {
		t.Run(test.situation, func(t *testing.T) {
			got := call(t, "", "get", test.field, "--dir", test.dir)
			if got.Status != test.status || got.Stdout != test.stdout || (got.Stderr == "") != (got.Status == 0) {
				t.Errorf("without a default: %+v", got)
			}
			got = call(t, "", "get", test.field, "--default", test.stand, "--dir", test.dir)
			if got.Status != test.statusWithDefault || got.Stdout != test.withDefault || (got.Stderr == "") != (got.Status == 0) {
				t.Errorf("with a default: %+v", got)
			}
			if got.Stdout == "7\n" {
				stoodIn++
			}
		})
	}
	if stoodIn != 1 {
		t.Errorf("the default stood in %d times, want once", stoodIn)
	}
	if _, err := os.Stat(nowhere); err == nil {
		t.Error("get made a directory")
	}
}

// A default is a value of the field.
func TestDefaultFitsTheField(t *testing.T) {
	dir := freshState(t)
	for _, field := range []string{"f", "n"} {
		got := call(t, "", "get", field, "--default", "many", "--dir", dir)
		if got.Status != failure.ExitUsage || got.Stdout != "" {
			t.Errorf("%s: %+v", field, got)
		}
	}
	if got := must(t, "get", "name", "--default", "a b", "--json", "--dir", dir); got != "\"a b\"\n" {
		t.Errorf("%q", got)
	}
}

// A pipe gets the value as it is; see TestGetOnATerminalPrintsWhatItDoesNotObey.
func TestGetGivesAPipeTheValueAsItIs(t *testing.T) {
	dir := freshState(t)
	must(t, "set", "reset", "name=a\x1b[2J\u202eb", "--dir", dir, "--program", "p\x1b[1m")
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"get", "name"}, "a\x1b[2J\u202eb\n"},
		{[]string{"get", "name", "--json"}, `"a\u001b[2J\u202eb"` + "\n"},
	} {
		if got := must(t, append(test.args, "--dir", dir)...); got != test.want {
			t.Errorf("%q: %q, want %q", test.args, got, test.want)
		}
	}
	for _, command := range [][]string{{"view"}, {"view", "--json"}, {"explain", "name"}, {"explain", "name", "--json"}} {
		got := must(t, append(command, "--dir", dir)...)
		for line := range strings.SplitSeq(got, "\n") {
			if display.Escape(line) != line {
				t.Errorf("%q prints %q", command, line)
			}
		}
	}
}
