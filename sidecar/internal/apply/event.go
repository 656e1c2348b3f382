package apply

import (
	"fmt"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
)

// MaxOpen is the most tokens of an event that may be open at a time.
const MaxOpen = 64

// An EventToken names one beginning of an event. Its text travels in files,
// environment variables and arguments, and needs no quotes in a shell. The zero
// token names none.
type EventToken struct{ state, field, nonce string }

// IsZero reports whether t names no beginning.
func (t EventToken) IsZero() bool { return t == EventToken{} }

// String returns the text of MarshalText.
func (t EventToken) String() string {
	if t.IsZero() {
		return ""
	}
	return t.state + ":" + t.field + ":" + t.nonce
}

// MarshalText implements [encoding.TextMarshaler]. The text of the zero token is
// empty.
func (t EventToken) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler]. It takes exactly what
// MarshalText returns.
func (t *EventToken) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*t = EventToken{}
		return nil
	}
	state, rest, _ := strings.Cut(string(text), ":")
	field, nonce, _ := strings.Cut(rest, ":")
	if !schema.ValidStateID(state) || !schema.ValidName(field) || !schema.ValidNonce(nonce) {
		return fmt.Errorf("%w: %.80q is no token of an event: give the one that its beginning returned", status.NotOpen, text)
	}
	*t = EventToken{state, field, nonce}
	return nil
}

// TokenOf returns the open token nonce of the event field in the state with the
// id stateID.
func TokenOf(stateID, field, nonce string) EventToken { return EventToken{stateID, field, nonce} }

// Parts returns the state id, the field and the nonce of the token.
func (t EventToken) Parts() (stateID, field, nonce string) { return t.state, t.field, t.nonce }

// event returns an error unless name is an event of the owner.
func (l *Layer) event(name string) error {
	f, err := l.rules.Field(name)
	if err == nil && f.EffectiveKind() != schema.Event {
		err = fmt.Errorf("field %s: %w: it is a %s, and only an event begins and is done: use %s", name, status.Value, f.EffectiveKind(), f.EffectiveKind().WrittenBy())
	}
	return err
}

// Begin opens the token nonce of an event, for the process pid.
func (l *Layer) Begin(name, nonce string, pid int) error {
	if err := l.event(name); err != nil {
		return err
	}
	if open := l.parts(name); open >= MaxOpen {
		err := fmt.Errorf("field %s: %w: it has begun %d times and was never done", name, status.Value, open)
		return status.With(err, status.By(status.Explain, name).Or("abandon tokens that are open"))
	}
	l.change(place{name, nonce}, slot{set: true, pid: pid})
	return nil
}

// End closes the token nonce of an event. done says that the event had its
// effect at that time; else the value stays, and the end is a change all the
// same.
func (l *Layer) End(name, nonce string, done bool, at time.Time) error {
	if err := l.event(name); err != nil {
		return err
	}
	opening := place{name, nonce}
	if !l.slot(opening).set {
		err := fmt.Errorf("field %s: %w: the token %q was done or abandoned already, or never began here", name, status.NotOpen, nonce)
		return status.With(err, status.By(status.Explain, name))
	}
	l.change(opening, slot{})
	now := l.slot(place{field: name})
	if done {
		raw, err := schema.Time.Append(nil, at)
		if err != nil {
			return fmt.Errorf("field %s: %w: the clock: %w", name, status.Value, err)
		}
		now = slot{raw: raw, set: true}
	}
	now.ended = true
	l.change(place{field: name}, now)
	return nil
}

// applyEvent carries out an operation on an event: done, with the time of one
// that is over already, for an import from elsewhere.
func (l *Layer) applyEvent(f schema.Field, op Op) error {
	if err := f.CheckVerb(op.Verb); err != nil {
		return Invalid(err)
	}
	raw, err := f.Normalize(op.Value)
	if err != nil {
		return Invalid(err)
	}
	l.change(place{field: op.Field}, slot{raw: raw, set: true, ended: true})
	return nil
}
