package reader

import (
	"context"
	"iter"
)

// Notices is what a watch needs to be told of changes.
type Notices = notices

// WatchBy is Watch with notices of a test's own.
func (r *Reader) WatchBy(ctx context.Context, start func() (Notices, error)) iter.Seq2[*View, error] {
	return r.watch(ctx, start)
}

// MostRounds is how often View reads every file before it settles for less.
const MostRounds = mostRounds

// SetRounds gives r another number of rounds; with 0, no view is atomic.
func (r *Reader) SetRounds(n int) { r.rounds = n }
