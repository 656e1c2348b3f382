package gen

import (
	"path"
	"slices"
	"strings"
)

// ViewFile is the name of the view package's file that is not of one owner.
const ViewFile = "freehold.go"

// What an owner's file of the view package is called before and after the
// owner's name. It ends in a fixed word, because Go would take the last word of
// the name for a system, a processor or a test.
const (
	beforeOwner = "freehold_"
	afterOwner  = "_fields.go"
)

// IsViewFile reports whether name, without a folder, is what a file of a view
// package is called.
func IsViewFile(name string) bool {
	return name == ViewFile ||
		strings.HasPrefix(name, beforeOwner) && strings.HasSuffix(name, afterOwner) && len(name) > len(beforeOwner+afterOwner)
}

// view returns the files of the view package: one that says how to open the
// state, and one for each owner with fields in it.
func (s *state) view() ([]File, error) {
	sources := []source{{"view.tmpl", path.Join(s.folder, ViewFile), viewDecls(s), goFile{
		Package: s.Package,
		Imports: importSpecs([]string{"context", "iter", library + "reader", library + "schema", library + "sidecar"}),
		Fields:  s.Fields,
		State:   s,
	}}}
	for _, o := range s.Owners {
		data := s.shown(o)
		if len(data.Fields) > 0 {
			file := path.Join(s.folder, beforeOwner+o.Name+afterOwner)
			sources = append(sources, source{"fields.tmpl", file, ownerDecls(data), data})
		}
	}
	return render(sources...)
}

// shown returns what the view package has of an owner: the owner's fields, what
// the owner has in the maps of others, and the types of all their values. The
// type of what a map has at a key is with the map, and so with the owner of the
// keys.
func (s *state) shown(o owner) goFile {
	data := goFile{Package: s.Package, State: s, Owner: o}
	imports := []string{library + "reader"}
	for _, f := range s.Fields {
		f.Owner = o.Name
		own := f.Own()
		if !f.Decides() && len(own) == 0 {
			continue
		}
		data.Fields = append(data.Fields, f)
		if f.Dependent() {
			imports = append(imports, library+"sidecar")
		}
		f.Members = own
		imports = append(imports, needs([]field{f})...)
	}
	for _, r := range s.Records {
		if r.owner == o.Name {
			data.Records = append(data.Records, r)
			imports = append(append(imports, library+"schema"), needs(r.Members)...)
		}
	}
	for _, e := range s.Enums {
		if e.owner == o.Name {
			data.Enums = append(data.Enums, e)
			imports = append(imports, "fmt")
		}
	}
	data.Imports = importSpecs(imports)
	return data
}

// Own lists the members that the owner has in the map f.
func (f field) Own() []field {
	return slices.DeleteFunc(slices.Clone(f.Members), func(m field) bool { return m.Owner != f.Owner })
}
