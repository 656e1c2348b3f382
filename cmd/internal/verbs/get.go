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
	"github.com/freehold-dev/freehold/sidecar/store"
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
	if _, formatted := c.Flags["format"]; formatted || len(c.Args) > 1 {
		d, err := c.Declaration()
		if err != nil {
			return nil, err
		}
		_, fields := d.Joined(c.Args[min(1, len(c.Args)-1)])
		if f, _ := d.Joined(c.Args[0]); fields && f.EffectiveKind() != schema.Map || len(c.Args) == 1 {
			return c.several(ctx, c.Args, c.format("raw"), false)
		}
	}
	if len(c.Args) > 3 {
		return nil, failure.Usage("field %s: name a KEY and a MEMBER at most, or other fields", c.Args[0])
	}
	view, err := c.View(ctx)
	if err != nil {
		return nil, err
	}
	raw, f, err := c.value(view, c.Args...)
	if err != nil {
		return nil, err
	}
	return valueReport{f, raw}, nil
}

// value returns the value at path, or the default for one that is unset.
func (c *Call) value(view *reader.View, path ...string) (jsontext.Value, schema.Field, error) {
	entry, f, err := Declared(view, path...)
	if err != nil {
		return nil, f, err
	}
	var instead jsontext.Value
	if text, ok := c.Flags["default"]; ok {
		if instead, err = parse(f, text); err != nil {
			return nil, f, failure.Usage("--default: field %s: %v", strings.Join(path, " "), err)
		}
	}
	raw, err := entry.Raw()
	switch {
	case errors.Is(err, reader.ErrUnset) && instead != nil:
		raw = instead // which was computed from nothing
	case err != nil:
		return nil, f, err
	case c.given("require-fresh"):
		if err := fresh(view, path[0]); err != nil {
			return nil, f, err
		}
	}
	for _, p := range explain.Unshown(view, path[0]) {
		c.Warn(Unshown(path[0], p))
	}
	return raw, f, nil
}

// plain returns a value as a program reads it.
func plain(f schema.Field, raw jsontext.Value) string { return display.Plain(f, raw, false) }

// Unshown returns the warning about pending patches that a view does not show.
func Unshown(field string, p explain.PendingProblem) error {
	return fmt.Errorf("%s may have another value: owner %s has %s, not all of which can be shown: %w",
		field, p.Owner, display.Count(p.Patches, "pending patch", "pending patches"), p.Err)
}

// fresh is the negative answer if a field is not fresh.
func fresh(view *reader.View, field string) error {
	f := view.Field(field).Freshness()
	if f.Fresh() {
		return nil
	}
	return store.WithRemedy(failure.As(fmt.Errorf("field %s is %s (%s): %s", field, f.Verdict, f.Reason, f.Says), failure.Negative), store.By("explain", field))
}

// Meant returns the remedy of an unknown name: the nearest of those that are known,
// or else the given one.
func Meant(name string, known []string, otherwise store.Remedy) store.Remedy {
	if near, ok := schema.Nearest(name, known); ok {
		return store.Remedy{Note: "did you mean " + near + "?"}
	}
	return otherwise
}

// Declared returns an entry of the view and its declaration: of a field, or of the
// KEY and the MEMBER behind the field in path.
func Declared(view *reader.View, path ...string) (reader.Entry, schema.Field, error) {
	entry := view.Field(path[0])
	if _, ok := view.Declaration().Joined(path[0]); !ok {
		_, err := entry.Declared()
		return entry, schema.Field{}, store.WithRemedy(err, Meant(path[0], view.FieldNames(), store.Remedy{Verb: "view"}))
	}
	if len(path) > 1 {
		entry = entry.Key(path[1])
	}
	if len(path) > 2 {
		entry = entry.Member(path[2])
	}
	f, err := entry.Declared()
	return entry, f, err
}
