package breaking

import (
	"fmt"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/declare"
)

// Exceptions is the name of the file, beside an owners.yaml, with the findings that
// are allowed.
const Exceptions = "owners.breaking.yaml"

// Except returns the findings about one state that no exception in text, a file of
// that name, allows, and one finding for each exception that allows nothing. It
// returns [declare.Problems] if text has mistakes: an exception has a reason, and
// names its one finding in full.
func Except(found []Finding, file string, text []byte) (left []Finding, err error) {
	exceptions, err := declare.ParseExceptions(file, text)
	if err != nil {
		return nil, err
	}
	var problems declare.Problems
	allowed := map[int]bool{}
	for i, e := range exceptions {
		problem, matches := check(e, exceptions[:i]), matches(e, found)
		if problem == "" && len(matches) > 1 {
			problem = fmt.Sprintf("%s of %s is found for %s and for %s: name the owner of one", e.Rule, e.Field, found[matches[0]].Owner, found[matches[1]].Owner)
		}
		if problem != "" {
			problems = append(problems, declare.Problem{File: file, Line: e.Line, Col: e.Col, What: problem})
			continue
		}
		for _, i := range matches {
			allowed[i] = true
		}
		if len(matches) == 0 {
			left = append(left, Finding{Rule: stale, File: file, Line: e.Line, Column: e.Col, Owner: e.Owner, Field: e.Field, From: e.Rule,
				Change: fmt.Sprintf("the exception to %s%s allows nothing", e.Rule, about(e)), Breaks: "the next such finding would pass unseen: remove the exception"})
		}
	}
	if problems != nil {
		return nil, problems
	}
	for i, f := range found {
		if !allowed[i] {
			left = append(left, f)
		}
	}
	slices.SortStableFunc(left, order)
	return left, nil
}

// matches returns the indices of the findings that e names.
func matches(e declare.Exception, found []Finding) (all []int) {
	for i, f := range found {
		if f.Rule == e.Rule && f.Field == e.Field && (f.Owner == e.Owner || e.Owner == "" && e.Field != "") {
			all = append(all, i)
		}
	}
	return all
}

// check returns the mistake of an exception, or "".
func check(e declare.Exception, before []declare.Exception) string {
	var ids []string
	for _, r := range rules {
		if r.ID != stale {
			ids = append(ids, r.ID)
		}
	}
	if e.Rule == stale {
		return "no exception allows " + stale + ": remove the exception that allows nothing"
	}
	if !slices.Contains(ids, e.Rule) {
		return fmt.Sprintf("unknown rule %.40q: %s", e.Rule, schema.DidYouMean(e.Rule, "the rules are", ids))
	}
	field, _, _ := strings.Cut(e.Field, "/")
	field, _, _ = strings.Cut(field, "=")
	switch of := named(e.Rule).Of; {
	case e.Owner != "" && !schema.ValidName(e.Owner), e.Field != "" && !schema.ValidName(field):
		return fmt.Sprintf("%.80q names no part: an exception allows one finding, and has no wildcard", strings.Trim(e.Owner+" "+e.Field, " "))
	case of == "field" && e.Field == "":
		return e.Rule + " is about a field: name the field"
	case of == "owner" && e.Owner == "":
		return e.Rule + " is about an owner: name the owner"
	case of == "owner" && e.Field != "":
		return e.Rule + " is about an owner: remove the field"
	case of == "state" && e.Owner+e.Field != "":
		return e.Rule + " is about the whole state: remove owner and field"
	case slices.ContainsFunc(before, func(b declare.Exception) bool { return b.Rule == e.Rule && b.Owner == e.Owner && b.Field == e.Field }):
		return fmt.Sprintf("the exception to %s%s stands here twice: remove one", e.Rule, about(e))
	}
	return ""
}

// about names the part that an exception is about.
func about(e declare.Exception) string {
	switch {
	case e.Field != "":
		return " of field " + e.Field
	case e.Owner != "":
		return " of owner " + e.Owner
	}
	return ""
}
