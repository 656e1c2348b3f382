package declare

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/go-json-experiment/json"
	"go.yaml.in/yaml/v3"
)

// AddOwner returns the text of an owners.yaml with an owner added after the
// others. Everything that stood in text stands in the result: comments, blank
// lines, line ends; and new lines are written in the style of their
// neighbours. Attributes that o leaves empty are left out.
//
// If text has mistakes, or the result would, the error is [Problems]; those of
// the result have the positions at which the new lines would stand. Where the
// file is written in a way that leaves no place for a new line, the error says
// where to add it by hand.
func AddOwner(text []byte, name string, o schema.Owner) ([]byte, error) {
	e, err := edit(text)
	if err != nil {
		return nil, err
	}
	owners, err := e.under(e.root, e.margin, "owners")
	if err != nil {
		return nil, err
	}
	indent := owners.childIndent
	added := append([]string{indent + scalar(name) + ":"}, block(ownerPairs(o), indent+e.step)...)
	added = append(added, indent+e.step+"fields:")
	for _, field := range o.FieldNames() {
		added = append(added, e.field(field, o.Fields[field], indent+e.step+e.step, nil)...)
	}
	return e.finish(owners.insert(added), func(d *schema.Declaration) { d.Owners[name] = o })
}

// ErrNoOwner is wrapped by the error of [AddField] if the file does not declare
// the owner that is to have the field.
var ErrNoOwner = errors.New("owners.yaml has no owner")

// AddField returns the text of an owners.yaml with a field added after the
// other fields of owner, as [AddOwner] does. It returns [ErrNoOwner] if there is
// no such owner.
func AddField(text []byte, owner, name string, f schema.Field) ([]byte, error) {
	e, err := edit(text)
	if err != nil {
		return nil, err
	}
	if _, ok := e.before.Owners[owner]; !ok {
		return nil, fmt.Errorf("%w %.40q: %s", ErrNoOwner, owner, schema.DidYouMean(owner, "its owners are", e.before.OwnerNames()))
	}
	owners, err := e.under(e.root, e.margin, "owners")
	if err != nil {
		return nil, err
	}
	body, err := e.under(owners.node, owners.childIndent, owner)
	if err != nil {
		return nil, err
	}
	fields, err := e.under(body.node, body.childIndent, "fields")
	if err != nil {
		return nil, err
	}
	if fields.key == nil { // an owner that has none yet
		fields.after = body.after
	}
	added := e.field(name, f, fields.childIndent, fields.last)
	return e.finish(fields.insert(added), func(d *schema.Declaration) { d.Owners[owner].Fields[name] = f })
}

// An editor adds lines to a file.
type editor struct {
	text   []byte
	lines  []string
	end    string // of a line
	margin string // the indentation of the outermost level
	step   string // the indentation of one more level
	root   *yaml.Node
	before *schema.Declaration
}

func edit(text []byte) (*editor, error) {
	f, err := read("owners.yaml", text)
	if err != nil {
		return nil, err
	}
	e := &editor{text: text, lines: lines(text), end: "\n", step: "  ", root: f.root, before: &f.said}
	e.observe()
	return e, nil
}

// field returns the lines of a field, in braces or as a block like the
// neighbour, which may be nil.
func (e *editor) field(name string, f schema.Field, indent string, neighbour *yaml.Node) []string {
	key := indent + scalar(name) + ":"
	if e.blockField(neighbour) {
		return append([]string{key}, block(fieldPairs(f), indent+e.step)...)
	}
	return []string{key + " " + flow(fieldPairs(f))}
}

var errLayout = errors.New("owners.yaml is laid out in a way that a line cannot be added to: add it by hand")

// finish returns the text if it says what the file said before, changed by
// change, and nothing else. How YAML is laid out has more forms than are known
// here; this check makes an edit safe all the same.
func (e *editor) finish(text []byte, change func(*schema.Declaration)) ([]byte, error) {
	if _, err := decode(text); err != nil {
		return nil, errLayout
	}
	f, err := read("owners.yaml", text)
	if err != nil {
		return nil, err
	}
	change(e.before)
	want, _ := json.Marshal(e.before, json.Deterministic(true))
	if got, err := json.Marshal(f.said, json.Deterministic(true)); err != nil || !bytes.Equal(got, want) {
		return nil, errLayout
	}
	f.unplaced = true
	f.check()
	if err := f.err(); err != nil {
		return nil, err
	}
	return text, nil
}

// observe learns the file's line ends and the depth of its indentation.
func (e *editor) observe() {
	if i := bytes.IndexByte(e.text, '\n'); i > 0 && e.text[i-1] == '\r' {
		e.end = "\r\n"
	}
	if len(e.root.Content) == 0 {
		return
	}
	margin := e.root.Content[0].Column - 1
	e.margin = strings.Repeat(" ", margin)
	if _, owners := member(e.root, "owners"); owners != nil && len(owners.Content) > 0 {
		if deeper := owners.Content[0].Column - 1 - margin; deeper > 0 {
			e.step = strings.Repeat(" ", deeper)
		}
	}
}

// blockField reports whether a new field is to be written as a block: its
// neighbour is one, or where it has none, the last field of the file.
func (e *editor) blockField(neighbour *yaml.Node) bool {
	if neighbour == nil {
		_, owners := member(e.root, "owners")
		for _, owner := range values(owners) {
			_, fields := member(owner, "fields")
			for _, field := range values(fields) {
				neighbour = field
			}
		}
	}
	return neighbour != nil && neighbour.Kind == yaml.MappingNode && neighbour.Style&yaml.FlowStyle == 0
}

// A slot is a mapping that entries can be added to.
type slot struct {
	*editor
	key, node   *yaml.Node // nil if the file does not have the key yet
	last        *yaml.Node // the value of the last entry, or nil
	head        []string   // lines to add first
	after       int        // how many lines stand before the new ones
	childIndent string
	spaced      bool // a blank line stands between the entries
}

// under returns the slot of the value that the block mapping parent, whose
// keys are indented by indent, has for key. If it has none, the slot makes it,
// at the end of the file unless its user knows a better place.
func (e *editor) under(parent *yaml.Node, indent, key string) (*slot, error) {
	if err := e.inBraces(parent, "the mapping that "+key+" belongs to"); err != nil {
		return nil, err
	}
	k, node := member(parent, key)
	s := &slot{editor: e, key: k, node: node, childIndent: indent + e.step}
	if k == nil {
		s.head, s.after = []string{indent + key + ":"}, len(e.lines)
		return s, nil
	}
	s.after = e.endOfEntry(k)
	if node.Kind == yaml.MappingNode {
		if err := e.inBraces(node, strconv.Quote(key)); err != nil {
			return nil, err
		}
		s.childIndent = strings.Repeat(" ", node.Content[0].Column-1)
		s.last = node.Content[len(node.Content)-1]
		s.spaced = e.spaced(node)
	}
	return s, nil
}

// inBraces returns an error if n is a mapping in braces.
func (e *editor) inBraces(n *yaml.Node, what string) error {
	if n.Kind != yaml.MappingNode || n.Style&yaml.FlowStyle == 0 {
		return nil
	}
	return fmt.Errorf("owners.yaml:%d:%d: %s is written in braces, which no line can be added to: write each of its entries on a line of its own, without braces",
		n.Line, n.Column, what)
}

// endOfEntry returns the number of the last line that belongs to the entry of
// a block mapping with the key k: those after it that are indented deeper.
// Blank lines and comments that are not belong to it only if more follows.
func (e *editor) endOfEntry(k *yaml.Node) int {
	last := k.Line
	for number := k.Line + 1; number <= len(e.lines); number++ {
		line := e.lines[number-1]
		switch text := strings.TrimSpace(line); {
		case len(indentation(line)) >= k.Column && text != "":
			last = number
		case text != "" && !strings.HasPrefix(text, "#"):
			return last
		}
	}
	return last
}

// spaced reports whether a blank line stands before the last of several
// entries of the block mapping n, or before the comment over it.
func (e *editor) spaced(n *yaml.Node) bool {
	if len(n.Content) < 4 {
		return false
	}
	above := n.Content[len(n.Content)-2].Line - 1
	for above > 0 && strings.HasPrefix(strings.TrimSpace(e.lines[above-1]), "#") {
		above--
	}
	return above > 0 && strings.TrimSpace(e.lines[above-1]) == ""
}

// insert returns the file's text with the lines added to the slot.
func (s *slot) insert(added []string) []byte {
	var b strings.Builder
	at := 0 // the offset at which the new lines begin
	for range s.after {
		next := bytes.IndexByte(s.text[at:], '\n')
		if next < 0 {
			at = len(s.text)
			break
		}
		at += next + 1
	}
	b.Write(s.text[:at])
	if s.spaced {
		added = append([]string{""}, added...)
	}
	block := strings.Join(append(s.head, added...), s.end)
	if at > 0 && s.text[at-1] != '\n' {
		b.WriteString(s.end + block) // the last line has no end, and keeps none
	} else {
		b.WriteString(block + s.end)
	}
	b.Write(s.text[at:])
	return []byte(b.String())
}

// values returns the values of the mapping n.
func values(n *yaml.Node) []*yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	var all []*yaml.Node
	for i := 1; i < len(n.Content); i += 2 {
		all = append(all, n.Content[i])
	}
	return all
}
