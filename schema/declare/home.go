package declare

import (
	"fmt"
	"iter"
	"path"
	"strconv"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/go-json-experiment/json/jsontext"
)

// checkHomes reports homes that are no folders for programs, and homes that
// would open one owner's writer to others: Go lets everything below a home
// import the writer.
func (f *fileReader) checkHomes(d *schema.Declaration) {
	if f.unplaced || !f.checkFolder() { // else every default home would be reported again
		return
	}
	h := homes{fileReader: f, taken: map[string]jsontext.Pointer{}, above: map[string]jsontext.Pointer{}, d: d}
	for _, owner := range f.names["/owners"] {
		at := schema.PointerTo(owner, "") + "/home"
		named := schema.ValidName(owner) && reservedOwner(owner, d.State) == ""
		if (named || f.has(at)) && !f.doubtful[at] && f.checkHome(at, d.Owners[owner].Home) {
			h.add(at, d.Owners[owner].Home)
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
		f.report("/state", "Go cannot import a package from the folder %.40q, since %s: move owners.yaml", f.folder, bad)
		return false
	}
	if element := special(f.folder); element != "" && element != "internal" {
		f.report("/state", "Go ignores packages in the folder %.40q, because of %.40q: move owners.yaml", f.folder, element)
		return false
	}
	return true
}

// checkHome reports a home that is wrong by itself.
func (f *fileReader) checkHome(at jsontext.Pointer, home string) bool {
	place := fmt.Sprintf("%s, %.40q", schema.PartName(at), home)
	below := home // the part that is not the folder's
	if within(home, f.folder) && f.folder != "." {
		below = strings.TrimPrefix(home[len(f.folder):], "/")
	}
	clean := path.Clean(strings.ReplaceAll(home, `\`, "/"))
	switch bad := badPath(home); {
	case clean == ".":
		f.report(at, "%s, is the module root, which contains everybody's code: name a folder in it", place)
	case path.IsAbs(clean) || len(clean) > 1 && clean[1] == ':':
		f.report(at, "%s, is absolute: write it relative to the module root", place)
	case clean == ".." || strings.HasPrefix(clean, "../"):
		f.report(at, "%s, is outside of the module: name a folder in it", place)
	case home != clean:
		f.report(at, "%s, is another spelling of a path: write %s", place, clean)
	case bad != "":
		f.report(at, "%s, is no path that Go can import, since %s: rename the folder", place, bad)
	case special(below) != "":
		f.report(at, "%s, has the element %s, which means something else to Go: choose another folder", place, fmt.Sprintf("%.40q", special(below)))
	case within(f.folder, home):
		f.report(at, "%s, contains the folder of owners.yaml, and with it the code of all readers: choose a folder below it or beside it", place)
	case within(home, path.Join(f.folder, "schema")), f.said.State != "" && within(home, path.Join(f.folder, TestPackage(f.said.State))):
		f.report(at, "%s, is a folder that only generated files may be in: choose another", place)
	case !within(home, importersFolder(f.folder)):
		f.report(at, "%s, may not import the view package in %s, which is internal to %s: choose a folder in there, or move owners.yaml",
			place, f.folder, importersFolder(f.folder))
	default:
		return true
	}
	return false
}

// importersFolder returns the folder around all packages that may import the view
// package in folder.
func importersFolder(folder string) string {
	elements := strings.Split(folder, "/")
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
			return "it holds the character " + strconv.Quote(string([]rune(bad)[:1]))
		case element == "":
			return "it has an empty element"
		case strings.HasSuffix(element, "."):
			return strconv.Quote(element) + " ends with a dot"
		case deviceName(element):
			return strconv.Quote(element) + " is a device on Windows"
		case tilde >= 0 && element[tilde+1:] != "" && strings.Trim(element[tilde+1:], "0123456789") == "":
			return strconv.Quote(element) + " looks like a short name on Windows"
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
	d            *schema.Declaration
	taken, above map[string]jsontext.Pointer
}

func (h *homes) add(at jsontext.Pointer, folder string) {
	home := strings.ToLower(folder)
	place := schema.PartName(at) + ", " + folder
	if other, ok := h.taken[home]; ok {
		h.report(at, "%s, is also %s at %s, and each could write the other's fields: choose another folder", place, schema.PartName(other), other)
		return
	}
	if other, ok := h.above[home]; ok {
		h.report(at, "%s, contains %s, %s at %s, which could write for both: put them side by side", place, schema.PartName(other), h.home(other), other)
		return
	}
	for parent := range parents(home) {
		if other, ok := h.taken[parent]; ok {
			h.report(at, "%s, is in %s, %s at %s, and could write for both: put them side by side", place, schema.PartName(other), h.home(other), other)
			return
		}
	}
	h.taken[home] = at
	for parent := range parents(home) {
		if _, ok := h.above[parent]; !ok {
			h.above[parent] = at
		}
	}
}

// home returns the home at a place.
func (h *homes) home(at jsontext.Pointer) string { return h.d.Owners[at.Parent().LastToken()].Home }

// parents yields the folders above a home.
func parents(home string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for parent := path.Dir(home); parent != "." && parent != "/" && yield(parent); parent = path.Dir(parent) {
		}
	}
}
