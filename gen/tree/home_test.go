package tree_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/schema/declare"
)

// The homes of all states of a module are apart: code below two homes could
// write for both owners.
func TestHomesOfAllStatesStandSideBySide(t *testing.T) {
	const a = "state: a\nowners:\n  one: {home: x/one, fields: {f: {type: int}}}\n"
	for name, test := range map[string]struct {
		folder, home string
		want         string // of both planned together; empty: the control
	}{
		"side by side":            {"b", "x/two", ""},
		"the other's folder":      {"b", "a", "b/owners.yaml:3:3: the home of owner two, a, contains the folder of a/owners.yaml, and with it the code of all readers of that state: move one of them"},
		"around that folder":      {"b", "deep", "b/owners.yaml:3:3: the home of owner two, deep, contains the folder of deep/er/owners.yaml, and with it the code of all readers of that state: move one of them"},
		"the same home":           {"b", "x/One", "b/owners.yaml:3:3: the home of owner two, x/One, is also the home of owner one, x/one at a/owners.yaml:3:3, and each could write the other's fields: choose another folder"},
		"in the other's home":     {"b", "x/one/two", "b/owners.yaml:3:3: the home of owner two, x/one/two, is in the home of owner one, x/one at a/owners.yaml:3:3, and could write for both: put them side by side"},
		"around the other's":      {"b", "x", "b/owners.yaml:3:3: the home of owner two, x, contains the home of owner one, x/one at a/owners.yaml:3:3, which could write for both: put them side by side"},
		"a state in other's home": {"x/one/b", "cmd/two", "a/owners.yaml:3:3: the home of owner one, x/one, contains the folder of x/one/b/owners.yaml, and with it the code of all readers of that state: move one of them"},
	} {
		t.Run(name, func(t *testing.T) {
			b := "state: b\nowners:\n  two: {home: " + test.home + ", fields: {g: {type: int}}}\n"
			c := "state: c\nowners:\n  three: {home: cmd/three, fields: {h: {type: int}}}\n"
			dir := lay(t, "-- go.mod --\nmodule example.com/m\n-- a/owners.yaml --\n"+a+"-- "+test.folder+"/owners.yaml --\n"+b+"-- deep/er/owners.yaml --\n"+c)
			m := find(t, dir)
			load := func(file string) *declare.Source {
				text := contents(t, dir)[file]
				src, err := declare.Parse(file, filepath.ToSlash(filepath.Dir(file)), []byte(text))
				if err != nil {
					t.Fatal(err)
				}
				return src
			}
			srcs := []*declare.Source{load("a/owners.yaml"), load("deep/er/owners.yaml"), load(test.folder + "/owners.yaml")}
			_, together := m.Plans(srcs)
			_, alone := m.Plans(srcs[2:])
			for how, err := range map[string]error{"together": together, "alone": alone} {
				if got := errorText(err); got != test.want {
					t.Errorf("%s:\ngot  %s\nwant %s", how, got, test.want)
				}
				if _, ok := errors.AsType[declare.Problems](err); ok != (test.want != "") {
					t.Errorf("%s: the error is of type %T", how, err)
				}
			}
			if _, err := m.Plans(srcs[1:2]); err != nil && !strings.Contains(test.want, "deep/er") {
				t.Errorf("a state that has no part in it: %v", err)
			}
		})
	}
}
