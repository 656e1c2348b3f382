package apply

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
)

// A Seen is an observation of some fields of one state: their versions at one
// snapshot. A program that computes a value from other owners' fields takes a
// Seen before it gathers the data, and commits the value with it, perhaps from
// another process: its text travels in files, environment variables and
// arguments, and needs no quotes in a shell. The zero Seen is no observation,
// which differs from one of fields that were never written.
//
// Generated code gives Seen a type of its own for each field that depends on
// others.
type Seen struct{ text string }

// SeenOf returns the observation in the state with the id stateID: the versions
// of fields by name, the zero Version for one that was never written.
func SeenOf(stateID string, versions map[string]document.Version) Seen {
	var b strings.Builder
	b.WriteString(stateID)
	for i, name := range slices.Sorted(maps.Keys(versions)) {
		b.WriteByte(":,"[min(i, 1)])
		b.WriteString(name + "=" + versions[name].String())
	}
	return Seen{b.String()}
}

// IsZero reports whether nothing was observed.
func (s Seen) IsZero() bool { return s.text == "" }

// Equal reports whether two say the same, as == does. It is for packages that
// compare by it, such as go-cmp.
func (s Seen) Equal(t Seen) bool { return s == t }

// String returns the text of MarshalText.
func (s Seen) String() string { return s.text }

// MarshalText implements [encoding.TextMarshaler]. The text of the zero Seen is
// empty.
func (s Seen) MarshalText() ([]byte, error) { return []byte(s.text), nil }

// UnmarshalText implements [encoding.TextUnmarshaler]. It takes exactly what
// MarshalText returns, and returns an error that wraps [status.NotObserved] for
// everything else.
func (s *Seen) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*s = Seen{}
		return nil
	}
	state, versions, err := parseSeen(string(text))
	if err == nil && SeenOf(state, versions).text != string(text) {
		err = fmt.Errorf("its fields are not in order")
	}
	if err != nil {
		return fmt.Errorf("%w: %.80q is no token of what was seen: %w: take one from an observation", status.NotObserved, text, err)
	}
	*s = Seen{string(text)}
	return nil
}

// UnmarshalFor is UnmarshalText for an observation of at least these fields. It
// is for generated code.
func (s *Seen) UnmarshalFor(text []byte, fields ...string) error {
	var seen Seen
	if err := seen.UnmarshalText(text); err != nil {
		return err
	}
	if !seen.IsZero() {
		if _, err := seen.of(fields); err != nil {
			return err
		}
	}
	*s = seen
	return nil
}

// Fields returns the names of the fields that were seen, sorted.
func (s Seen) Fields() []string {
	_, versions, _ := parseSeen(s.text)
	return slices.Sorted(maps.Keys(versions))
}

// Version returns the version of a field that was seen, the zero Version if
// nobody had written it, and whether the Seen tells of it.
func (s Seen) Version(field string) (v document.Version, ok bool) {
	_, versions, _ := parseSeen(s.text)
	v, ok = versions[field]
	return v, ok
}

// of returns the versions of the fields that must have been seen.
func (s Seen) of(fields []string) (document.Observation, error) {
	_, versions, _ := parseSeen(s.text) // it was checked when it was made
	o := document.Observation{}
	for _, name := range fields {
		version, ok := versions[name]
		if !ok {
			return nil, fmt.Errorf("%w: the token %.120q does not tell of %s: take one of the field that is to be written", status.NotObserved, s.text, name)
		}
		o[name] = version
	}
	return o, nil
}

// state returns the id of the state in which it was seen.
func (s Seen) state() string {
	state, _, _ := strings.Cut(s.text, ":")
	return state
}

// mostSeen bounds a token, in bytes.
const mostSeen = 64 << 10

func parseSeen(text string) (state string, versions map[string]document.Version, err error) {
	state, list, ok := strings.Cut(text, ":")
	if !ok || !schema.ValidStateID(state) || len(text) > mostSeen {
		return "", nil, fmt.Errorf("want STATEID:FIELD=VERSION,…")
	}
	versions = map[string]document.Version{}
	for item := range strings.SplitSeq(list, ",") {
		name, version, ok := strings.Cut(item, "=")
		if _, twice := versions[name]; !ok || twice || !schema.ValidName(name) {
			return "", nil, fmt.Errorf("want FIELD=VERSION, not %.80q", item)
		}
		var v document.Version
		if err := v.UnmarshalText([]byte(version)); err != nil {
			return "", nil, err
		}
		versions[name] = v
	}
	return state, versions, nil
}
