package sidecar

import (
	"context"
	"errors"
	"fmt"

	"github.com/freehold-dev/freehold/sidecar/internal/apply"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// ErrNotOpen is returned if an event is ended with a token under which nothing
// is open: it was done or abandoned already, or never began there.
var ErrNotOpen = store.NotOpen

// An Event is a field for something that takes time and has an effect outside of
// the state. Its value is the time at which it was done last. A program calls
// Begin before it causes the effect, and Done after. In between, and for good if
// the process dies there, every reader sees that the effect may have happened or
// not. Each beginning has a token, so that two that overlap never end each
// other. An Event is safe for concurrent use.
type Event struct{ event *eventField }

type eventField struct {
	w    *Writer
	name string
}

// EventOf returns the handle of the event field of w's owner. It is for generated
// code and the command line.
func EventOf(w *Writer, field string) Event { return Event{&eventField{w, field}} }

// Begin opens the event and returns the token with which to end it. Begin waits
// and fails like [Writer.Update]; after an error that wraps [ErrIndeterminate]
// the token may be open and is returned all the same. The error wraps [ErrValue]
// if 64 tokens are open.
func (e Event) Begin(ctx context.Context) (EventToken, error) {
	w, nonce := e.writer(), process.NewNonce()
	token := apply.TokenOf(w.manifest.StateID, e.event.name, nonce)
	_, err := w.Update(ctx, func(tx *Tx) error { return tx.at(tx.layer.Begin(e.event.name, nonce, w.actor.PID)) })
	if err != nil && !errors.Is(err, ErrIndeterminate) {
		token = EventToken{}
	}
	return token, err
}

// Done ends the beginning of the token: the event has had its effect, and the
// field becomes the present time. Done fails like [Writer.Update], and with
// [ErrNotOpen] if nothing is open under the token.
func (e Event) Done(ctx context.Context, token EventToken) (Commit, error) {
	return e.end(ctx, token, true)
}

// Abandon ends the beginning of the token without an effect that is known. That
// counts as a change of the field; its value stays. Abandon fails like Done.
func (e Event) Abandon(ctx context.Context, token EventToken) (Commit, error) {
	return e.end(ctx, token, false)
}

func (e Event) end(ctx context.Context, token EventToken, done bool) (Commit, error) {
	w := e.writer()
	state, field, nonce := token.Parts()
	if token.IsZero() || field != e.event.name || state != w.manifest.StateID {
		return Commit{}, fmt.Errorf("%s: field %s: %w: the token %q is of another field or state: give the one that its beginning returned", w.path, e.event.name, ErrNotOpen, token)
	}
	return w.Update(ctx, func(tx *Tx) error {
		return tx.at(tx.layer.End(field, nonce, done, w.clock()))
	})
}

// writer returns the event's Writer, and panics with a sentence if e is the zero
// Event or that of a zero Writer.
func (e Event) writer() *Writer {
	if e.event == nil {
		panic("sidecar: use of a zero Event: EventOf returns one")
	}
	e.event.w.isOpen()
	return e.event.w
}

// at puts the sidecar's path before err.
func (tx *Tx) at(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", tx.batch.w.path, err)
}
