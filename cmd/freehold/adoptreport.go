package main

import (
	"fmt"
	"iter"
	"strings"

	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/adopt"
	"github.com/go-json-experiment/json/jsontext"
)

// An adoptReport is what adopt prints.
type adoptReport struct {
	File    string             `json:"file"`
	Dir     string             `json:"dir"`
	Absent  bool               `json:"absent"` // the file is not there
	DryRun  bool               `json:"dry_run"`
	Owners  []adoptOwner       `json:"owners"`
	Unset   []adopt.Unset      `json:"unset"`
	Unowned []adopt.Unowned    `json:"unowned"`
	Changed []jsontext.Pointer `json:"changed"` // by somebody else, meanwhile
}

// An adoptOwner is what became of one owner's part.
type adoptOwner struct {
	Owner    string          `json:"owner"`
	Outcome  string          `json:"outcome"`
	Version  sidecar.Version `json:"version,omitzero"`
	Imported []adopt.Item    `json:"imported"`
	Kept     []adopt.Kept    `json:"kept"`
	Same     int             `json:"same"` // as many values the state has already
	Error    string          `json:"error,omitzero"`
}

// take fills r with what was done, and says of each error what says makes of it.
func (r *adoptReport) take(plan *adopt.Plan, done *adopt.Report, says func(text string) string) {
	r.Unset, r.Unowned, r.Changed = plan.Unset, plan.Unowned, done.Changed
	for _, o := range done.Owners {
		owner := adoptOwner{
			Owner: o.Owner, Outcome: o.Outcome.String(), Version: o.Version,
			Imported: append([]adopt.Item{}, o.Imported...), Kept: append([]adopt.Kept{}, o.Kept...), Same: o.Same,
		}
		if o.Err != nil {
			owner.Error = says(failure.WithRemedies(o.Err))
		}
		r.Owners = append(r.Owners, owner)
	}
}

// filled returns r with empty lists in the place of none.
func (r adoptReport) filled() adoptReport {
	r.Owners = append([]adoptOwner{}, r.Owners...)
	r.Unset = append([]adopt.Unset{}, r.Unset...)
	r.Unowned = append([]adopt.Unowned{}, r.Unowned...)
	r.Changed = append([]jsontext.Pointer{}, r.Changed...)
	return r
}

// text returns the report for people: a paragraph for each owner, then what
// went to none of them.
func (r adoptReport) text(d *schema.Declaration) string {
	var b strings.Builder
	for _, o := range r.Owners {
		b.WriteString(o.head(r.DryRun))
		fields := d.Owners[o.Owner].Fields
		for field, items := range byField(o.Imported, func(i adopt.Item) adopt.Item { return i }) {
			fmt.Fprintf(&b, "  %s: %s\n", field, itemText(fields[field], items))
		}
		for field, kept := range byField(o.Kept, func(k adopt.Kept) adopt.Item { return k.Item }) {
			keptText(&b, field, fields[field], kept)
		}
	}
	var lines []string
	for _, unset := range r.Unset {
		lines = append(lines, fmt.Sprintf("%s is %s", display.Escape(string(unset.Pointer)), display.Escape(string(unset.Marker))))
	}
	list(&b, "unset in the file: ", lines)
	lines = nil
	for _, unowned := range r.Unowned {
		lines = append(lines, display.Escape(string(unowned.Pointer))+like(unowned.Like))
	}
	list(&b, "owned by nobody, and left in the file: ", lines)
	return b.String()
}

// head says what became of an owner's part.
func (o adoptOwner) head(dryRun bool) string {
	switch {
	case o.Error != "" && dryRun && len(o.Imported) > 0:
		return fmt.Sprintf("%s would be refused now; once it is not, it would import\n", o.Owner)
	case o.Error != "" && dryRun:
		return fmt.Sprintf("%s would not be imported\n", o.Owner)
	case o.Error != "":
		return fmt.Sprintf("%s not imported\n", o.Owner)
	case dryRun && len(o.Imported) > 0:
		return fmt.Sprintf("%s would import\n", o.Owner)
	case o.Outcome == sidecar.Applied.String() && o.Version.IsZero(): // nothing but claims
		return fmt.Sprintf("%s applied\n", o.Owner)
	case o.Outcome == sidecar.Applied.String():
		return fmt.Sprintf("%s applied version %v\n", o.Owner, o.Version)
	}
	return fmt.Sprintf("%s has %s already\n", o.Owner, display.Count(o.Same, "value", "values"))
}

// byField yields runs of items of one field.
func byField[T any](items []T, of func(T) adopt.Item) iter.Seq2[string, []T] {
	return func(yield func(string, []T) bool) {
		for len(items) > 0 {
			field, n := of(items[0]).Field, 1
			for n < len(items) && of(items[n]).Field == field {
				n++
			}
			if !yield(field, items[:n]) {
				return
			}
			items = items[n:]
		}
	}
}

// itemText returns what was imported into a field: its value, or how much of a
// map, which would fill the screen.
func itemText(f schema.Field, items []adopt.Item) string {
	if f.EffectiveKind() != schema.Map {
		return display.Value(f, items[0].Value)
	}
	keys := map[string]bool{}
	for _, i := range items {
		keys[i.Key] = true
	}
	return fmt.Sprintf("%s at %s", display.Count(len(items), "value", "values"), display.Count(len(keys), "key", "keys"))
}

// keptText says what gave way to what the state has in a field.
func keptText(b *strings.Builder, field string, f schema.Field, kept []adopt.Kept) {
	var lines []string
	for _, k := range kept {
		name, spec := field, f
		if k.Key != "" {
			name += " " + strings.TrimSpace(display.Text(k.Key)+" "+k.Member)
			if spec, _ = f.Member(k.Member); f.Value == nil && k.Member == "" { // the whole entry
				spec = schema.Field{Type: schema.TypeJSON}
			}
		}
		lines = append(lines, fmt.Sprintf("%s is %s, by %s; the file has %s", name, display.Value(spec, k.State), display.Escape(k.Program), display.Value(spec, k.Value)))
	}
	list(b, "  kept: ", lines)
}

// list writes lines, as many as fit a screen.
func list(b *strings.Builder, what string, lines []string) {
	const most = 20
	for i, line := range lines {
		if i == most {
			fmt.Fprintf(b, "%s%d more, which --json lists\n", what, len(lines)-most)
			return
		}
		fmt.Fprintf(b, "%s%s\n", what, line)
	}
}

// like names the declared key that was meant, perhaps.
func like(key string) string {
	if key == "" {
		return ""
	}
	return " (" + display.Escape(key) + " differs in case)"
}
