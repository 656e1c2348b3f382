package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
)

// Cases 56, 57 and 68: a value of a type comes back in its own digits; any other
// is refused with the field's name and changes nothing.
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
