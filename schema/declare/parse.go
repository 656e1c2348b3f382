package declare

import (
	"path"

	"github.com/freehold-dev/freehold/schema"
	"github.com/go-json-experiment/json/jsontext"
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

// Place returns the line and the column at which the file names the owner's
// field, or the owner itself if field is empty. It returns zeros if the file
// does not declare it.
func (s *Source) Place(owner, field string) (line, col int) {
	if s.reader == nil {
		return 0, 0
	}
	if p, ok := s.reader.find(schema.PointerTo(owner, field)); ok {
		return p.line, p.col
	}
	return 0, 0
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
	f := &fileReader{reporter: r, names: map[jsontext.Pointer][]string{}}
	f.read()
	return f, f.err()
}
