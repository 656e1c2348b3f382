package gen

import (
	"bytes"
	"fmt"
	"io/fs"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// A Plan is what makes the files of one state current. It is data: package
// gen/tree carries it out.
type Plan struct {
	// Write lists the files that are missing or differ, sorted.
	Write []Change
	// Remove lists generated files that no declaration makes any more, with
	// their content, sorted.
	Remove []File
	// Keep lists the files that are as they should be, sorted.
	Keep []string
	// Skipped lists the folders that were not searched for generated files,
	// because they could not be read.
	Skipped []string
}

// A Change is a file that is to be written.
type Change struct {
	Path string // slash-separated, relative to the module root
	Old  []byte // nil if there is no such file
	New  []byte
	// Mode has the permissions of the old file if they are not those of a
	// generated file.
	Mode *fs.FileMode
}

// Current reports whether there is nothing to do.
func (p *Plan) Current() bool { return len(p.Write) == 0 && len(p.Remove) == 0 }

// Summary has a line for each file that is not as it should be: "missing",
// "changed" or "orphaned", and its path.
func (p *Plan) Summary() string {
	var b strings.Builder
	for _, c := range p.Write {
		what := "changed"
		if c.Old == nil {
			what = "missing"
		}
		fmt.Fprintf(&b, "%-8s %s\n", what, c.Path)
	}
	for _, file := range p.Remove {
		fmt.Fprintf(&b, "orphaned %s\n", file.Path)
	}
	return b.String()
}

// Diff returns what carrying out the plan would change as a unified diff.
// Permissions are in it as git shows them.
func (p *Plan) Diff() []byte {
	var b bytes.Buffer
	for _, c := range p.Write {
		b.Write(c.diff())
	}
	for _, file := range p.Remove {
		b.Write(diff.Diff("a/"+file.Path, file.Data, "/dev/null", nil))
	}
	return b.Bytes()
}

func (c Change) diff() []byte {
	if c.Old == nil {
		return diff.Diff("/dev/null", nil, "b/"+c.Path, c.New)
	}
	text := diff.Diff("a/"+c.Path, c.Old, "b/"+c.Path, c.New)
	if c.Mode == nil {
		return text
	}
	_, rest, _ := bytes.Cut(text, []byte("\n"))
	head := fmt.Appendf(nil, "diff a/%s b/%s\nold mode 100%03o\nnew mode 100644\n", c.Path, c.Path, c.Mode.Perm())
	return append(head, rest...)
}
