package declare

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/freehold-dev/freehold/schema"
)

// A Section describes one mapping in owners.yaml, as the JSON Schema of the file
// does: its title, its meaning and its keys.
type Section struct {
	// Name is that of the definition in the schema, Owner for example, and empty for
	// the file itself.
	Name string
	Doc  string
	Keys []Key
}

// A Key describes one key of a mapping.
type Key struct {
	Name, Doc string
	// Example is one line of YAML with the key.
	Example string
	// Default is the value of a key that is left out, if the schema has one.
	Default string
	// Values are all that the key may have, with their meanings, if they are few.
	Values, Meanings []string
}

// Reference returns the keys of owners.yaml: those of the file first, then those
// of the other mappings in the order in which a reader meets them.
func Reference() []Section {
	var file yaml.Node // JSON is YAML, and nodes keep its order
	if err := yaml.Unmarshal(schema.OwnersSchema, &file); err != nil {
		panic(err) // tests read it
	}
	root := file.Content[0]
	sections := []Section{section("", root)}
	for _, name := range []string{"Instances", "Owner", "Busy", "Field", "Column", "Value", "Member", "Element"} {
		sections = append(sections, section(name, at(at(root, "$defs"), name)))
	}
	return sections
}

func section(name string, of *yaml.Node) Section {
	s := Section{Name: name, Doc: text(of, "description")}
	properties := at(of, "properties").Content
	for i := 0; i+1 < len(properties); i += 2 {
		s.Keys = append(s.Keys, key(properties[i].Value, properties[i+1]))
	}
	return s
}

func key(name string, of *yaml.Node) Key {
	k := Key{Name: name, Doc: text(of, "description"), Default: text(of, "default"),
		Values: texts(of, "enum"), Meanings: texts(of, "enumDescriptions")}
	if examples := at(of, "examples").Content; len(examples) > 0 {
		k.Example = name + ": " + oneLine(examples[0])
	}
	return k
}

// at returns the value of a key of the mapping n, or an empty node.
func at(n *yaml.Node, key string) *yaml.Node {
	if _, value := member(n, key); value != nil {
		return value
	}
	return new(yaml.Node)
}

func text(n *yaml.Node, key string) string { return at(n, key).Value }

func texts(n *yaml.Node, key string) (all []string) {
	for _, item := range at(n, key).Content {
		all = append(all, item.Value)
	}
	return all
}

// oneLine returns an example as a person writes it: in braces, with quotes only
// where they are needed.
func oneLine(n *yaml.Node) string {
	var entries []string
	switch n.Kind {
	case yaml.MappingNode:
		var pairs []pair
		for i := 0; i+1 < len(n.Content); i += 2 {
			pairs = append(pairs, pair{scalar(n.Content[i].Value), oneLine(n.Content[i+1])})
		}
		return flow(pairs)
	case yaml.SequenceNode:
		for _, item := range n.Content {
			entries = append(entries, oneLine(item))
		}
		return "[" + strings.Join(entries, ", ") + "]"
	}
	if n.Tag != "!!str" {
		return n.Value
	}
	return scalar(n.Value)
}
