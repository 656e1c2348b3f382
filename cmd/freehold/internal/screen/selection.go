package screen

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/cmd/internal/verbs"
	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A selection is the part of a view that a command prints.
type selection struct {
	*cli.Call
	view  *reader.View
	owner string          // of the fields; empty for all owners
	flag  *pflag.Flag     // of owner
	names map[string]bool // of the fields; empty for all
	stale bool            // only fields that are not fresh
}

// flags declares --owner.
func (s *selection) flags(p *cli.Place, cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.owner, "owner", "", "only the fields of this `OWNER`")
	cmd.RegisterFlagCompletionFunc("owner", p.Completion(func(t verbs.Typing) []string {
		t.Args = nil
		return verbs.Operands("OWNER").Complete(t)
	}))
	s.flag = cmd.Flags().Lookup("owner")
}

// check refuses an owner that is not declared.
func (s *selection) check() error {
	if _, ok := s.view.Owner(s.owner); ok || !s.flag.Changed {
		return nil
	}
	return store.WithRemedy(
		failure.As(fmt.Errorf("state %s has no owner %q", s.view.State(), s.owner), store.NotOwner),
		verbs.Meant(s.owner, s.view.Declaration().OwnerNames(), store.Remedy{Verb: "view"}),
	)
}

// choose selects the fields that the caller names.
func (s *selection) choose(fields []string) error {
	if err := s.check(); err != nil {
		return err
	}
	for _, field := range fields {
		if _, _, err := verbs.Declared(s.view, field); err != nil {
			return err
		}
		if owners := s.view.Field(field).Owners(); s.owner != "" && !slices.Contains(owners, s.owner) { // it would never change
			return failure.Usage("field %s belongs to %s, and --owner says %s: leave one of them out", field, display.List(owners), s.owner)
		}
		if s.names == nil {
			s.names = map[string]bool{}
		}
		s.names[field] = true
	}
	return nil
}

// heading names the state and the snapshot.
func (s *selection) heading() string {
	return display.Escape(fmt.Sprintf("state %s in %s: %s snapshot %s", s.view.State(), s.view.Dir(), s.view.Consistency(), s.view.ID()))
}

// owners returns the selected owners.
func (s *selection) owners() []reader.OwnerStatus {
	return slices.DeleteFunc(s.view.Owners(), func(o reader.OwnerStatus) bool { return !s.shows(o.Name) })
}

// shows reports whether fields of owner are selected.
func (s *selection) shows(owner string) bool {
	if len(s.names) == 0 {
		return s.owner == "" || s.owner == owner
	}
	return slices.ContainsFunc(s.view.Declaration().Owners[owner].FieldNames(), func(field string) bool { return s.has(owner, field) })
}

// has reports whether owner's field is selected.
func (s *selection) has(owner, field string) bool {
	return (s.owner == "" || s.owner == owner) && (len(s.names) == 0 || s.names[field])
}

// fields returns the names of the selected fields.
func (s *selection) fields() []string {
	return slices.DeleteFunc(s.view.FieldNames(), func(field string) bool {
		e := s.view.Field(field)
		return !slices.ContainsFunc(e.Owners(), func(owner string) bool { return s.has(owner, field) }) || s.stale && e.Freshness().Fresh()
	})
}

// broken returns the errors of the owners without a usable sidecar, and of
// single fields.
func (s *selection) broken() error {
	var errs []error
	for _, o := range s.owners() {
		errs = append(errs, o.Err)
	}
	for _, field := range s.fields() {
		_, err := s.view.Field(field).Raw()
		if err != nil && !errors.Is(err, reader.ErrUnset) && !s.view.IsOwnerError(err) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// unfresh returns the negative answer of --stale.
func (s *selection) unfresh() error {
	n := len(s.fields())
	if !s.stale || n == 0 {
		return nil
	}
	return store.WithRemedy(
		failure.As(fmt.Errorf("%s not fresh", display.Count(n, "field is", "fields are")), failure.Negative),
		store.By("explain", "FIELD"),
	)
}

// whole returns the JSON of the whole view. Its remedies can be run anywhere.
func (s *selection) whole() (jsontext.Value, error) {
	return reader.Marshal(s.view, func(err error) string { return s.WithRemedies(err, s.view.Dir()) })
}

// MarshalJSON returns the JSON of the view without the fields and owners that are
// not selected.
func (s *selection) MarshalJSON() ([]byte, error) {
	text, err := s.whole()
	if err != nil || s.owner == "" && len(s.names) == 0 && !s.stale {
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
	fields := s.fields()
	other := func(name string, _ jsontext.Value) bool { return !slices.Contains(fields, name) }
	maps.DeleteFunc(v.Fields, other)
	maps.DeleteFunc(v.Provenance, other)
	maps.DeleteFunc(v.Owners, func(name string, _ jsontext.Value) bool { return !s.shows(name) })
	return json.Marshal(v, json.Deterministic(true), jsontext.PreserveRawStrings(true))
}
