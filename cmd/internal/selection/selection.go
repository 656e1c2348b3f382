// Package selection is the part of a view that a command prints, and its JSON.
package selection

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/freehold-dev/freehold/cmd/internal/console"
	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/cmd/internal/verbs"
	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A Selection is the part of a view that a command prints.
type Selection struct {
	View  *reader.View
	Owner console.Option  // of the fields; empty for all owners
	Stale bool            // only fields that are not fresh
	names map[string]bool // of the fields; empty for all
	// Words returns the text of an error with its remedies.
	Words func(err error, dir string) string
}

// Print prints the selection of the fields as JSON. Its error says that an owner or a
// field cannot be used, or, of a stale selection, that there are any.
func (s *Selection) Print(c *console.Console, fields []string) error {
	if err := s.Choose(fields); err != nil {
		return err
	}
	return errors.Join(c.PrintJSON(s), s.Broken(), s.Unfresh())
}

// check refuses an owner that is not declared.
func (s *Selection) check() error {
	if _, ok := s.View.Owner(s.Owner.Text); ok || !s.Owner.Given {
		return nil
	}
	return store.WithRemedy(
		failure.As(fmt.Errorf("state %s has no owner %q", s.View.State(), s.Owner.Text), store.NotOwner),
		verbs.Meant(s.Owner.Text, s.View.Declaration().OwnerNames(), store.Remedy{Verb: "view"}),
	)
}

// Choose selects the fields that the caller names.
func (s *Selection) Choose(fields []string) error {
	if err := s.check(); err != nil {
		return err
	}
	for _, field := range fields {
		if _, _, err := verbs.Declared(s.View, field); err != nil {
			return err
		}
		if owners := s.View.Field(field).Owners(); s.Owner.Text != "" && !slices.Contains(owners, s.Owner.Text) { // it would never change
			return failure.Usage("field %s belongs to %s, and --owner says %s: leave one of them out", field, display.List(owners), s.Owner.Text)
		}
		if s.names == nil {
			s.names = map[string]bool{}
		}
		s.names[field] = true
	}
	return nil
}

// Owners returns the selected owners.
func (s *Selection) Owners() []reader.OwnerStatus {
	return slices.DeleteFunc(s.View.Owners(), func(o reader.OwnerStatus) bool { return !s.Shows(o.Name) })
}

// Shows reports whether fields of owner are selected.
func (s *Selection) Shows(owner string) bool {
	if len(s.names) == 0 {
		return s.Owner.Text == "" || s.Owner.Text == owner
	}
	return slices.ContainsFunc(s.View.Declaration().Owners[owner].FieldNames(), func(field string) bool { return s.Has(owner, field) })
}

// Has reports whether owner's field is selected.
func (s *Selection) Has(owner, field string) bool {
	return (s.Owner.Text == "" || s.Owner.Text == owner) && (len(s.names) == 0 || s.names[field])
}

// Fields returns the names of the selected fields.
func (s *Selection) Fields() []string {
	return slices.DeleteFunc(s.View.FieldNames(), func(field string) bool {
		e := s.View.Field(field)
		return !slices.ContainsFunc(e.Owners(), func(owner string) bool { return s.Has(owner, field) }) || s.Stale && e.Freshness().Fresh()
	})
}

// Broken returns the errors of the owners without a usable sidecar, and of
// single fields.
func (s *Selection) Broken() error {
	var errs []error
	for _, o := range s.Owners() {
		errs = append(errs, o.Err)
	}
	for _, field := range s.Fields() {
		_, err := s.View.Field(field).Raw()
		if err != nil && !errors.Is(err, reader.ErrUnset) && !s.View.IsOwnerError(err) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Unfresh returns the negative answer of --stale.
func (s *Selection) Unfresh() error {
	n := len(s.Fields())
	if !s.Stale || n == 0 {
		return nil
	}
	return store.WithRemedy(
		failure.As(fmt.Errorf("%s not fresh", display.Count(n, "field is", "fields are")), failure.Negative),
		store.By("explain", "FIELD"),
	)
}

// Whole returns the JSON of the whole view. Its remedies can be run anywhere.
func (s *Selection) Whole() (jsontext.Value, error) {
	return reader.Marshal(s.View, func(err error) string { return s.Words(err, s.View.Dir()) })
}

// MarshalJSON returns the JSON of the view without the fields and owners that are
// not selected.
func (s *Selection) MarshalJSON() ([]byte, error) {
	text, err := s.Whole()
	if err != nil || s.Owner.Text == "" && len(s.names) == 0 && !s.Stale {
		return text, err
	}
	var v struct {
		State      jsontext.Value            `json:"state"`
		Dir        jsontext.Value            `json:"dir"`
		Snapshot   jsontext.Value            `json:"snapshot"`
		Fields     map[string]jsontext.Value `json:"fields"`
		Provenance map[string]jsontext.Value `json:"provenance"`
		Owners     map[string]jsontext.Value `json:"owners"`
	}
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, err
	}
	fields := s.Fields()
	other := func(name string, _ jsontext.Value) bool { return !slices.Contains(fields, name) }
	maps.DeleteFunc(v.Fields, other)
	maps.DeleteFunc(v.Provenance, other)
	maps.DeleteFunc(v.Owners, func(name string, _ jsontext.Value) bool { return !s.Shows(name) })
	return json.Marshal(v, json.Deterministic(true), jsontext.PreserveRawStrings(true))
}
