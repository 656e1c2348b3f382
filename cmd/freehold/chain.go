package main

import (
	"fmt"

	"github.com/freehold-dev/freehold/reader"
)

// freshness says in sentences whether a field was computed from the newest of
// what it depends on, and the same of those in turn.
func freshness(view *reader.View, field string) (t sentences) {
	f, _ := view.Declaration().Joined(field)
	if !f.Dependent() {
		return nil
	}
	whole := view.Field(field).Freshness()
	t.say("It depends on %s.", enumerate(f.DependsOn))
	t.seen(view, field)
	t.say("It is %s (%s): %s.", whole.Verdict, whole.Reason, visible(whole.String()))
	t.others(view, field, whole)
	for _, l := range chainOf(view, field) {
		whole := view.Field(l.Field).Freshness()
		t.say("%s in turn depends on %s, and is %s (%s): %s.", l.Field, enumerate(l.DependsOn), whole.Verdict, whole.Reason, visible(whole.String()))
		t.others(view, l.Field, whole)
	}
	return t
}

// seen says what the writer of a field had seen of what it depends on, if it said
// so.
func (t *sentences) seen(view *reader.View, field string) {
	by, _ := view.Field(field).Provenance()
	var parts []string
	for _, name := range by.Observed.Fields() {
		switch version, _ := by.Observed.Version(name); {
		case version.IsZero():
			parts = append(parts, name+" when nobody had written it")
		case version.IsPending():
			parts = append(parts, fmt.Sprintf("%s in patch %s, which was deferred", name, version.Nonce))
		default:
			parts = append(parts, fmt.Sprintf("%s in version %s", name, version))
		}
	}
	if len(parts) > 0 {
		t.say("Its writer had seen %s.", enumerate(parts))
	}
}

// others says how matters stand with what field depends on beside what has
// decided.
func (t *sentences) others(view *reader.View, field string, whole reader.Freshness) {
	for _, f := range view.Field(field).Dependencies() {
		if f.Field != whole.Field && !whole.Fresh() {
			t.say("By %s alone it would be %s (%s): %s.", f.Field, f.Verdict, f.Reason, visible(f.String()))
		}
	}
}

// A link is a field that others depend on and that depends on others in turn.
type link struct {
	Field        string           `json:"field"`
	DependsOn    []string         `json:"depends_on"`
	Freshness    *freshnessCode   `json:"freshness"`
	Dependencies []*freshnessCode `json:"dependencies"`
}

// chainOf returns what a field depends on, by one step or more, that depends on
// others. Declarations have no circles, but two ways may lead to one field, which
// is told once.
func chainOf(view *reader.View, field string) (chain []link) {
	told := map[string]bool{}
	var below func(field string)
	below = func(field string) {
		f, _ := view.Declaration().Joined(field)
		for _, name := range f.DependsOn {
			on, _ := view.Declaration().Joined(name)
			if !on.Dependent() || told[name] {
				continue
			}
			told[name] = true
			chain = append(chain, link{name, on.DependsOn, codeOf(view.Field(name).Freshness()), codesOf(view, name)})
			below(name)
		}
	}
	below(field)
	return chain
}

// codesOf returns how matters stand with each thing that a field depends on.
func codesOf(view *reader.View, field string) (codes []*freshnessCode) {
	for _, f := range view.Field(field).Dependencies() {
		codes = append(codes, codeOf(f))
	}
	return codes
}
