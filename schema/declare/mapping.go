package declare

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

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
