// Package reset has the verbs of owner reset, for the hooks that compact or
// clear the agent's context. The package cannot change other owners' fields.
package reset

import (
	"context"
	"errors"
	"fmt"

	"github.com/freehold-dev/freehold/owners/runtime/reset/internal/resetfile"
	"github.com/freehold-dev/freehold/sidecar"
)

// Begin records in the state directory dir that a session is about to have its
// context compacted or cleared. Until End, and for good if the process dies
// before, data that was sampled earlier is ambiguous. Begin abandons a reset
// that the session began before and did not end.
func Begin(ctx context.Context, dir, session string, o *sidecar.Options) error {
	w, err := resetfile.Open(ctx, dir, o)
	if err != nil {
		return err
	}
	defer w.Close()
	if err := leave(ctx, w, session); err != nil {
		return err
	}
	token, err := w.LastContextResetAt().Begin(ctx)
	if err != nil {
		return err
	}
	_, err = w.Update(ctx, func(tx resetfile.Tx) error {
		tx.Begun().Key(session).Set(token.String())
		return nil
	})
	return err
}

// End records that the session's reset has taken place, and whether the next
// session start must load the context again. A session that has begun none was
// reset without notice, just now.
func End(ctx context.Context, dir, session string, cleared bool, o *sidecar.Options) error {
	w, err := resetfile.Open(ctx, dir, o)
	if err != nil {
		return err
	}
	defer w.Close()
	token, err := begun(ctx, w, session)
	if err == nil && token.IsZero() {
		token, err = w.LastContextResetAt().Begin(ctx)
	}
	if err != nil {
		return err
	}
	if _, err := w.LastContextResetAt().Done(ctx, token); err != nil && !errors.Is(err, sidecar.ErrNotOpen) {
		return err
	}
	_, err = w.Update(ctx, func(tx resetfile.Tx) error {
		tx.ContextCleared().Set(cleared)
		tx.Begun().Delete(session)
		return nil
	})
	return err
}

// begun returns the token of the reset that the session has begun and not ended;
// zero if there is none.
func begun(ctx context.Context, w *resetfile.Writer, session string) (sidecar.EventToken, error) {
	var text string
	_, err := w.Update(ctx, func(tx resetfile.Tx) error {
		text, _ = tx.Begun().Key(session).Get()
		return nil
	})
	if err != nil {
		return sidecar.EventToken{}, err
	}
	var token sidecar.EventToken
	if err := token.UnmarshalText([]byte(text)); err != nil {
		return token, fmt.Errorf("the token of session %.80q in the field begun: %w; delete that key", session, err)
	}
	return token, nil
}

// leave abandons the reset that the session has begun and not ended.
func leave(ctx context.Context, w *resetfile.Writer, session string) error {
	token, err := begun(ctx, w, session)
	if err != nil || token.IsZero() {
		return err
	}
	_, err = w.LastContextResetAt().Abandon(ctx, token)
	if errors.Is(err, sidecar.ErrNotOpen) {
		return nil // the process that ended the reset died before it deleted the key
	}
	return err
}
