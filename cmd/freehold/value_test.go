package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/reader/statetest"
)

// Cases 56, 57 and 68: what a type can hold comes back in its own digits; what
// it cannot hold is refused with the field's name and changes nothing.
func TestSetKeepsOrRefusesAValueAndNeverAltersIt(t *testing.T) {
	for _, test := range []struct{ owner, field, text, json string }{
		{"reset", "f", "9223372036854775807", "9223372036854775807"},
		{"reset", "f", "-9223372036854775808", "-9223372036854775808"},
		{"reset", "f", "9223372036854775808", ""},
		{"reset", "f", "1e3", ""},
		{"reset", "f", "1.0", ""},
		{"reset", "f", "-0", ""},
		{"reset", "f", `"5"`, ""},
		{"reset", "f", "", ""},
		{"reset", "f", " 5", ""},
		{"reset", "f", "0x10", ""},
		{"reset", "context_cleared", "false", "false"},
		{"reset", "context_cleared", "True", ""},
		{"reset", "context_cleared", "1", ""},
		{"reset", "context_cleared", "null", ""},
		{"cost", "tokens", "18446744073709551615", "18446744073709551615"},
		{"cost", "tokens", "18446744073709551616", ""},
		{"cost", "tokens", "-1", ""},
		{"cost", "x", "0.1", "0.1"},
		{"cost", "x", "1e308", "1e+308"},
		{"cost", "x", "NaN", ""},
		{"cost", "x", "Infinity", ""},
		{"cost", "x", "-Inf", ""},
		{"cost", "x", "1e999", ""},
		{"reset", "name", "", `""`},
		{"reset", "name", "\ufffd", "\"\ufffd\""},
		{"reset", "name", "a\xffb", ""},
		{"reset", "name", `\ud800`, `"\\ud800"`},
		{"reset", "name", "a=b", `"a=b"`},
		{"reset", "name", "null", `"null"`},
		{"watchdog", "restart_reason", "pane-frozen", `"pane-frozen"`},
		{"watchdog", "restart_reason", "pane_frozen", ""},
		{"watchdog", "since", "2026-08-11T11:12:44.5+02:00", `"2026-08-11T09:12:44.5Z"`},
		{"watchdog", "since", "2026-08-11", ""},
		{"watchdog", "since", "0001-01-01T00:00:00Z", ""},
		{"watchdog", "patience", "90s", `"1m30s"`},
		{"watchdog", "patience", "90", ""},
	} {
		t.Run(test.field+"="+test.text, func(t *testing.T) {
			dir := freshState(t)
			got := call(t, "", "set", test.owner, test.field+"="+test.text, "--dir", dir)
			if test.json == "" {
				refused(t, got, test.field)
				if _, err := os.Stat(filepath.Join(dir, test.owner+".json")); err == nil {
					t.Error("a sidecar was written")
				}
				return
			}
			if got.Status != failure.ExitDone || got.Stderr != "" {
				t.Fatalf("status %d, stderr %s", got.Status, got.Stderr)
			}
			if back := must(t, "get", test.field, "--json", "--dir", dir); back != test.json+"\n" {
				t.Errorf("get --json prints %q, want %q", back, test.json)
			}
		})
	}
}

// refused checks that a call was refused loudly because of a field's value.
func refused(t *testing.T, got result, field string) {
	t.Helper()
	if got.Status != failure.ExitUsage || got.Stdout != "" {
		t.Errorf("status %d, stdout %q; want %d and none", got.Status, got.Stdout, failure.ExitUsage)
	}
	if !strings.HasPrefix(got.Stderr, "freehold: error: field "+field+" ") {
		t.Errorf("stderr does not name the field: %q", got.Stderr)
	}
}

// A file with bytes that are no UTF-8 is corrupt and is not rewritten.
func TestACorruptSidecarIsNotRewritten(t *testing.T) {
	for name, spoil := range map[string]func(string) string{
		"invalid UTF-8":  func(s string) string { return strings.Replace(s, "ann", "a\xffn", 1) },
		"lone surrogate": func(s string) string { return strings.Replace(s, "ann", `\ud800`, 1) },
		"bare NaN":       func(s string) string { return strings.Replace(s, `"f":1`, `"f":NaN`, 1) },
		"duplicate key":  func(s string) string { return strings.Replace(s, `"f":1`, `"f":1,"f":2`, 1) },
		"trailing data":  func(s string) string { return s + "x" },
	} {
		t.Run(name, func(t *testing.T) {
			dir := freshState(t)
			statetest.Damaged(dir, "sidecar-invalid")
			must(t, "set", "reset", "name=ann", "f=1", "--dir", dir)
			must(t, "set", "cost", "x=0.5", "--dir", dir)
			file := filepath.Join(dir, "reset.json")
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			broken := spoil(string(text))
			if err := os.WriteFile(file, []byte(broken), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{{"set", "reset", "f=2"}, {"get", "f"}, {"get", "f", "--default", "7"}} {
				got := call(t, "", append(args, "--dir", dir)...)
				if got.Status != failure.ExitState || got.Stdout != "" || !strings.Contains(got.Stderr, "reset.json") {
					t.Errorf("%q: %+v", args, got)
				}
			}
			if got := must(t, "get", "x", "--dir", dir); got != "0.5\n" {
				t.Errorf("the other owner's field is %q", got)
			}
			if now, err := os.ReadFile(file); err != nil || string(now) != broken {
				t.Errorf("the file was rewritten (%v)", err)
			}
		})
	}
}

// Case 65: zero, false and the empty text are values.
func TestZeroIsSetAndNotUnset(t *testing.T) {
	dir := freshState(t)
	must(t, "set", "reset", "context_cleared=false", "name=", "--dir", dir)
	must(t, "add", "cost", "n", "0", "--dir", dir)
	must(t, "raise", "cost", "highest", "0", "--dir", dir)
	for field, want := range map[string]string{"context_cleared": "false\n", "name": "\n", "n": "0\n", "highest": "0\n"} {
		if got := must(t, "get", field, "--dir", dir); got != want {
			t.Errorf("%s is %q, want %q", field, got, want)
		}
		if got := must(t, "explain", field, "--dir", dir); strings.Contains(got, "unset") {
			t.Errorf("explain %s: %s", field, got)
		}
	}
}
