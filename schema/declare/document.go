package declare

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// document returns the root node of text's one YAML document, or nil after
// reporting why there is none.
func (r *reporter) document(text []byte) *yaml.Node {
	documents, err := decode(text)
	switch {
	case err != nil:
		r.syntax(text, err)
	case len(documents) == 0 || empty(documents[0]):
		r.report(place{1, 1}, "the file declares nothing: freehold init writes a first one")
	case len(documents) > 1:
		r.report(at(documents[1]), "a second YAML document begins here: keep one state in a file")
	default:
		return documents[0].Content[0]
	}
	return nil
}

// decode returns the YAML documents of text.
func decode(text []byte) (documents []*yaml.Node, err error) {
	defer func() {
		// The parser panics on some comments in places where it did not
		// expect one.
		if v := recover(); v != nil {
			err = fmt.Errorf("yaml: the parser gave up (%v)", v)
		}
	}()
	for decoder := yaml.NewDecoder(bytes.NewReader(text)); ; {
		document := new(yaml.Node)
		if err := decoder.Decode(document); errors.Is(err, io.EOF) {
			return documents, nil
		} else if err != nil {
			return nil, err
		}
		documents = append(documents, document)
	}
}

// empty reports whether a document holds nothing: "---" alone is a null that
// nobody wrote.
func empty(document *yaml.Node) bool {
	return len(document.Content) == 0 ||
		document.Content[0].Kind == yaml.ScalarNode && document.Content[0].Value == "" && document.Content[0].Style == 0
}

func at(n *yaml.Node) place { return place{n.Line, n.Column} }

// maxDepth is deeper than anything that an owners.yaml has a use for.
const maxDepth = 16

// checkTree reports the parts of YAML that owners.yaml does without, because
// they make what a line declares depend on another line: anchors, aliases,
// merge keys and tags. So that indentation means to YAML what it means to the
// eye, no node may stand on a line that is indented with a tab.
func (r *reporter) checkTree(root *yaml.Node, text []byte) {
	t := tree{reporter: r, lines: lines(text), tabbed: map[int]bool{}}
	t.walk(root, 0)
}

type tree struct {
	*reporter
	lines  []string
	tabbed map[int]bool // the lines reported
}

func (t *tree) walk(n *yaml.Node, depth int) {
	t.checkTab(n.Line)
	switch {
	case depth > maxDepth:
		t.report(at(n), "nothing in owners.yaml nests %d deep: flatten this", depth)
		return
	case n.Kind == yaml.AliasNode:
		t.report(at(n), "the alias *%s stands for text elsewhere: write the text here", n.Value)
		return
	case n.Tag == "!!merge":
		t.report(at(n), "the merge key << takes entries from elsewhere: write them here")
		return
	}
	if n.Anchor != "" {
		t.report(at(n), "owners.yaml has no anchors: remove &%s, and write the text again where it was used", n.Anchor)
	}
	if n.Style&yaml.TaggedStyle != 0 {
		t.report(at(n), "owners.yaml has no tags: remove %s", n.Tag)
	}
	for _, child := range n.Content {
		t.walk(child, depth+1)
	}
}

func (t *tree) checkTab(line int) {
	if line < 1 || line > len(t.lines) || t.tabbed[line] {
		return
	}
	for i, c := range indentation(t.lines[line-1]) {
		if c == '\t' {
			t.tabbed[line] = true
			t.report(place{line, i + 1}, tabAdvice)
			return
		}
	}
}

const tabAdvice = "a tab indents this line: indent with spaces"
