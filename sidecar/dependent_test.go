package sidecar

import (
	"maps"
	"path/filepath"
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/apply"
)

func depending() *schema.Declaration {
	on := []string{"at"}
	return &schema.Declaration{State: "agent", Owners: map[string]schema.Owner{
		"reset": {Fields: map[string]schema.Field{"at": {Type: schema.TypeTime, Kind: schema.Max}}},
		"cost": {Fields: map[string]schema.Field{
			"tokens": {Type: schema.TypeUint, DependsOn: on},
			"peak":   {Type: schema.TypeUint, Kind: schema.Max, DependsOn: on},
			"least":  {Type: schema.TypeUint, Kind: schema.Min, DependsOn: on},
			"sum":    {Type: schema.TypeUint, Kind: schema.Counter, DependsOn: on},
			"free":   {Type: schema.TypeUint},
			"names":  {Type: schema.TypeString, Kind: schema.Set},
		}},
	}}
}

// A sight stands for the type that generated code makes.
type sight struct{ seen Seen }

func (s sight) Seen() Seen { return s.seen }

// at returns a token of a version of the field at, whose revision is n.
func (s *dependents) at(n uint64) sight {
	v := Version{}
	if n > 0 {
		v = Version{Epoch: 7, Revision: n, Nonce: "0000000000001"}
	}
	return sight{apply.SeenOf(s.id, map[string]Version{"at": v})}
}

type dependents struct {
	*testing.T
	w  *Writer
	id string
}

func newDependents(t *testing.T) *dependents {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	if err := Create(dir, depending()); err != nil {
		t.Fatal(err)
	}
	w, err := Open(t.Context(), dir, depending(), "cost", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return &dependents{t, w, w.manifest.StateID}
}

// do commits and holds the outcome, the value of field and what was observed: a
// revision, 0 for nothing written, -1 for unsaid.
func (s *dependents) do(field string, fn func(*Tx), outcome Outcome, value string, seen int) {
	s.Helper()
	c := update(s.T, s.w, func(tx *Tx) error { fn(tx); return nil })
	if c.Outcome != outcome {
		s.Errorf("%s: %v, want %v", field, c.Outcome, outcome)
	}
	update(s.T, s.w, func(tx *Tx) error {
		if raw, _ := tx.Get(field); string(raw) != value {
			s.Errorf("%s is %s, want %s", field, raw, value)
		}
		got := tx.Observed(field)
		switch {
		case seen < 0 && got != nil:
			s.Errorf("%s observed %v, and nobody said so", field, got)
		case seen >= 0 && !maps.Equal(got, map[string]Version{"at": s.version(seen)}):
			s.Errorf("%s observed %v, want %v", field, got, s.version(seen))
		}
		return nil
	})
}

func (s *dependents) version(n int) Version {
	v, _ := s.at(uint64(n)).seen.Version("at")
	return v
}

func TestUnchangedMeansTheSameValueAndObservation(t *testing.T) {
	s := newDependents(t)
	tokens := func(seen, v uint64) func(*Tx) {
		return func(tx *Tx) { DependentValueOf[sight](tx, "tokens", schema.Uint).Set(s.at(seen), v) }
	}
	s.do("tokens", tokens(0, 5), Applied, "5", 0)
	s.do("tokens", tokens(0, 5), Unchanged, "5", 0)
	s.do("tokens", tokens(1, 5), Applied, "5", 1)
	s.do("tokens", tokens(1, 6), Applied, "6", 1)
	s.do("tokens", tokens(0, 6), Applied, "6", 0) // an older one is another one too
	s.do("tokens", func(tx *Tx) { tx.Apply(Op{Field: "tokens", Verb: schema.VerbSet, Value: []byte("6")}) }, Applied, "6", -1)
	s.do("tokens", tokens(2, 6), Applied, "6", 2)
	s.do("tokens", func(tx *Tx) { DependentValueOf[sight](tx, "tokens", schema.Uint).Clear() }, Applied, "", -1)
}

func TestMaxKeepsTheObservationOfWhoMovedIt(t *testing.T) {
	s := newDependents(t)
	raise := func(seen, v uint64) func(*Tx) {
		return func(tx *Tx) { DependentMaxOf[sight](tx, "peak", schema.Uint).Raise(s.at(seen), v) }
	}
	s.do("peak", raise(1, 5), Applied, "5", 1)
	s.do("peak", raise(2, 4), Unchanged, "5", 1) // the 5 was seen before 2
	s.do("peak", raise(2, 5), Applied, "5", 2)   // now it was seen after
	s.do("peak", raise(1, 7), Applied, "7", 1)
	unsaid := func(v string) func(*Tx) {
		return func(tx *Tx) { tx.Apply(Op{Field: "peak", Verb: schema.VerbRaise, Value: []byte(v)}) }
	}
	s.do("peak", unsaid("7"), Unchanged, "7", 1)
	s.do("peak", unsaid("8"), Applied, "8", -1)
	lower := func(seen, v uint64) func(*Tx) {
		return func(tx *Tx) { DependentMinOf[sight](tx, "least", schema.Uint).Lower(s.at(seen), v) }
	}
	s.do("least", lower(1, 5), Applied, "5", 1)
	s.do("least", lower(2, 6), Unchanged, "5", 1)
	s.do("least", lower(2, 5), Applied, "5", 2)
}

func TestCounterHasTheObservationOfTheLastAdd(t *testing.T) {
	s := newDependents(t)
	add := func(seen, n uint64) func(*Tx) {
		return func(tx *Tx) { DependentCounterOf[sight](tx, "sum", schema.Uint).Add(s.at(seen), n) }
	}
	s.do("sum", add(1, 5), Applied, "5", 1)
	s.do("sum", add(2, 5), Applied, "10", 2)
	s.do("sum", add(2, 0), Unchanged, "10", 2)
	s.do("sum", add(3, 0), Applied, "10", 3)
}

// A value that depends on others is not written blindly.
func TestNothingIsWrittenWithoutASoundToken(t *testing.T) {
	s := newDependents(t)
	other := apply.SeenOf("00000000000000000000000000", map[string]Version{"at": {}})
	for name, tc := range map[string]struct {
		fn   func(*Tx)
		want error
		says string
	}{
		"the zero token":   {func(tx *Tx) { DependentValueOf[sight](tx, "tokens", schema.Uint).Set(sight{}, 1) }, ErrNotObserved, "field tokens: not observed: the zero token"},
		"of another state": {func(tx *Tx) { DependentMaxOf[sight](tx, "peak", schema.Uint).Raise(sight{other}, 1) }, ErrNotObserved, "the token is of the state with the id"},
		"of other fields": {func(tx *Tx) {
			DependentCounterOf[sight](tx, "sum", schema.Uint).Add(sight{apply.SeenOf(s.id, map[string]Version{"b": {}})}, 1)
		}, ErrNotObserved, "does not tell of at"},
		"a field that depends on nothing": {func(tx *Tx) {
			tx.Apply(Op{Field: "free", Verb: schema.VerbSet, Value: []byte("1"), Seen: s.at(1).seen})
		}, ErrValue, "it depends on nothing"},
		"a set": {func(tx *Tx) {
			tx.Apply(Op{Field: "names", Verb: schema.VerbInsert, Value: []byte(`"a"`), Seen: s.at(1).seen})
		}, ErrValue, "a set depends on nothing"},
		"to clear": {func(tx *Tx) { tx.Apply(Op{Field: "tokens", Verb: schema.VerbClear, Seen: s.at(1).seen}) }, ErrValue, "clear takes nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.w.Update(t.Context(), func(tx *Tx) error { tc.fn(tx); return nil })
			wantError(t, err, tc.want, tc.says)
		})
	}
	s.do("tokens", func(*Tx) {}, Unchanged, "", -1)
}

func TestTokensOfSightsAreStrict(t *testing.T) {
	seen := apply.SeenOf("0123456789abcdefghijklmnop", map[string]Version{"a": {}, "b": {Epoch: 1, Revision: 2, Nonce: "000000000000v"}})
	const text = "0123456789abcdefghijklmnop:a=,b=1.2.000000000000v"
	if seen.String() != text {
		t.Errorf("%q, want %q", seen, text)
	}
	var got Seen
	if err := got.UnmarshalFor([]byte(text), "a"); err != nil || got != seen {
		t.Errorf("%q (%v)", got, err)
	}
	if err := got.UnmarshalText(nil); err != nil || !got.IsZero() {
		t.Errorf("no text became %q (%v)", got, err)
	}
	for _, wrong := range []string{
		"x", "0123456789abcdefghijklmnop", "0123456789abcdefghijklmnop:", text + ",", text + ",a=", "0123456789abcdefghijklmnop:b=,a=",
		"0123456789abcdefghijklmnop:a=1.2", "0123456789abcdefghijklmnop:A=", "0123456789abcdefghijklmnop:a=,a=", " " + text, text + "\n",
		"0123456789abcdefghijklmnop:a=9007199254740991.1.0000000000000",
	} {
		got = seen
		if err := got.UnmarshalText([]byte(wrong)); err == nil || got != seen {
			t.Errorf("%q became %q (%v)", wrong, got, err)
		}
	}
	wantError(t, got.UnmarshalFor([]byte(text), "a", "c"), ErrNotObserved, "does not tell of c")
}
