// Package watchdog has the verb of owner watchdog, which decides from the view
// whether the agent's context has grown too long, and records the decision for
// its caller.
package watchdog

import (
	"context"
	"errors"

	"github.com/freehold-dev/freehold/owners/runtime"
	"github.com/freehold-dev/freehold/owners/runtime/watchdog/internal/watchdogfile"
	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/sidecar"
)

const (
	// DefaultThreshold is the length of a prompt, in tokens, beyond which the
	// guard acts.
	DefaultThreshold = 700_000
	// Aberrant is longer than any prompt: beyond that the reading is wrong.
	Aberrant = 2_000_000
)

// Tick takes a view of the state, decides, records the decision and returns
// it. The owner is exclusive: while another watchdog is alive, Tick returns
// an error that wraps [sidecar.ErrBusy] and decides nothing.
func Tick(ctx context.Context, dir string, threshold uint64, o *sidecar.Options) (runtime.LastDecision, error) {
	none := runtime.LastDecision{}
	w, err := watchdogfile.Open(ctx, dir, o)
	if err != nil {
		return none, err
	}
	defer w.Close()
	r, err := runtime.Open(dir)
	if err != nil {
		return none, err
	}
	defer r.Close()
	view, err := r.View(ctx)
	if err != nil {
		return none, err
	}
	decision := Decide(view, threshold)
	_, err = w.Update(ctx, func(tx watchdogfile.Tx) error {
		tx.LastDecision().Set(decision)
		return nil
	})
	if err != nil {
		return none, err // a decision that is not recorded is not acted upon
	}
	return decision, nil
}

// Decide is the guard, and acts only on a prompt that was sampled after the last
// reset and is longer than threshold tokens. The observed versions decide that,
// never clocks; anything unknown means "do nothing": a lost stamp must not fail
// toward the destructive side.
func Decide(view runtime.View, threshold uint64) runtime.LastDecision {
	_, err := view.LastContextResetAt().Get()
	if err != nil && !errors.Is(err, reader.ErrUnset) {
		return runtime.LastDecisionUnreadableResetStamp()
	}
	tokens, entryErr := view.LastPromptTokens().Get()
	freshness := view.LastPromptTokens().Freshness()
	switch {
	case freshness.Verdict == reader.Ambiguous, len(view.LastContextResetAt().Open()) > 0:
		return runtime.LastDecisionResetUnderWay()
	case err != nil:
		return runtime.LastDecisionNoResetStamp()
	case entryErr != nil:
		return runtime.LastDecisionNoEntry()
	case freshness.Verdict == reader.Stale:
		return runtime.LastDecisionStaleEntry()
	case !freshness.Fresh():
		return runtime.LastDecisionUnknownEntry()
	case tokens > Aberrant:
		return runtime.LastDecisionAberrantReading()
	case tokens > threshold:
		return runtime.LastDecisionAct()
	}
	return runtime.LastDecisionBelowThreshold()
}
