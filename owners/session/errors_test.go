package session_test

import (
	"errors"
	"flag"
	"os"
	"testing"

	"github.com/freehold-dev/freehold/schema/errorstest"
)

// said holds the output of the hook.
var said = errorstest.Golden{
	Update:  flag.Bool("update", false, "write the golden files anew"),
	Folders: []string{"hook", "hook/cmd/pretool"},
}

// TestErrorsSayWhatToDo provokes the errors of the hook.
func TestErrorsSayWhatToDo(t *testing.T) {
	p := newPretool(t)
	for how, items := range map[string]string{
		"items: no JSON": "{\"id\": \"a\", \"text\": \"b\"}\n{",
		"items: no text": `{"id": "fact:1"}`,
	} {
		if err := os.WriteFile(p.items, []byte(items), 0o600); err != nil {
			t.Fatal(err)
		}
		_, stderr := p.run(t, "-turn", "1", "-reinject-turns", "1")
		said.Same(t, how, errors.New(stderr), p.items, "ITEMS", p.dir, "STATE")
	}
	_, stderr := p.run(t, "-turn", "18446744073709551615")
	said.Same(t, "no turn", errors.New(stderr))
}

// TestErrorsAreAllTold fails for an error that no test of the state provokes.
func TestErrorsAreAllTold(t *testing.T) { said.Complete(t) }
