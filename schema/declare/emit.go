package declare

import (
	_ "embed" // for the template
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// A pair is one line of a block mapping, or one entry of a flow mapping. The
// value is YAML already.
type pair struct{ key, value string }

// fieldPairs returns the attributes of f, in the order of the documentation. Its parts
// are written in braces.
func fieldPairs(f schema.Field) []pair {
	pairs := appendText(nil, "type", string(f.Type))
	pairs = appendText(pairs, "kind", string(f.Kind))
	if f.Keys {
		pairs = append(pairs, pair{"keys", "true"})
	}
	if len(f.Values) > 0 {
		values := make([]string, len(f.Values))
		for i, v := range f.Values {
			values[i] = scalar(v)
		}
		pairs = append(pairs, pair{"values", "[" + strings.Join(values, ", ") + "]"})
	}
	pairs = appendPart(pairs, "of", f.Of)
	pairs = appendMembers(pairs, "fields", f.Fields)
	pairs = appendMembers(pairs, "record", f.Record)
	pairs = appendPart(pairs, "value", f.Value)
	if f.Dependent() {
		pairs = append(pairs, pair{"depends_on", "[" + strings.Join(f.DependsOn, ", ") + "]"})
	}
	pairs = appendText(pairs, "doc", f.Doc)
	pairs = appendText(pairs, "unit", f.Unit)
	pairs = appendText(pairs, "go", f.Go)
	pairs = appendText(pairs, "legacy", f.Legacy)
	return appendText(pairs, "was", f.Was)
}

// ownerPairs returns the attributes of o without its fields.
func ownerPairs(o schema.Owner) []pair {
	pairs := appendText(nil, "doc", o.Doc)
	pairs = appendText(pairs, "mode", string(o.Mode))
	var busy []pair
	busy = appendText(busy, "wait", o.Busy.Wait)
	busy = appendText(busy, "then", string(o.Busy.Then))
	if len(busy) > 0 {
		pairs = append(pairs, pair{"busy", flow(busy)})
	}
	pairs = appendText(pairs, "durability", string(o.Durability))
	return appendText(pairs, "home", o.Home)
}

func appendText(pairs []pair, key, text string) []pair {
	if text == "" {
		return pairs
	}
	return append(pairs, pair{key, scalar(text)})
}

func appendPart(pairs []pair, key string, part *schema.Field) []pair {
	if part == nil {
		return pairs
	}
	return append(pairs, pair{key, flow(fieldPairs(*part))})
}

func appendMembers(pairs []pair, key string, members map[string]schema.Field) []pair {
	if len(members) == 0 {
		return pairs
	}
	var entries []pair
	for _, name := range slices.Sorted(maps.Keys(members)) {
		entries = append(entries, pair{scalar(name), flow(fieldPairs(members[name]))})
	}
	return append(pairs, pair{key, flow(entries)})
}

// flow returns the pairs as a mapping in braces.
func flow(pairs []pair) string {
	entries := make([]string, len(pairs))
	for i, p := range pairs {
		entries[i] = p.key + ": " + p.value
	}
	return "{" + strings.Join(entries, ", ") + "}"
}

// block returns the pairs as lines indented by indent.
func block(pairs []pair, indent string) []string {
	block := make([]string, len(pairs))
	for i, p := range pairs {
		block[i] = indent + p.key + ": " + p.value
	}
	return block
}

// plainText is text that means itself in YAML without quotes, also in braces.
// There is more of it; quotes do not hurt the rest.
var plainText = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9 _./()'+-]*$`)

// truthWords are text to this parser and truth values to older ones.
var truthWords = []string{"y", "n", "yes", "no", "on", "off"}

// scalar returns text as YAML, in quotes where it needs them.
func scalar(text string) string {
	var n yaml.Node
	if plainText.MatchString(text) && strings.TrimSpace(text) == text && !slices.Contains(truthWords, strings.ToLower(text)) &&
		yaml.Unmarshal([]byte(text), &n) == nil && n.Content[0].Tag == "!!str" {
		return text
	}
	// Every JSON string is a YAML string. Invalid UTF-8 is replaced here,
	// and refused as another declaration when the result is read again.
	quoted, _ := jsontext.AppendQuote(nil, strings.ToValidUTF8(text, "\ufffd"))
	return string(quoted)
}

// OwnersSchemaPath is the path of the generated schema of owners.yaml, relative to
// that file: editors find the schema of the release in use, also without a network.
const OwnersSchemaPath = "schema/owners.schema.json"

//go:embed template.yaml
var template string

// Template returns a first owners.yaml for the state: one owner, with comments
// that say how to go on. [Parse] finds no mistake in it unless state is no name
// for a state; a state whose name cannot be a package's gets a "package:".
func Template(state string) []byte {
	pkg := ""
	if badPackage(state) != "" {
		pkg = "\npackage: " + otherPackage(state) + " # " + state + " itself " + badPackage(state)
	}
	return []byte(strings.NewReplacer("SCHEMA", OwnersSchemaPath, "STATE", scalar(state), "\nPACKAGE", pkg).Replace(template))
}
