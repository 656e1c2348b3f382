package declare

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

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

// An entry is one key of a mapping with its value.
type entry struct {
	name  string
	at    place // of the key
	value *yaml.Node
}

// entries returns the entries of the mapping n in file order, each name once.
// what names the mapping in messages; want says what it should look like.
// A missing value is the same as an empty mapping.
func (r *reporter) entries(n *yaml.Node, what, want string) []entry {
	switch {
	case n.Kind == yaml.AliasNode || isNull(n):
		return nil
	case n.Kind != yaml.MappingNode:
		r.report(at(n), "%s: want %s, not %s", what, want, shape(n))
		return nil
	}
	var all []entry
	seen := map[string]place{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if !r.checkKey(key, what) {
			continue
		}
		if first, ok := seen[key.Value]; ok {
			r.report(at(key), "%s is in %s twice, first at %s: keep one of them", quote(key.Value), what, r.cite(first))
			continue
		}
		seen[key.Value] = at(key)
		all = append(all, entry{key.Value, at(key), n.Content[i+1]})
	}
	return all
}

// checkKey reports a key that is not text.
func (r *reporter) checkKey(key *yaml.Node, what string) bool {
	switch {
	case key.Kind == yaml.AliasNode || key.Tag == "!!merge":
		return false // checkTree has reported it
	case key.Kind != yaml.ScalarNode:
		r.report(at(key), "a key of %s: want a name, not %s", what, shape(key))
		return false
	case key.Tag != "!!str" && key.Style&yaml.TaggedStyle == 0:
		r.report(at(key), "YAML reads the key %s of %s as %s: put it in quotes", quote(key.Value), what, shape(key))
		return false
	}
	return true
}

// members returns the values of a mapping whose keys this release knows. Keys
// that only a later release knows are reported as such, others as unknown.
func (r *reporter) members(n *yaml.Node, what, want string, known, later []string) map[string]*yaml.Node {
	values := map[string]*yaml.Node{}
	for _, e := range r.entries(n, what, want) {
		if slices.Contains(known, e.name) {
			values[e.name] = e.value
		} else {
			r.unknownKey(e, what, known, later)
		}
	}
	return values
}

// unknownKey reports the entry e, whose key is none of known.
func (r *reporter) unknownKey(e entry, what string, known, later []string) {
	if slices.Contains(later, e.name) {
		r.report(e.at, "%q is not supported by this release: remove it", e.name)
		return
	}
	r.report(e.at, "unknown key %s in %s: %s", quote(e.name), what, didYouMean(e.name, "the keys here are", known))
}

// text returns the text of n, or false if there is none or it was reported. A
// nil n stands for a key that is not there.
func (r *reporter) text(n *yaml.Node, what string) (string, bool) {
	switch {
	case n == nil || n.Kind == yaml.AliasNode:
		return "", false
	case isNull(n), n.Kind == yaml.ScalarNode && n.Value == "":
		r.report(at(n), "%s is empty: give it a value or remove it", what)
		return "", false
	case n.Kind != yaml.ScalarNode:
		r.report(at(n), "%s: want text, not %s", what, shape(n))
		return "", false
	case n.Style&yaml.TaggedStyle != 0:
		return "", false // checkTree has reported it
	case n.Tag != "!!str":
		r.report(at(n), "YAML reads %s as %s, and %s is text: put it in quotes", quote(n.Value), shape(n), what)
		return "", false
	}
	return n.Value, true
}

// word returns the text of n, the value of what of whose, which must be one of
// the words.
func (r *reporter) word(n *yaml.Node, what, whose string, words []string) (string, bool) {
	text, ok := r.text(n, "the "+what+" of "+whose)
	if !ok || slices.Contains(words, text) {
		return text, ok
	}
	r.report(at(n), "unknown %s %s of %s: %s", what, quote(text), whose, didYouMean(text, "the values are", words))
	return "", false
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// shape says in words what kind of YAML n is.
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

// words returns all as plain text.
func words[T ~string](all ...T) []string {
	plain := make([]string, len(all))
	for i, w := range all {
		plain[i] = string(w)
	}
	return plain
}
