package errorstest

import (
	"errors"
	"strings"
	"testing"
)

// Wraps fails the test at once unless err wraps want, and goes on to fail it for
// each text that the error does not say.
func Wraps(t testing.TB, err, want error, says ...string) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got error %v, want one that wraps %v", err, want)
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("the error %q does not say %q", err, s)
		}
	}
}
