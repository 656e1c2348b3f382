package declare

import (
	"path"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"go.yaml.in/yaml/v3"
)

// A Source is an owners.yaml that was read without a mistake.
type Source struct {
	// Declaration is what the file says, with every default filled in.
	Declaration *schema.Declaration
	// File is the name that messages use.
	File string
	// Folder is the slash-separated path of the file's folder, relative to
	// the module root; "." is the root.
	Folder string

	places map[[2]string]place // by owner and field; the owner's own has field ""
}

// Place returns the line and the column at which the file names the owner's
// field, or the owner itself if field is empty. It returns zeros if the file
// does not declare it.
func (s *Source) Place(owner, field string) (line, col int) {
	p := s.places[[2]string{owner, field}]
	return p.line, p.col
}

// Parse reads the text of an owners.yaml. file is the name to use in
// messages; folder is the slash-separated path of the file's folder relative
// to the module root, "." for the root itself. If there are mistakes, the
// error is [Problems] and holds all of them, except that text which is not
// valid YAML hides what else may be wrong with it.
func Parse(file, folder string, text []byte) (*Source, error) {
	f, _, err := read(file, text, options{folder: path.Clean(folder)})
	if err != nil {
		return nil, err
	}
	return f.source(), nil
}

// options are what reading a file depends on besides its text.
type options struct {
	folder string
	// unplaced means that folder is unknown, so homes cannot be compared.
	unplaced bool
	// unfinished means that owners and fields may still be missing.
	unfinished bool
}

// read reads text and also returns the root of its YAML.
func read(file string, text []byte, o options) (*fileReader, *yaml.Node, error) {
	r := &reporter{file: file}
	r.checkText(text)
	if err := r.err(); err != nil {
		return nil, nil, err
	}
	root := r.document(text)
	if root == nil {
		return nil, nil, r.err()
	}
	r.checkTree(root, text)
	f := &fileReader{reporter: r, options: o, fields: map[string]declared{}, claimed: map[[2]string]declared{}, legacy: map[string]fieldEntry{}}
	f.read(root)
	return f, root, r.err()
}

// A fileReader turns the nodes of one file into a declaration.
type fileReader struct {
	*reporter
	options
	state, pkg string
	instances  schema.Instances
	stateAt    place
	owners     []ownerEntry
	fields     map[string]declared    // all owners' fields
	claimed    map[[2]string]declared // the members of maps, by field and member
	legacy     map[string]fieldEntry  // by legacy key
	guesses    int                    // how often it was guessed which field is meant
}

// An ownerEntry is an owner with its place in the file.
type ownerEntry struct {
	name   string
	at     place
	named  bool // the name itself is good
	homeAt place
	owner  schema.Owner
	fields []fieldEntry
}

// declared says who declared a field, or a member of a map, first, and where.
type declared struct {
	owner string
	at    place
	field schema.Field
}

var (
	fileKeys     = []string{"state", "package", "instances", "owners"}
	instanceKeys = []string{"by"}
)

func (f *fileReader) read(root *yaml.Node) {
	m := f.members(root, "the file", "the keys state and owners", fileKeys, nil)
	f.readState(root, m["state"], m["package"])
	f.readInstances(m["instances"])
	f.readOwners(root, m["owners"])
	f.checkMaps()
	f.checkFormer()
	f.checkDependencies()
	f.checkHomes()
	f.checkIdentifiers()
}

func (f *fileReader) readState(root, state, pkg *yaml.Node) {
	f.stateAt = at(root)
	if state == nil && root.Kind == yaml.MappingNode {
		f.report(f.stateAt, `the state has no name: add "state: NAME"`)
	}
	override, overridden := f.text(pkg, "package")
	if text, ok := f.text(state, "state"); ok {
		f.stateAt = at(state)
		if f.checkName(f.stateAt, "state", text) {
			f.state, f.pkg = text, text
			if strings.HasSuffix(TestPackage(text), "_test") {
				f.report(f.stateAt, "the state %s ends with an underscore, and Go would take %s.go for a test: choose another name", text, TestPackage(text))
			}
			if why := badPackage(text); why != "" && pkg == nil {
				f.report(f.stateAt, `the package of state %s would have its name, which %s: add "package: %s"`, text, why, otherPackage(text))
			}
		}
	}
	if overridden && f.checkName(at(pkg), "package", override) {
		f.pkg = override
		if why := badPackage(override); why != "" {
			f.report(at(pkg), "the package name %s %s: choose another", override, why)
		}
	}
}

// readInstances reads what there is an instance of the state for.
func (f *fileReader) readInstances(n *yaml.Node) {
	if n == nil {
		return
	}
	const want = "{by: session_id}"
	if isNull(n) {
		f.report(at(n), "instances is empty: write %s, or remove it", want)
		return
	}
	m := f.members(n, "instances", want, instanceKeys, nil)
	if by, ok := f.text(m["by"], "instances by"); ok {
		if f.checkName(at(m["by"]), "instances'", by) {
			f.instances.By = by
		}
	} else if m["by"] == nil && n.Kind == yaml.MappingNode {
		f.report(at(n), "instances does not say what there is one for each of: write %s", want)
	}
}

func (f *fileReader) readOwners(root, owners *yaml.Node) {
	if owners == nil {
		if root.Kind == yaml.MappingNode && !f.unfinished {
			f.report(at(root), `the file declares no owners: add "owners:" with at least one`)
		}
		return
	}
	entries := f.entries(owners, "owners", "NAME: {fields: …}")
	if len(entries) == 0 && !f.unfinished && (isNull(owners) || owners.Kind == yaml.MappingNode && len(owners.Content) == 0) {
		f.report(at(owners), "owners is empty: declare at least one owner with a field")
	}
	if len(entries) > schema.MaxOwners {
		f.report(at(owners), "the state has %d owners and may have %d: declare several states", len(entries), schema.MaxOwners)
		return
	}
	for _, e := range entries {
		f.owners = append(f.owners, f.readOwner(e))
	}
}

// source returns what was read; it may be called only if nothing was reported.
func (f *fileReader) source() *Source {
	s := &Source{
		Declaration: &schema.Declaration{State: f.state, Package: f.pkg, Instances: f.instances, Owners: map[string]schema.Owner{}},
		File:        f.file, Folder: f.folder, places: map[[2]string]place{},
	}
	for _, o := range f.owners {
		s.places[[2]string{o.name, ""}] = o.at
		for _, field := range o.fields {
			s.places[[2]string{o.name, field.name}] = field.at
		}
		s.Declaration.Owners[o.name] = o.owner
	}
	return s
}
