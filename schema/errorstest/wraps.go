package errorstest

import (
	"errors"
	"strings"
	"testing"
)

// Wraps fails the test at once unless err wraps want, and goes on to fail it for
// each text that neither the error says nor its remedy.
func Wraps(t testing.TB, err, want error, says ...string) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got error %v, want one that wraps %v", err, want)
	}
	for _, s := range says {
		if !strings.Contains(text(err), s) {
			t.Errorf("the error %q does not say %q", text(err), s)
		}
	}
}
