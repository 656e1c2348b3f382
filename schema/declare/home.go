package declare

import (
	"path"
	"strings"
)

// checkHomes reports homes that are no folders for programs, and homes that
// would open one owner's writer to somebody else: Go lets everything below a
// home import it.
func (f *fileReader) checkHomes() {
	if f.unplaced {
		return
	}
	if !f.checkFolder() {
		return // every default home would be reported again
	}
	h := homes{fileReader: f, taken: map[string]ownerEntry{}, above: map[string]ownerEntry{}}
	for _, o := range f.owners {
		if (o.named || o.homeAt != o.at) && f.checkHome(o) {
			h.add(o)
		}
	}
}

// checkFolder reports a folder of owners.yaml that Go cannot import the view
// package from. An internal directory is fine: its user may want it so.
func (f *fileReader) checkFolder() bool {
	if f.folder == "." {
		return true
	}
	if bad := badPath(f.folder); bad != "" {
		f.report(f.stateAt, "Go cannot import a package from the folder %s, since %s: move owners.yaml", quote(f.folder), bad)
		return false
	}
	if element := special(f.folder); element != "" && element != "internal" {
		f.report(f.stateAt, "Go ignores packages in the folder %s, because of %s: move owners.yaml", quote(f.folder), quote(element))
		return false
	}
	return true
}

// checkHome reports a home that is wrong by itself.
func (f *fileReader) checkHome(o ownerEntry) bool {
	home, what := o.owner.Home, "the home of owner "+plain(o.name)+", "+quote(o.owner.Home)
	below := home // the part that is not the folder's
	if within(home, f.folder) && f.folder != "." {
		below = strings.TrimPrefix(home[len(f.folder):], "/")
	}
	clean := path.Clean(strings.ReplaceAll(home, `\`, "/"))
	switch bad := badPath(home); {
	case clean == ".":
		f.report(o.homeAt, "%s, is the module root, which contains everybody's code: name a folder in it", what)
	case path.IsAbs(clean) || len(clean) > 1 && clean[1] == ':':
		f.report(o.homeAt, "%s, is absolute: write it relative to the module root", what)
	case clean == ".." || strings.HasPrefix(clean, "../"):
		f.report(o.homeAt, "%s, is outside of the module: name a folder in it", what)
	case home != clean:
		f.report(o.homeAt, "%s, is another spelling of a path: write %s", what, clean)
	case bad != "":
		f.report(o.homeAt, "%s, is no path that Go can import, since %s: rename the folder", what, bad)
	case special(below) != "":
		f.report(o.homeAt, "%s, has the element %s, which means something else to Go: choose another folder", what, quote(special(below)))
	case within(f.folder, home):
		f.report(o.homeAt, "%s, contains the folder of owners.yaml, and with it the code of everybody who reads: choose a folder below it or beside it", what)
	case within(home, path.Join(f.folder, "schema")), f.state != "" && within(home, path.Join(f.folder, TestPackage(f.state))):
		f.report(o.homeAt, "%s, is a folder that only generated files may be in: choose another", what)
	case !within(home, f.readers()):
		f.report(o.homeAt, "%s, may not import the view package in %s, which is internal to %s: choose a folder in there, or move owners.yaml",
			what, f.folder, f.readers())
	default:
		return true
	}
	return false
}

// readers returns the folder that everybody who imports the view package must
// be in.
func (f *fileReader) readers() string {
	elements := strings.Split(f.folder, "/")
	for i := len(elements) - 1; i >= 0; i-- {
		if elements[i] == "internal" {
			return path.Join(append([]string{"."}, elements[:i]...)...)
		}
	}
	return "."
}

// special returns an element of the path that makes Go ignore a folder or keep
// others from importing it, or "".
func special(slash string) string {
	for element := range strings.SplitSeq(slash, "/") {
		switch {
		case element == "internal", element == "vendor", element == "testdata", strings.HasPrefix(element, "_"), strings.HasPrefix(element, "."):
			return element
		}
	}
	return ""
}

// badPath says why slash, a path below the module root, cannot be part of an
// import path, or returns "".
func badPath(slash string) string {
	for element := range strings.SplitSeq(slash, "/") {
		bad := strings.TrimFunc(element, importable)
		tilde := strings.LastIndexByte(element, '~')
		switch {
		case bad != "":
			return "it holds the character " + quote(string([]rune(bad)[:1]))
		case element == "":
			return "it has an empty element"
		case strings.HasSuffix(element, "."):
			return quote(element) + " ends with a dot"
		case deviceName(element):
			return quote(element) + " is a device on Windows"
		case tilde >= 0 && element[tilde+1:] != "" && strings.Trim(element[tilde+1:], "0123456789") == "":
			return quote(element) + " looks like a short name on Windows"
		}
	}
	return ""
}

// importable reports whether Go allows c in the element of an import path.
func importable(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-._~+", c)
}

// within reports whether the path inner is outer or below it. Case does not
// count, because it does not on every disk.
func within(inner, outer string) bool {
	inner, outer = strings.ToLower(inner), strings.ToLower(outer)
	return outer == "." || inner == outer || strings.HasPrefix(inner, outer+"/")
}

// homes are the homes seen so far, and all folders above them, in lower case.
type homes struct {
	*fileReader
	taken, above map[string]ownerEntry
}

func (h *homes) add(o ownerEntry) {
	home := strings.ToLower(o.owner.Home)
	what := "the home of owner " + plain(o.name) + ", " + o.owner.Home
	if other, ok := h.taken[home]; ok {
		h.report(o.homeAt, "%s, is also the home of owner %s at %s, and each could write the other's fields: choose another folder",
			what, plain(other.name), h.cite(other.homeAt))
		return
	}
	if other, ok := h.above[home]; ok {
		h.report(o.homeAt, "%s, contains the home of owner %s, %s at %s, which could write for both: put them side by side",
			what, plain(other.name), other.owner.Home, h.cite(other.homeAt))
		return
	}
	for parent := path.Dir(home); parent != "."; parent = path.Dir(parent) {
		if other, ok := h.taken[parent]; ok {
			h.report(o.homeAt, "%s, is in the home of owner %s, %s at %s, and could write for both: put them side by side",
				what, plain(other.name), other.owner.Home, h.cite(other.homeAt))
			return
		}
	}
	h.taken[home] = o
	for parent := path.Dir(home); parent != "." && parent != "/"; parent = path.Dir(parent) {
		if _, ok := h.above[parent]; !ok {
			h.above[parent] = o
		}
	}
}
