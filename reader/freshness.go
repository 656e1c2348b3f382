package reader

import (
	"fmt"
	"time"

	"github.com/freehold-dev/freehold/sidecar/store"
)

// A Verdict says whether a value was computed from the newest versions of its
// dependencies.
type Verdict string

// The verdicts. For an action that needs a value that is up to date, only [Fresh]
// will do.
const (
	// Fresh: every dependency is at the version that the writer had seen.
	Fresh Verdict = "fresh"
	// Stale: a dependency has changed since.
	Stale Verdict = "stale"
	// Ambiguous: a dependency is an event that has begun and is not done.
	Ambiguous Verdict = "ambiguous"
	// Unknown: the versions do not tell.
	Unknown Verdict = "unknown"
)

// A Reason is the stable code of a [Verdict]: current, independent, overtaken,
// begun, unset, unreadable, not-observed, dependency-unreadable,
// dependency-behind or dependency-forked. FORMAT.md defines each.
type Reason string

// A Freshness is a verdict with its reason. Versions decide, never clocks.
type Freshness struct {
	Verdict Verdict `json:"verdict"`
	Reason  Reason  `json:"reason"`
	// Field is the dependency that decided; or empty.
	Field string `json:"field,omitzero"`
	// Says is a sentence without its full stop.
	Says string `json:"says"`
}

// Fresh reports whether the verdict is [Fresh].
func (f Freshness) Fresh() bool { return f.Verdict == Fresh }

// weight orders the verdicts: of several dependencies, the first of the heaviest
// verdict decides. A certain change outweighs a possible one.
var weight = map[Verdict]int{Fresh: 0, Unknown: 1, Ambiguous: 2, Stale: 3}

// Freshness says whether the field was computed from the newest versions of its
// direct dependencies. A field without dependencies is fresh; a part of a map is
// as fresh as the whole. If a view cannot show all pending patches of an owner, no
// field of that owner, and none that depends on it, is known to be fresh.
func (e Entry) Freshness() Freshness {
	p, err := e.place()
	if err != nil {
		return Freshness{Unknown, "unreadable", "", err.Error()}
	}
	if !p.field.Dependent() {
		return Freshness{Fresh, "independent", "", e.name + " depends on nothing"}
	}
	o := e.view.owners[p.owner]
	switch {
	case o.Err != nil:
		return Freshness{Unknown, "unreadable", "", fmt.Sprintf("%s cannot be had: its owner's sidecar is %s", e.name, string(o.Status))}
	case o.stored.Value(e.name) == nil:
		return Freshness{Unknown, "unset", "", e.name + " is unset"}
	}
	result := Freshness{Fresh, "current", "", "all that " + e.name + " depends on is as its writer had seen it"}
	for _, f := range e.Dependencies() {
		if weight[f.Verdict] > weight[result.Verdict] {
			result = f
		}
	}
	if result.Fresh() && o.PendingErr != nil {
		return Freshness{Unknown, "unreadable", "", fmt.Sprintf("%s may have another value: %s", e.name, o.unshown())}
	}
	return result
}

// unshown returns PendingErr in words.
func (o *owner) unshown() string {
	return "of what its owner " + o.Name + " has deferred, not all can be shown"
}

// Dependencies returns the freshness of e by each of its direct dependencies, in
// the order of the declaration; none if e has no dependency or no value.
func (e Entry) Dependencies() []Freshness {
	p, err := e.place()
	if err != nil || !p.field.Dependent() {
		return nil
	}
	o := e.view.owners[p.owner]
	if o.Err != nil || o.stored.Value(e.name) == nil {
		return nil
	}
	observed := o.stored.Observed(e.name)
	var each []Freshness
	for _, of := range p.field.DependsOn {
		seen, known := observed[of]
		each = append(each, e.against(of, seen, known))
	}
	return each
}

// against returns the freshness by the dependency of, of which the writer of e had
// seen the version seen, if that is known.
//
// Pending patches have no order: one that comes later may be folded before
// another, which keeps its version and gets another value. So a pending patch is
// newer than every observed version.
func (e Entry) against(of string, seen store.Version, known bool) Freshness {
	_, o, err := e.view.Field(of).find()
	if err != nil || o.Err != nil {
		status := store.Status("undeclared")
		if err == nil {
			status = o.Status
		}
		return Freshness{Unknown, "dependency-unreadable", of, fmt.Sprintf("%s depends on %s, which cannot be had: its owner's sidecar is %s", e.name, of, string(status))}
	}
	_, by, _ := o.stored.Field(of)
	held, open := by.Version, o.stored.Open(of)
	switch {
	case known && held.IsPending():
		return Freshness{Stale, "overtaken", of, fmt.Sprintf("%s changed in patch %s, at %s, by %s, process %d, which is deferred and in no commit yet; the writer of %s had seen %s", of, held.Nonce, by.At.Format(time.RFC3339Nano), by.Program, by.PID, e.name, seenVersion(seen))}
	case known && held.After(seen):
		return Freshness{Stale, "overtaken", of, fmt.Sprintf("%s changed in version %v, at %s, by %s, process %d, and the writer of %s had seen %s", of, held, by.At.Format(time.RFC3339Nano), by.Program, by.PID, e.name, seenVersion(seen))}
	case len(open) > 0:
		return Freshness{Ambiguous, "begun", of, fmt.Sprintf("%s began at %s, by %s, process %d, and is not done", of, open[0].At.Format(time.RFC3339Nano), open[0].Program, open[0].PID)}
	case o.PendingErr != nil: // it may have changed
		return Freshness{Unknown, "dependency-unreadable", of, fmt.Sprintf("%s depends on %s, which may have changed: %s", e.name, of, o.unshown())}
	case !known:
		return Freshness{Unknown, "not-observed", of, fmt.Sprintf("the writer of %s did not say what it had seen of %s", e.name, of)}
	case held == seen:
		return Freshness{Fresh, "current", of, fmt.Sprintf("%s is as the writer of %s had seen it", of, e.name)}
	case seen.After(held):
		return Freshness{Unknown, "dependency-behind", of, fmt.Sprintf("the writer of %s had seen version %v of %s, and what is there is older: %s", e.name, seen, of, seenVersion(held))}
	}
	return Freshness{Unknown, "dependency-forked", of, fmt.Sprintf("the writer of %s had seen version %v of %s, and another commit of that number, %v, is there", e.name, seen, of, held)}
}

// seenVersion returns an observed version in words.
func seenVersion(v store.Version) string {
	switch {
	case v.IsZero():
		return "that nobody had written it"
	case v.IsPending():
		return "patch " + v.Nonce + ", which was deferred"
	}
	return "version " + v.String()
}
