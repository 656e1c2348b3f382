package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A selection is what of a view its caller asks for.
type selection struct {
	*cli.Call
	view  *reader.View
	owner string      // whose fields; empty for everybody's
	flag  *pflag.Flag // of owner
	stale bool        // only fields that are not fresh
}

// ownerFlag declares the flag --owner of a command that reads.
func ownerFlag(p *cli.Place, cmd *cobra.Command, owner *string) *pflag.Flag {
	cmd.Flags().StringVar(owner, "owner", "", "only the fields of this `OWNER`")
	cli.CompleteFlag(cmd, "owner", func() []string {
		d, err := p.Declaration()
		if err != nil {
			return nil
		}
		return d.OwnerNames()
	})
	return cmd.Flags().Lookup("owner")
}

// check refuses an owner that there is not.
func (s selection) check() error {
	if _, ok := s.view.Owner(s.owner); ok || !s.flag.Changed {
		return nil
	}
	return store.WithRemedy(
		failure.As(fmt.Errorf("state %s has no owner %q", s.view.State(), s.owner), sidecar.ErrNotOwner),
		store.Remedy{Verb: "view"},
	)
}

// owners returns the owners that are asked for.
func (s selection) owners() []reader.OwnerStatus {
	all := s.view.Owners()
	if s.owner == "" {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(o reader.OwnerStatus) bool { return o.Name != s.owner })
}

// fields returns the names of the fields that are asked for.
func (s selection) fields() []string {
	return slices.DeleteFunc(s.view.FieldNames(), func(field string) bool {
		return s.owner != "" && !slices.Contains(s.view.Field(field).Owners(), s.owner) ||
			s.stale && s.view.Field(field).Freshness().Fresh()
	})
}

// broken returns the errors of the owners whose sidecars cannot be used, and of
// the single fields that cannot.
func (s selection) broken() error {
	var errs []error
	for _, o := range s.owners() {
		if o.Err != nil {
			errs = append(errs, o.Err)
		}
	}
	for _, field := range s.fields() {
		_, err := s.view.Field(field).Raw()
		if err != nil && !errors.Is(err, reader.ErrUnset) && !s.view.IsOwnerError(err) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// unfresh is the negative answer to who asks for fields that are not fresh.
func (s selection) unfresh() error {
	if !s.stale {
		return nil
	}
	n := len(s.fields())
	if n == 0 {
		return nil
	}
	return store.WithRemedy(
		failure.As(fmt.Errorf("%s not fresh", display.Count(n, "field is", "fields are")), failure.Negative),
		store.By("explain", "FIELD"),
	)
}

// A record is a view for programs, whose advice can be followed from anywhere.
type record struct {
	*cli.Call
	view *reader.View
}

// MarshalJSON returns the view as it describes itself.
func (r record) MarshalJSON() ([]byte, error) {
	return reader.Marshal(r.view, func(err error) string { return r.WithRemedies(err, r.view.Dir()) })
}

// MarshalJSON returns the view as it describes itself, without what is not asked
// for.
func (s selection) MarshalJSON() ([]byte, error) {
	text, err := record{s.Call, s.view}.MarshalJSON()
	if err != nil || s.owner == "" && !s.stale {
		return text, err
	}
	var v struct {
		State      jsontext.Value            `json:"state"`
		Dir        jsontext.Value            `json:"dir"`
		Cut        jsontext.Value            `json:"snapshot"`
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
	maps.DeleteFunc(v.Owners, func(name string, _ jsontext.Value) bool { return s.owner != "" && name != s.owner })
	return json.Marshal(v, json.Deterministic(true), jsontext.PreserveRawStrings(true))
}
