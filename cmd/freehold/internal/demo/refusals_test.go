package demo

import (
	"errors"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/gen/tree"
)

func TestATrespasserThatIsNotRefusedFailsTheDemo(t *testing.T) {
	module, err := tree.Find(".")
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{module: module, dir: t.TempDir()}
	own := "tx.LogOffset().Set(1)"
	for name, test := range map[string]struct {
		trespass trespass
		broken   bool   // wraps ErrBroken
		want     string // in the error; "" for none
	}{
		"compiles, as it must":            {trespass{owner: "cost", line: own}, false, ""},
		"refused, as it must be":          {trespass{owner: "cost", line: "tx.ContextCleared()", want: "tx.ContextCleared undefined"}, false, ""},
		"compiles, and must not":          {trespass{owner: "cost", line: own, want: "undefined"}, true, "a trespasser compiles"},
		"refused for another reason":      {trespass{owner: "cost", line: "nonsense", want: "tx.ContextCleared undefined"}, true, "undefined: nonsense"},
		"refused, and it must compile":    {trespass{owner: "cost", line: "nonsense"}, false, "does not compile"},
		"refused before it is looked at":  {trespass{owner: "nobody", line: own, want: "not allowed"}, true, "for another reason"},
		"refused because of the import":   {trespass{owner: "reset", line: "tx.ContextCleared()", want: "not allowed"}, false, ""},
		"the other owner's other package": {trespass{owner: "watchdog", line: "tx.LastDecision()", want: "not allowed"}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			test.trespass.name, test.trespass.home = "it", "cost"
			_, err := s.compile(t.Context(), test.trespass)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q in it", err, test.want)
			}
			if got := errors.Is(err, ErrBroken); got != test.broken {
				t.Errorf("a promise is broken: %v, want %v (%v)", got, test.broken, err)
			}
		})
	}
}
