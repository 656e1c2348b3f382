package breaking

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/declare"
	"github.com/go-json-experiment/json/jsontext"
)

// A Finding is one difference that breaks programs, promises or old files.
type Finding struct {
	Rule string `json:"rule"`
	// File, Line and Column are the place in the changed declaration: of a removed
	// part, that of the part above it. Line and Column count from 1.
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	// Owner in the changed declaration, or the former owner of a removed part;
	// empty if the finding is about the state.
	Owner string `json:"owner"`
	// Field, and the part of it behind a slash: turns/seen, hosts/*/port,
	// mode=idle; empty if the finding is about the owner or the state.
	Field string `json:"field"`
	From  string `json:"from"`
	To    string `json:"to"`
	// Breaks says which programs, promises or files no longer hold.
	Breaks string `json:"breaks"`
	// Was is the place of a removed part in the former declaration.
	Was string `json:"was,omitempty"`
	// Notice says that the finding fails nothing.
	Notice bool `json:"notice,omitzero"`
	// Change is the difference in words: "total_usd went from cost to billing".
	Change string `json:"change"`
	// Upgrade says that states of the former declaration need an upgrade.
	Upgrade bool `json:"upgrade,omitzero"`
}

// Compare returns the parts of old that next breaks, two declarations of one state, in the
// order of the file. If next is nil, the state is no longer declared.
func Compare(old, next *declare.Source) []Finding {
	c := comparison{old: old, next: next, pairs: map[schema.Change]pair{}}
	if next == nil {
		line, col := old.Place("/state")
		c.found = append(c.found, Finding{Rule: "STATE_REMOVED", File: old.File, Line: line, Column: col, From: old.Declaration.State,
			Change: fmt.Sprintf("state %s is no longer declared", old.Declaration.State), Breaks: "its programs do not compile, and its directories have no declaration"})
		return c.found
	}
	c.state()
	for _, change := range old.Declaration.Compare(next.Declaration, c.pair) {
		c.change(change)
	}
	slices.SortStableFunc(c.found, order)
	return c.found
}

func order(a, b Finding) int {
	return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}

// A comparison gathers the findings of one state.
type comparison struct {
	old, next *declare.Source
	pairs     map[schema.Change]pair // by owner, field and part
	found     []Finding
}

// A pair is a part, its predecessor and the place of that.
type pair struct {
	was      schema.Change
	now, old schema.Field
}

// add adds a finding about the part at a place.
func (c *comparison) add(f Finding, at jsontext.Pointer) {
	rule := named(f.Rule)
	f.File, f.Notice, f.Upgrade = c.next.File, rule.Group == notices, rule.Upgrade
	f.Line, f.Column = c.next.Place(at)
	c.found = append(c.found, f)
}

// remove adds a finding about a part that only the former declaration has.
func (c *comparison) remove(f Finding, at jsontext.Pointer) {
	line, col := c.old.Place(at)
	f.Was = fmt.Sprintf("%s:%d:%d", c.old.File, line, col)
	place := schema.PointerTo(f.Owner, "")
	if _, stays := c.next.Declaration.Owners[f.Owner]; !stays {
		place = "/owners"
	}
	c.add(f, place)
}

// state compares all that belongs to no owner.
func (c *comparison) state() {
	old, now := c.old.Declaration, c.next.Declaration
	if old.Instances != now.Instances {
		from, to := old.Instances.String(), now.Instances.String()
		c.add(Finding{Rule: "INSTANCES_CHANGED", From: old.Instances.By, To: now.Instances.By,
			Change: fmt.Sprintf("state %s had %s, has %s", now.State, from, to), Breaks: "no program opens a state that was made before, and no upgrade converts one"}, "/instances")
	}
	if old.Package != now.Package || c.old.Folder != c.next.Folder {
		from, to := old.Package, now.Package
		if c.old.Folder != c.next.Folder {
			from, to = c.old.Folder+", package "+from, c.next.Folder+", package "+to
		}
		c.add(Finding{Rule: "PACKAGE_RENAMED", From: from, To: to,
			Change: fmt.Sprintf("the view package of %s was %s, becomes %s", now.State, from, to), Breaks: "code that imports it does not compile"}, "/package")
	}
}
