package sidecar

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// MaxOpen is how often an event may have begun without being done. Whoever
// begins more never ends them.
const MaxOpen = 64

// ErrNotOpen is returned if an event is ended with a token under which nothing
// is open: it was done or abandoned already, or never began there.
var ErrNotOpen = store.NotOpen

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
	if !schema.ValidStateID(state) || !schema.ValidName(field) || !process.ValidNonce(nonce) {
		return fmt.Errorf("%w: %.80q is no token of an event: give the one that its beginning returned", ErrNotOpen, text)
	}
	*t = EventToken{state, field, nonce}
	return nil
}

// TokenOf returns the token of what is open under nonce of the event field in
// the state with the id stateID. It is for package reader.
func TokenOf(stateID, field, nonce string) EventToken { return EventToken{stateID, field, nonce} }

// An Event is a field that tells of something that takes time and has an effect
// outside of the state. Its value is the time at which it was done last. Whoever
// causes the effect calls Begin before and Done after. In between, and for good
// if the process dies there, everybody sees that the effect may have happened or
// not. Each beginning has a token of its own, so that two that overlap never end
// each other. It is safe for concurrent use, as its Writer is.
type Event struct{ event *eventField }

type eventField struct {
	w    *Writer
	name string
}

// EventOf returns the handle of the event field of w's owner. It is for generated
// code and the command line.
func EventOf(w *Writer, field string) Event { return Event{&eventField{w, field}} }

// Begin notes that the event is about to have its effect, and returns the token
// with which to end it. It waits and fails like [Writer.Update]; after an error
// that wraps [ErrIndeterminate] the token may be open and is returned all the
// same. It returns an error that wraps [ErrValue] if [MaxOpen] are open.
func (e Event) Begin(ctx context.Context) (EventToken, error) {
	w, nonce := e.event.w, process.NewNonce()
	token := EventToken{w.manifest.StateID, e.event.name, nonce}
	_, err := w.Update(ctx, func(tx *Tx) error { return tx.begin(e.event.name, nonce) })
	if err != nil && !errors.Is(err, ErrIndeterminate) {
		token = EventToken{}
	}
	return token, err
}

// Done notes that the event has had its effect, now: the field's value becomes
// the time. It fails like [Writer.Update], and with [ErrNotOpen] if nothing is
// open under the token.
func (e Event) Done(ctx context.Context, token EventToken) (Commit, error) {
	return e.end(ctx, token, true)
}

// Abandon closes what began under the token without saying that it was done.
// Nobody knows whether it had its effect: that counts as a change of the field,
// whose value stays. It fails like Done.
func (e Event) Abandon(ctx context.Context, token EventToken) (Commit, error) {
	return e.end(ctx, token, false)
}

func (e Event) end(ctx context.Context, token EventToken, done bool) (Commit, error) {
	w := e.event.w
	if token.IsZero() || token.field != e.event.name || token.state != w.manifest.StateID {
		return Commit{}, fmt.Errorf("%s: field %s: %w: the token %q is of another field or state: give the one that its beginning returned", w.file(), e.event.name, ErrNotOpen, token)
	}
	return w.Update(ctx, func(tx *Tx) error { return tx.end(token, done) })
}

// event returns the declaration of an event.
func (tx *Tx) event(name string) error {
	f, err := tx.batch.w.field(name)
	if err == nil && f.EffectiveKind() != schema.Event {
		err = fmt.Errorf("field %s: %w: it is a %s, and only an event begins and is done: use %s", name, ErrValue, f.EffectiveKind(), verbsOf[f.EffectiveKind()])
	}
	return err
}

func (tx *Tx) begin(name, nonce string) error {
	if err := tx.event(name); err != nil {
		return err
	}
	if open := len(tx.batch.base.Open(name)) + tx.batch.grown[name] + tx.grown[name]; open >= MaxOpen {
		return fmt.Errorf("%s: field %s: %w: it has begun %d times and was never done: `freehold explain %s` names the tokens; end them with `freehold done %s %s TOKEN --abandon`",
			tx.batch.w.file(), name, ErrValue, open, name, tx.batch.w.owner, name)
	}
	tx.change(place{name, nonce}, slot{set: true})
	return nil
}

func (tx *Tx) end(token EventToken, done bool) error {
	if err := tx.event(token.field); err != nil {
		return err
	}
	opening := place{token.field, token.nonce}
	if !tx.slot(opening).set {
		return fmt.Errorf("%s: field %s: %w: the token %q was done or abandoned already, or never began here: `freehold explain %s` names what is open", tx.batch.w.file(), token.field, ErrNotOpen, token, token.field)
	}
	tx.change(opening, slot{})
	if !done {
		now := tx.slot(place{field: token.field})
		now.ended = true
		tx.change(place{field: token.field}, now)
		return nil
	}
	return tx.happened(token.field, tx.batch.w.clock())
}

// happened makes at the time at which the event was done last.
func (tx *Tx) happened(name string, at time.Time) error {
	raw, err := schema.Time{}.Append(nil, at)
	if err != nil {
		return fmt.Errorf("%s: field %s: %w: the clock: %w", tx.batch.w.file(), name, ErrValue, err)
	}
	tx.change(place{field: name}, slot{raw: raw, set: true, ended: true})
	return nil
}

// applyEvent carries out an operation on an event: one that is over already, as
// those know who take it from elsewhere.
func (tx *Tx) applyEvent(f schema.Field, op Op) error {
	if op.Verb != VerbDone {
		return invalid(wrongVerb(f, op.Verb))
	}
	raw, err := f.Normalize(op.Value)
	if err != nil {
		return invalid(err)
	}
	tx.change(place{field: op.Field}, slot{raw: raw, set: true, ended: true})
	return nil
}

// openOf returns what stands at the token of an event in the base of the batch.
func (b *batch) openOf(p place) slot {
	for _, o := range b.base.Open(p.field) {
		if o.Token == p.part {
			return slot{set: true}
		}
	}
	return slot{}
}
