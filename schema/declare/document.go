package declare

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/go-json-experiment/json/jsontext"
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
		r.reportAt(place{1, 1}, "the file declares nothing: freehold init writes a first one")
	case len(documents) > 1:
		r.reportAt(position(documents[1]), "a second YAML document begins here: keep one state in a file")
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

// maxDepth is deeper than anything that an owners.yaml has a use for.
const maxDepth = 16

// checkTree reports the parts of YAML that owners.yaml does without, because
// with them the meaning of a line depends on another line: anchors, aliases,
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
		t.reportAt(position(n), "nothing in owners.yaml nests %d deep: flatten this", depth)
		return
	case n.Kind == yaml.AliasNode:
		t.reportAt(position(n), "the alias *%s stands for text elsewhere: write the text here", n.Value)
		return
	case n.Tag == "!!merge":
		t.reportAt(position(n), "the merge key << takes entries from elsewhere: write them here")
		return
	}
	if n.Anchor != "" {
		t.reportAt(position(n), "owners.yaml has no anchors: remove &%s, and write the text again where it was used", n.Anchor)
	}
	if n.Style&yaml.TaggedStyle != 0 {
		t.reportAt(position(n), "owners.yaml has no tags: remove %s", n.Tag)
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
			t.reportAt(place{line, i + 1}, tabAdvice)
			return
		}
	}
}

const tabAdvice = "a tab indents this line: indent with spaces"

// An entry is one key of a mapping with its value.
type entry struct {
	name  string
	at    place // of the key
	value *yaml.Node
}

// entries returns the entries of n, the mapping at a place, in file order, each
// name once. want shows a good mapping. A missing value is the same as an empty
// mapping.
func (f *fileReader) entries(at jsontext.Pointer, n *yaml.Node, want string) []entry {
	switch {
	case n == nil || isNull(n):
		return nil
	case n.Kind == yaml.AliasNode: // checkTree has reported it
		f.doubtful[at] = true
		return nil
	case n.Kind != yaml.MappingNode:
		f.misread(at, n, "%s: want %s, not %s", schema.PartName(at), want, shape(n))
		return nil
	}
	var all []entry
	seen := map[string]place{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if !f.checkKey(at, key) {
			continue
		}
		if first, ok := seen[key.Value]; ok {
			f.reportAt(position(key), "%.40q is in %s twice, first at %s:%d:%d: keep one of them", key.Value, schema.PartName(at), f.file, first.line, first.col)
			continue
		}
		seen[key.Value] = position(key)
		all = append(all, entry{key.Value, position(key), n.Content[i+1]})
		f.names[at] = append(f.names[at], key.Value)
	}
	return all
}

// checkKey reports a key of the mapping at a place that is not text.
func (f *fileReader) checkKey(at jsontext.Pointer, key *yaml.Node) bool {
	switch {
	case key.Kind == yaml.AliasNode || key.Tag == "!!merge":
		return false // checkTree has reported it
	case key.Kind != yaml.ScalarNode:
		f.reportAt(position(key), "a key of %s: want a name, not %s", schema.PartName(at), shape(key))
		return false
	case key.Tag != "!!str" && key.Style&yaml.TaggedStyle == 0:
		f.reportAt(position(key), "YAML reads the key %.40q of %s as %s: put it in quotes", key.Value, schema.PartName(at), shape(key))
		return false
	}
	return true
}

// members returns the values of a mapping with the known keys, and reports
// others.
func (f *fileReader) members(at jsontext.Pointer, n *yaml.Node, want string, known []string) map[string]*yaml.Node {
	values := map[string]*yaml.Node{}
	for _, e := range f.entries(at, n, want) {
		if slices.Contains(known, e.name) {
			values[e.name] = e.value
		} else {
			f.unknownKey(at, e, known)
		}
	}
	return values
}

func (f *fileReader) unknownKey(at jsontext.Pointer, e entry, known []string) {
	f.reportAt(e.at, "unknown key %.40q in %s: %s", e.name, schema.PartName(at), schema.DidYouMean(e.name, "the keys here are", known))
}

// text returns the text of n, the part at a place, or "" if there is none or n
// was reported. A nil n stands for a missing key.
func (f *fileReader) text(at jsontext.Pointer, n *yaml.Node) string {
	switch {
	case n == nil:
		return ""
	case n.Kind == yaml.AliasNode, n.Kind == yaml.ScalarNode && n.Style&yaml.TaggedStyle != 0: // checkTree has reported it
		f.doubtful[at] = true
	case isNull(n), n.Kind == yaml.ScalarNode && n.Value == "":
		f.misread(at, n, "%s is empty: give it a value or remove it", schema.PartName(at))
	case n.Kind != yaml.ScalarNode:
		f.misread(at, n, "%s: want text, not %s", schema.PartName(at), shape(n))
	case n.Tag != "!!str":
		f.misread(at, n, "YAML reads %.40q as %s, and %s is text: put it in quotes", n.Value, shape(n), schema.PartName(at))
	default:
		return n.Value
	}
	return ""
}

// truth returns whether n, the part at a place, says true.
func (f *fileReader) truth(at jsontext.Pointer, n *yaml.Node) bool {
	switch {
	case n == nil:
		return false
	case n.Kind == yaml.ScalarNode && n.Tag == "!!bool" && n.Style&yaml.TaggedStyle == 0:
		return strings.EqualFold(n.Value, "true")
	case n.Kind == yaml.AliasNode:
		f.doubtful[at] = true
		return false
	}
	f.misread(at, n, "%s: want true or false, not %s", schema.PartName(at), shape(n))
	return false
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// shape names the kind of the YAML node n.
func shape(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Kind == yaml.AliasNode:
		return "an alias"
	}
	switch n.Tag {
	case "!!int", "!!float":
		return "a number"
	case "!!bool":
		return "a truth value"
	case "!!null":
		return "nothing"
	case "!!timestamp":
		return "a time"
	case "!!binary":
		return "binary data"
	}
	return "text"
}
