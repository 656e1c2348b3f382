package declare

import (
	"path"
	"strconv"

	"github.com/freehold-dev/freehold/schema"
	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// A Source is an owners.yaml that was read without a mistake.
type Source struct {
	// Declaration is the content of the file, with every default filled in.
	Declaration *schema.Declaration
	// File is the name for messages.
	File string
	// Folder is the slash-separated path of the file's folder, relative to
	// the module root; "." is the root.
	Folder string

	reader *fileReader
}

// Place returns the line and the column of the key of the part at a place, or of
// the nearest part above that the file has: 1 and 1 for the whole file, zeros if s
// was read from no file. Calls may not overlap.
func (s *Source) Place(at jsontext.Pointer) (line, col int) {
	if s.reader == nil {
		return 0, 0
	}
	n, p := s.reader.root, place{1, 1}
	for token := range at.Tokens() {
		entry, ok := s.reader.children.child(n, token)
		if !ok {
			break
		}
		n, p = entry.value, entry.at
	}
	return p.line, p.col
}

// An index has the entries and elements of nodes by name: a declaration has thousands.
type index map[*yaml.Node]map[string]entry

// child returns the entry or the element of n that token names.
func (x index) child(n *yaml.Node, token string) (entry, bool) {
	if x[n] == nil {
		x[n] = map[string]entry{}
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			x[n][key.Value] = entry{key.Value, position(key), n.Content[i+1]}
		}
		for i := 0; n.Kind == yaml.SequenceNode && i < len(n.Content); i++ {
			name := strconv.Itoa(i)
			x[n][name] = entry{name, position(n.Content[i]), n.Content[i]}
		}
	}
	e, ok := x[n][token]
	return e, ok
}

// Parse reads the text of an owners.yaml. file is the name for messages; folder
// is the slash-separated path of the file's folder relative to the module root,
// "." for the root itself. If there are mistakes, the error is [Problems] and
// holds all of them, except that text which is not valid YAML hides the others.
func Parse(file, folder string, text []byte) (*Source, error) {
	f, err := read(file, text)
	if f == nil {
		return nil, err
	}
	f.folder = path.Clean(folder)
	d := f.check()
	if err := f.err(); err != nil {
		return nil, err
	}
	return &Source{d, file, f.folder, f}, nil
}

// read reads text without checking the declaration. If the error is not nil,
// the reader is nil when there is nothing to check.
func read(file string, text []byte) (*fileReader, error) {
	r := &reporter{file: file, doubtful: map[jsontext.Pointer]bool{}}
	r.checkText(text)
	if err := r.err(); err != nil {
		return nil, err
	}
	if r.root = r.document(text); r.root == nil {
		return nil, r.err()
	}
	r.checkTree(r.root, text)
	f := &fileReader{reporter: r, names: map[jsontext.Pointer][]string{}, children: index{}}
	f.read()
	return f, f.err()
}
