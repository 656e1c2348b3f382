package schema

import (
	"fmt"
	"slices"
)

// A Verb is the effect of a write on its field.
type Verb string

// The verbs of a patch, each for the kinds of field named after it.
const (
	VerbSet    Verb = "set"    // value
	VerbClear  Verb = "clear"  // value
	VerbAdd    Verb = "add"    // counter
	VerbRaise  Verb = "raise"  // max
	VerbLower  Verb = "lower"  // min
	VerbInsert Verb = "insert" // set: an element; map: a key without members
	VerbRemove Verb = "remove" // set
	VerbDelete Verb = "delete" // map: a key
	VerbDone   Verb = "done"   // event: one that is over already
)

// The verbs that no patch holds.
const (
	verbClaim Verb = "claim" // once: decided at once
	verbBegin Verb = "begin" // event: decided at once
	VerbPut   Verb = "put"   // map: the members at a key, each by its kind
)

// usage says how fields of one kind are written.
type usage struct {
	patch, other []Verb // of a patch, and the others
	text         string // for messages
}

var usages = map[Kind]usage{
	Value:   {[]Verb{VerbSet, VerbClear}, nil, "set or clear"},
	Counter: {[]Verb{VerbAdd}, nil, "add"},
	Max:     {[]Verb{VerbRaise}, nil, "raise"},
	Min:     {[]Verb{VerbLower}, nil, "lower"},
	Once:    {nil, []Verb{verbClaim}, "claim, which is no part of a commit,"},
	Event:   {[]Verb{VerbDone}, []Verb{verbBegin}, "begin and done, which are no part of a commit, or done with the time of one that is over"},
	Set:     {[]Verb{VerbInsert, VerbRemove}, nil, "insert or remove"},
	Map:     {[]Verb{VerbInsert, VerbDelete}, []Verb{VerbPut}, "insert or delete, or name a member"},
}

// WrittenBy lists the verbs of kind k for a message: "set or clear".
func (k Kind) WrittenBy() string { return usages[k].text }

// Verbs lists the verbs that write f.
func (f Field) Verbs() []Verb {
	kind := f.EffectiveKind()
	verbs := slices.Concat(usages[kind].patch, usages[kind].other)
	if kind == Map && f.Value != nil { // a key has its value from the beginning
		verbs = slices.DeleteFunc(verbs, func(v Verb) bool { return v == VerbInsert })
	}
	return verbs
}

// CheckVerb returns an error unless a patch may hold verb for a field of the
// kind of f.
func (f Field) CheckVerb(verb Verb) error {
	kind := f.EffectiveKind()
	if slices.Contains(usages[kind].patch, verb) {
		return nil
	}
	for _, u := range usages {
		if slices.Contains(u.patch, verb) {
			return f.otherVerb(verb)
		}
	}
	return fmt.Errorf("there is no operation %q: use %s", verb, kind.WrittenBy())
}

// otherVerb is the error of a verb that is for other kinds than that of f.
func (f Field) otherVerb(verb Verb) error {
	return fmt.Errorf("%s is not for a %s: use %s", verb, f.kindText(), f.EffectiveKind().WrittenBy())
}

// kindText names the kind of f after an article.
func (f Field) kindText() string {
	if kind := f.EffectiveKind(); kind != Event {
		return string(kind)
	}
	return "field of kind event"
}

// A Refusal is the error of a write that the declaration does not allow: the
// field is another owner's, or the verb is not for its kind.
type Refusal struct {
	// State, Owner, Field, Member and Verb are those of the refused write. Member
	// is empty except for a member of a map; Verb is empty if the field itself is
	// not the owner's.
	State, Owner, Field, Member string
	Verb                        Verb
	// By is the owner that may write there. If empty, no owner declares the field
	// or the member. If equal to Owner, only the verb is wrong.
	By string
	// Verbs lists the verbs by which By writes there.
	Verbs []Verb

	otherVerb error // of a verb that is for other kinds
}

// Error returns the problem without its place, which is for the caller to name.
func (r *Refusal) Error() string {
	switch {
	case r.By == "":
		return fmt.Sprintf("no owner of state %s declares it", r.State)
	case r.By == r.Owner:
		return r.otherVerb.Error()
	case r.Member == "" && (r.Verb == VerbInsert || r.Verb == VerbDelete):
		return fmt.Sprintf("owner %s decides which keys the map has, and owner %s may not %s one", r.By, r.Owner, r.Verb)
	}
	return fmt.Sprintf("it belongs to owner %s, and owner %s may not write it", r.By, r.Owner)
}

// FieldOf returns the declaration of owner's field, or a [*Refusal].
func (d *Declaration) FieldOf(owner, field string) (Field, error) {
	if f, ok := d.Owners[owner].Fields[field]; ok {
		return f, nil
	}
	refusal := &Refusal{State: d.State, Owner: owner, Field: field}
	if by, ok := d.OwnerOf(field); ok {
		refusal.By, refusal.Verbs = by, d.Owners[by].Fields[field].Verbs()
	}
	return Field{}, refusal
}

// Resolve returns the declaration of owner's field if owner may write it with
// verb, and else a [*Refusal]. For a map the verbs are those of whole keys, and
// [VerbPut]; see [Declaration.ResolveMember].
func (d *Declaration) Resolve(owner, field string, verb Verb) (Field, error) {
	f, err := d.FieldOf(owner, field)
	if err != nil {
		return f, err
	}
	refusal := &Refusal{State: d.State, Owner: owner, Field: field, Verb: verb, By: owner, Verbs: f.Verbs(), otherVerb: f.otherVerb(verb)}
	if !slices.Contains(refusal.Verbs, verb) {
		return f, refusal
	}
	keys := f.EffectiveKind() == Map && (verb == VerbInsert || verb == VerbDelete)
	if decider, _ := d.OwnerOf(field); keys && decider != owner {
		refusal.By, refusal.Verbs = decider, d.Owners[decider].Fields[field].Verbs()
		return f, refusal
	}
	return f, nil
}

// ResolveMember returns the declaration of a member of owner's map field if owner
// may write it with verb, and else a [*Refusal]. [VerbPut] suits every kind. The
// value of a map without members is called "".
func (d *Declaration) ResolveMember(owner, field, member string, verb Verb) (Field, error) {
	refusal := &Refusal{State: d.State, Owner: owner, Field: field, Member: member, Verb: verb}
	for _, by := range d.OwnersOf(field) {
		whole := d.Owners[by].Fields[field]
		f, ok := whole.Member(member)
		if !ok || whole.EffectiveKind() != Map {
			continue
		}
		refusal.By, refusal.Verbs, refusal.otherVerb = by, append(f.Verbs(), VerbPut), f.otherVerb(verb)
		if by == owner && slices.Contains(refusal.Verbs, verb) {
			return f, nil
		}
		return Field{}, refusal
	}
	return Field{}, refusal
}
