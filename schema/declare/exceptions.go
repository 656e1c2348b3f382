package declare

import (
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// An Exception allows one finding of package breaking.
type Exception struct {
	Rule, Owner, Field, Reason string
	// Line and Col are the place of the exception in its file.
	Line, Col int
}

var exceptionKeys = []string{"rule", "owner", "field", "reason"}

// ParseExceptions reads the text of an owners.breaking.yaml: a list of exceptions,
// each with a rule and a reason. The file may be empty. If there are mistakes, the
// error is [Problems] and holds all of them.
func ParseExceptions(file string, text []byte) ([]Exception, error) {
	r := &reporter{file: file, doubtful: map[jsontext.Pointer]bool{}}
	r.checkText(text)
	if err := r.err(); err != nil {
		return nil, err
	}
	documents, err := decode(text)
	switch {
	case err != nil:
		r.syntax(text, err)
	case len(documents) == 0 || empty(documents[0]):
	case len(documents) > 1:
		r.reportAt(position(documents[1]), "a second YAML document begins here: keep one list in a file")
	default:
		root := documents[0].Content[0]
		r.checkTree(root, text)
		return r.exceptions(root), r.err()
	}
	return nil, r.err()
}

func (r *reporter) exceptions(root *yaml.Node) (all []Exception) {
	if root.Kind != yaml.SequenceNode {
		r.reportAt(position(root), "want a list of {rule: RULE, field: FIELD, reason: TEXT}, not %s", shape(root))
		return nil
	}
	for _, n := range root.Content {
		if n.Kind != yaml.MappingNode {
			r.reportAt(position(n), "want {rule: RULE, field: FIELD, reason: TEXT}, not %s", shape(n))
			continue
		}
		all = append(all, r.exception(n))
	}
	return all
}

func (r *reporter) exception(n *yaml.Node) Exception {
	values := map[string]string{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		_, twice := values[key.Value]
		switch {
		case !slices.Contains(exceptionKeys, key.Value):
			r.reportAt(position(key), "unknown key %.40q: %s", key.Value, schema.DidYouMean(key.Value, "the keys here are", exceptionKeys))
		case twice:
			r.reportAt(position(key), "the key %s stands twice in one exception: keep one of them", key.Value)
		case value.Kind != yaml.ScalarNode || value.Tag != "!!str":
			r.reportAt(position(value), "%s: want text, not %s: put it in quotes", key.Value, shape(value))
		case strings.TrimSpace(value.Value) == "":
			r.reportAt(position(value), "%s is blank: give it a value or remove it", key.Value)
		}
		values[key.Value] = value.Value
	}
	for _, key := range []string{"rule", "reason"} {
		if _, ok := values[key]; !ok {
			r.reportAt(position(n), "the exception has no %s: add one", key)
		}
	}
	return Exception{values["rule"], values["owner"], values["field"], values["reason"], n.Line, n.Column}
}
