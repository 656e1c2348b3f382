package console

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/freehold-dev/freehold/sidecar/store"
)

// A remedy names the state as the call did, or a directory for a reader elsewhere,
// in words that a shell takes as they are.
func TestSentenceNamesTheState(t *testing.T) {
	c := &Console{Given: map[string]string{"dir": "a b", "instance": "it's"}}
	for _, test := range []struct {
		remedy    store.Remedy
		dir, want string
	}{
		{store.By("accept", "cost"), "", `run ` + "`freehold accept cost --dir 'a b' --instance 'it'\\''s'`"},
		{store.By("accept", "cost"), "/s", "run `freehold accept cost --dir /s`"},
		{store.By("accept", "cost").Or("look at it"), "/s", "look at it, or run `freehold accept cost --dir /s`"},
		{store.By("accept", "--help"), "/s", "run `freehold accept --help`"},
		{store.By("gen", "my owners.yaml"), "", "run `freehold gen 'my owners.yaml'`"},
		{store.Remedy{Tool: []string{"chmod", "u+r", "a b"}}, "/s", "run `chmod u+r 'a b'`"},
		{store.Remedy{Note: "try again"}, "/s", "try again"},
	} {
		if got := c.Sentence(test.remedy, test.dir); got != test.want {
			t.Errorf("%+v: %s, want %s", test.remedy, got, test.want)
		}
	}
}

// A message is short enough to be read, whatever argument or value is in it.
func TestALongMessageLosesItsMiddle(t *testing.T) {
	var errs strings.Builder
	c := &Console{Stderr: &errs}
	c.Say("error", "field x: "+strings.Repeat("ä", 100_000)+": the cause\nshort")
	if got := errs.String(); len(got) > 4200 || !strings.Contains(got, "field x: ä") || !strings.Contains(got, "bytes) … ") || !strings.Contains(got, ": the cause\n") || !strings.HasSuffix(got, "short\n") || !utf8.ValidString(got) {
		t.Errorf("%d bytes: %.80q", len(got), got)
	}
}
