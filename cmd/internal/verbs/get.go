package verbs

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/reader/explain"
	"github.com/freehold-dev/freehold/schema"
	"github.com/go-json-experiment/json/jsontext"
)

// A valueReport is the answer of get: the stored value of f. Its JSON is the value
// as the sidecar has it, so that no digit changes.
type valueReport struct {
	f   schema.Field
	raw jsontext.Value
}

// Raw returns the JSON of the answer.
func (r valueReport) Raw() jsontext.Value { return r.raw }

func (r valueReport) Text(terminal bool) string { return display.Plain(r.f, r.raw, terminal) + "\n" }

// get reads a field or a part of a map, or takes the default for one that is
// unset.
func get(ctx context.Context, c *Call) (Report, error) {
	view, err := c.View(ctx)
	if err != nil {
		return nil, err
	}
	f, entry, err := entryAt(view, c.Args)
	if err != nil {
		return nil, err
	}
	var instead jsontext.Value
	if text, ok := c.Flags["default"]; ok {
		if instead, err = f.Parse(text); err != nil {
			return nil, failure.Usage("--default: field %s: %v", strings.Join(c.Args, " "), err)
		}
	}
	raw, err := entry.Raw()
	switch {
	case errors.Is(err, reader.ErrUnset) && instead != nil:
		raw = instead // which was computed from nothing
	case err != nil:
		return nil, err
	case c.given("require-fresh"):
		if err := fresh(view, c.Args[0]); err != nil {
			return nil, err
		}
	}
	for _, p := range explain.Unshown(view, c.Args[0]) {
		c.Warn(Unshown(c.Args[0], p))
	}
	return valueReport{f, raw}, nil
}

// entryAt returns the entry that path names, a field or a part of a map, and its
// declaration.
func entryAt(view *reader.View, path []string) (schema.Field, reader.Entry, error) {
	f, err := Declared(view, path[0])
	if err != nil {
		return f, reader.Entry{}, err
	}
	entry := view.Field(path[0])
	if len(path) > 1 {
		f, err = declaredPart(view, f, path)
		entry = entry.Key(path[1])
	}
	if len(path) > 2 {
		entry = entry.Member(path[2])
	}
	return f, entry, err
}

// Unshown returns the warning about pending patches that a view does not show.
func Unshown(field string, p explain.PendingProblem) string {
	return fmt.Sprintf("%s may have another value: owner %s has %s, not all of which can be shown: %s",
		field, p.Owner, display.Count(p.Patches, "pending patch", "pending patches"), display.Line(failure.WithRemedies(p.Err)))
}

// fresh is the negative answer if a field is not fresh.
func fresh(view *reader.View, field string) error {
	f := view.Field(field).Freshness()
	if f.Fresh() {
		return nil
	}
	return failure.Hint(failure.As(fmt.Errorf("field %s is %s (%s): %s", field, f.Verdict, f.Reason, f), failure.Negative), "`freehold explain "+field+"` says more")
}

// Declared returns the declaration of a field.
func Declared(view *reader.View, name string) (schema.Field, error) {
	d := view.Declaration()
	if f, ok := d.Joined(name); ok {
		return f, nil
	}
	return schema.Field{}, failure.Hint(failure.As(fmt.Errorf("no owner of state %s declares the field %q", d.State, name), reader.ErrUnknownField), "`freehold view` lists the fields")
}

// declaredPart returns the declaration of the part of the map f that path names:
// the whole part at a key, or a member.
func declaredPart(view *reader.View, f schema.Field, path []string) (schema.Field, error) {
	if f.EffectiveKind() != schema.Map {
		return schema.Field{}, failure.As(fmt.Errorf("field %s is a %s and has no keys: leave the key out", path[0], display.Kind(f)), reader.ErrUnknownField)
	}
	if f.Value != nil && len(path) == 2 {
		return *f.Value, nil
	}
	if len(path) == 2 {
		return schema.Field{Type: schema.TypeRecord, Fields: f.Record}, nil
	}
	if member, ok := f.Record[path[2]]; ok {
		return member, nil
	}
	members := "a key of this map has a value and no members: leave the member out"
	if names := f.MemberNames(); len(names) > 0 {
		members = "its members are " + strings.Join(names, ", ")
	}
	return schema.Field{}, failure.Hint(failure.As(fmt.Errorf("no owner of state %s declares the member %q of field %s", view.State(), path[2], path[0]), reader.ErrUnknownField), members)
}
