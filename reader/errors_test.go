package reader_test

import (
	"context"
	"errors"
	"testing"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/errorstest"
)

var said = errorstest.Golden{
	Update: update,
	Also:   []string{"*errors.txt"},
	Unhelped: map[string]string{
		"unset: …": "that a field is unset is an answer; what to make of it the caller knows",
	},
}

// TestErrorsSayWhatToDo provokes what the tables of the other tests do not.
func TestErrorsSayWhatToDo(t *testing.T) {
	s := example(t)
	r, err := reader.Open(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	v := view(t, r)
	raw := func(e reader.Entry) error {
		_, err := e.Raw()
		return err
	}
	said.Same(t, "the zero entry", raw(reader.Entry{}))
	said.Same(t, "a hostile field", raw(v.Field("\x1b[2J\u202e")))
	said.Same(t, "a key of no map", raw(v.Field("turn").Key("\x1b[2J")))
	said.Same(t, "no such member", raw(v.Field("skills").Key("deploy").Member("use_cuont")))
	said.Same(t, "unset: no such key", raw(v.Field("skills").Key("\x1b[2J")))
	_, err = v.Field("turn").Keys()
	said.Same(t, "keys of no map", err)

	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	_, err = r.View(ctx)
	said.Same(t, "a view that is given up", err, s.dir, "STATE")
	r.Close()
	_, err = r.View(t.Context())
	said.Same(t, "a closed reader", err, s.dir, "STATE")

	latched := newState(t, &schema.Declaration{State: "latches", Owners: map[string]schema.Owner{"hook": {Fields: map[string]schema.Field{"fired": {Type: schema.TypeTime, Kind: schema.Once}}}}})
	said.Same(t, "unset: nobody has claimed it", raw(view(t, latched.open()).Field("fired")))

	contradicts := usage()
	contradicts.Owners["tool"].Fields["turn"] = schema.Field{Type: schema.TypeString}
	_, err = reader.OpenAs(s.dir, contradicts)
	said.Same(t, "another declaration", err, s.dir, "STATE")
}

// TestErrorsAreAllTold fails for an error that no test of the package provokes.
func TestErrorsAreAllTold(t *testing.T) { said.Complete(t) }
