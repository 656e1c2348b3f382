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
	view, err := c.View(ctx)
	if err != nil {
		return nil, err
	}
	entry, f, err := Declared(view, c.Args...)
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
