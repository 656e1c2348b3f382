// Package cost has the verbs of owner cost: Observe when a turn starts, Record
// at its end. The package cannot change other owners' fields.
package cost

import (
	"context"
	"errors"
	"fmt"

	"github.com/freehold-dev/freehold/owners/runtime"
	"github.com/freehold-dev/freehold/owners/runtime/cost/internal/costfile"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/shopspring/decimal"
)

// A Recorded is the result of Record.
type Recorded struct {
	sidecar.Commit
	// USD is the cost of the new rows.
	USD decimal.Decimal
	// Bytes is the length of the new part of the log.
	Bytes uint64
	// Skipped counts its lines that are not rows, such as one that a killed
	// writer left torn. They are not read again.
	Skipped int
	// Why names the place of the first of them, and the mistake.
	Why error
}

// mostTries bounds how often Record starts over because another Record was
// faster. Each time, that one has read the log further.
const mostTries = 20

// Record reads the rows that were appended to the cost log since the last
// Record, adds their cost to the total, and sets the length of the session's
// last prompt with the versions that [Observe] observed when the turn started.
// Without those, or without a new row, no reset is known to come before the
// prompt, and the last length stays. Each row is counted exactly once, however
// many Records run at once: the offset in the log and the total are one commit.
func Record(ctx context.Context, dir, log, session string, o *sidecar.Options) (Recorded, error) {
	w, err := costfile.Open(ctx, dir, o)
	if err != nil {
		return Recorded{}, err
	}
	defer w.Close()
	r, err := runtime.Open(dir)
	if err != nil {
		return Recorded{}, err
	}
	defer r.Close()
	for range mostTries {
		rec, err := record(ctx, w, r, log, session)
		if !errors.Is(err, sidecar.ErrConflict) {
			return rec, err
		}
	}
	return Recorded{}, fmt.Errorf("%w: other processes recorded the log faster, %d times; run it again", sidecar.ErrConflict, mostTries)
}

// record reads the log before taking the owner's lock, and returns ErrConflict
// if another Record has recorded that part meanwhile.
func record(ctx context.Context, w *costfile.Writer, r *runtime.Reader, log, session string) (Recorded, error) {
	view, err := r.View(ctx)
	if err != nil {
		return Recorded{}, err
	}
	from, err := view.LogOffset().OrUnset(0)
	if err != nil {
		return Recorded{}, err
	}
	s, err := readStretch(log, from, session)
	if err != nil {
		return Recorded{}, err
	}
	seen, begun, err := turn(view, session, s.end)
	if err != nil {
		return Recorded{}, err
	}
	rec := Recorded{USD: s.spent, Skipped: s.skipped, Why: s.why}
	if s.end > from {
		rec.Bytes = s.end - from
	}
	rec.Commit, err = w.Update(ctx, func(tx costfile.Tx) error {
		if now, _ := tx.LogOffset().Get(); now != from {
			return sidecar.ErrConflict
		}
		tx.LogOffset().Set(s.end)
		tx.TotalUSD().Add(s.spent)
		if s.last != nil && s.lastAt >= begun && seen != (runtime.LastPromptTokensSeen{}) {
			tx.LastPromptTokens().Set(seen, s.last.PromptTokens)
			tx.LastPromptObservedAt().Set(s.last.observed())
		}
		tx.Turns().Delete(session)
		return nil
	})
	return rec, err
}
