package tree

import (
	"fmt"
	"path"
	"strings"

	"github.com/freehold-dev/freehold/schema/declare"
)

// A home is one owner's, of any state of the module.
type home struct {
	src   *declare.Source
	owner string
	dir   string
}

// checkHomes compares the homes of srcs with each other's and with those of
// others, the further states of the module: whoever is below a home can import
// its writer, whatever state that is of. Within one state package declare has
// compared them. The error is [declare.Problems].
func checkHomes(srcs, others []*declare.Source) error {
	var problems declare.Problems
	var before []home
	var states []*declare.Source
	for i, src := range append(others[:len(others):len(others)], srcs...) {
		asked, mine := i >= len(others), homes(src)
		for _, h := range mine {
			if asked {
				problems = append(problems, h.clash(before, states)...)
			}
		}
		if asked {
			problems = append(problems, contain(before, src)...)
		}
		before, states = append(before, mine...), append(states, src)
	}
	if len(problems) == 0 {
		return nil
	}
	return problems
}

func homes(src *declare.Source) []home {
	var all []home
	for _, name := range src.Declaration.OwnerNames() {
		all = append(all, home{src, name, src.Declaration.Owners[name].Home})
	}
	return all
}

// clash returns what is wrong with h beside the homes and states before it, at
// most one problem: choosing another folder ends them all.
func (h home) clash(before []home, states []*declare.Source) declare.Problems {
	for _, src := range states {
		if within(src.Folder, h.dir) {
			return h.problem("contains the folder of %s, and with it the code of everybody who reads that state: choose another folder", file(src))
		}
	}
	for _, other := range before {
		switch {
		case strings.EqualFold(h.dir, other.dir):
			return h.problem("is also the home of %s, and each could write the other's fields: choose another folder", other)
		case within(h.dir, other.dir):
			return h.problem("is in the home of %s, and could write for both: put them side by side", other)
		case within(other.dir, h.dir):
			return h.problem("contains the home of %s, which could write for both: put them side by side", other)
		}
	}
	return nil
}

// contain returns the problems of those homes that contain the folder of src.
func contain(before []home, src *declare.Source) declare.Problems {
	var problems declare.Problems
	for _, h := range before {
		if within(src.Folder, h.dir) {
			problems = append(problems, h.problem("contains the folder of %s, and with it the code of everybody who reads that state: move one of them", file(src))...)
		}
	}
	return problems
}

func (h home) problem(format string, other any) declare.Problems {
	line, col := h.src.Place(h.owner, "")
	return declare.Problems{{File: h.src.File, Line: line, Col: col,
		What: fmt.Sprintf("the home of owner %s, %s, ", h.owner, h.dir) + fmt.Sprintf(format, other)}}
}

// String names a home as another's problem does.
func (h home) String() string {
	line, col := h.src.Place(h.owner, "")
	return fmt.Sprintf("owner %s, %s at %s:%d:%d", h.owner, h.dir, h.src.File, line, col)
}

// file names the owners.yaml of src by its place in the module.
func file(src *declare.Source) string { return path.Join(src.Folder, Declaration) }

// within reports whether the slash path inner is outer or below it. Case does
// not count, because it does not on every disk.
func within(inner, outer string) bool {
	inner, outer = strings.ToLower(inner), strings.ToLower(outer)
	return inner == outer || strings.HasPrefix(inner, outer+"/")
}
