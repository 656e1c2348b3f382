package declare

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"go.yaml.in/yaml/v3"
)

// maxDependencies is the most fields that one may depend on: each is a version
// in the sidecar and in every token.
const maxDependencies = 16

// readDependencies reads which fields the value is computed from. Whether there
// are such fields shows only when all owners were read.
func (s *spec) readDependencies(n *yaml.Node) {
	switch {
	case n == nil || n.Kind == yaml.AliasNode:
		return
	case n.Kind != yaml.SequenceNode:
		s.report(at(n), "what %s depends on: want a list of field names in brackets, not %s", s.what, shape(n))
		return
	case len(n.Content) == 0:
		s.report(at(n), `%s depends on nothing: remove "depends_on", or name a field of another owner`, s.what)
		return
	case len(n.Content) > maxDependencies:
		s.report(at(n), "%s depends on %d fields and may depend on %d: name those that change last", s.what, len(n.Content), maxDependencies)
		return
	}
	if kind := s.out.field.EffectiveKind(); !slices.Contains(schema.DependentKinds(), kind) {
		s.report(at(n), "%s is of kind %s, which is written by its parts, and what was seen is kept for a whole field: let a field of kind %s depend on them",
			s.what, kind, list(words(schema.DependentKinds()...), "or"))
		return
	}
	for i, child := range n.Content {
		if name, ok := s.text(child, fmt.Sprintf("dependency %d of %s", i+1, s.what)); ok {
			s.out.field.DependsOn = append(s.out.field.DependsOn, name)
			s.out.depends = append(s.out.depends, at(child))
		}
	}
}

// checkDependencies reports dependencies on what no value can depend on, and
// owners that depend on each other in a circle. A file whose fields are in doubt
// already is not looked at: a name that was misspelt once would be reported at
// every mention.
func (f *fileReader) checkDependencies() {
	d := &schema.Declaration{Owners: map[string]schema.Owner{}}
	for _, o := range f.owners {
		d.Owners[o.name] = o.owner
	}
	before := len(f.problems)
	for _, o := range f.owners {
		for _, field := range o.fields {
			for i, name := range field.field.DependsOn {
				f.checkDependency(d, o.name, field, i, name)
			}
		}
	}
	if cycle := d.DependencyCycle(); cycle != nil && len(f.problems) == before {
		f.reportCycle(d, cycle)
	}
}

func (f *fileReader) checkDependency(d *schema.Declaration, owner string, field fieldEntry, i int, name string) {
	at, what := field.depends[i], "field "+field.name
	other, declared := d.OwnerOf(name)
	switch {
	case slices.Contains(field.field.DependsOn[:i], name):
		f.report(at, "%s depends on %s twice: remove one", what, quoteOdd(name))
	case name == field.name:
		f.report(at, "%s depends on itself: name fields of other owners", what)
	case !declared:
		f.report(at, "%s depends on %s, which no owner declares: %s", what, quoteOdd(name), f.suggestion(d, owner, name))
	case other == owner:
		f.report(at, "%s depends on %s, which is of the same owner %s and committed with it: remove it", what, name, owner)
	case d.NotObservable(name) != "":
		f.report(at, "%s depends on %s (%s), %s: name another field", what, name, f.cite(f.fields[name].at), d.NotObservable(name))
	}
}

// mostGuesses bounds how often all fields are compared with one name: in a file
// with thousands of each that would take minutes, and help nobody.
const mostGuesses = 16

// suggestion ends the message about a field of owner that depends on an unknown
// one, called name.
func (f *fileReader) suggestion(d *schema.Declaration, owner, name string) string {
	if f.guesses++; f.guesses <= mostGuesses {
		names := slices.Sorted(maps.Keys(f.fields))
		names = slices.DeleteFunc(names, func(n string) bool { o, _ := d.OwnerOf(n); return o == owner })
		if w, ok := nearest(name, names); ok {
			return "did you mean " + w + "?"
		}
	}
	return "name a field of another owner"
}

// quoteOdd returns a name as messages show it: quoted unless it is a name.
func quoteOdd(name string) string {
	if schema.ValidName(name) {
		return name
	}
	return quote(name)
}

// reportCycle names, for each of the owners, the field by which it depends on
// the next.
func (f *fileReader) reportCycle(d *schema.Declaration, cycle []string) {
	var links []string
	var first place
	for i, owner := range cycle {
		next := cycle[(i+1)%len(cycle)]
		field, name, at := f.link(d, owner, next)
		if i == 0 {
			first = at
			links = append(links, fmt.Sprintf("%s of %s depends on %s of %s", field, owner, name, next))
			continue
		}
		links = append(links, fmt.Sprintf("%s of %s on %s of %s at %s", field, owner, name, next, f.cite(at)))
	}
	f.report(first, "the owners %s depend on each other in a circle, so that none can be read before what it depends on: %s; remove one of these",
		list(cycle, "and"), strings.Join(links, ", "))
}

// link returns a field of owner that depends on one of next, that one, and
// where it says so.
func (f *fileReader) link(d *schema.Declaration, owner, next string) (field, name string, at place) {
	for _, o := range f.owners {
		for _, entry := range o.fields {
			for i, name := range entry.field.DependsOn {
				if other, _ := d.OwnerOf(name); o.name == owner && other == next {
					return entry.name, name, entry.depends[i]
				}
			}
		}
	}
	return "", "", place{}
}
