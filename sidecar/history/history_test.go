package history_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/history"
)

// A history has at most 2,000 operations, for what it takes to check it grows
// with their square, and at most 5 that are left open.
const (
	writers, readers = 4, 2
	each             = 310
	kills            = 5
)

// number returns an environment variable, or otherwise.
func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func seed(t *testing.T) uint64 {
	t.Helper()
	s := number(t, "FREEHOLD_SEED", uint64(time.Now().UnixNano()))
	t.Logf("seed %d; FREEHOLD_SEED takes it back", s)
	return s
}

func newPlayers(t *testing.T) *history.Players {
	t.Helper()
	p := history.NewPlayers()
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func play(t *testing.T, p *history.Players, g history.Game) []history.Record {
	t.Helper()
	records, err := p.Play(filepath.Join(t.TempDir(), "state"), g)
	if err != nil {
		t.Fatal(err)
	}
	return records
}

// Whatever processes do to a state and see of it, one process could have done
// and seen, one operation after another.
//
// FREEHOLD_OPERATIONS says how many operations are looked at in all.
func TestHistoriesAreLinearizable(t *testing.T) {
	wanted, first := number(t, "FREEHOLD_OPERATIONS", 2*(writers+readers)*each), seed(t)
	p := newPlayers(t)
	var tally history.Tally
	for n := uint64(0); tally.Operations < int(wanted); n++ {
		g := history.Game{Kind: "sound", Seed: first + n, Writers: writers, Readers: readers, Each: each, Kills: kills, Durability: schema.Process}
		if n%4 == 1 {
			g.Durability = schema.Power
		}
		records := play(t, p, g)
		tally.Count(records)
		for _, trouble := range slices.Concat(history.Troubles(records), history.Backward(records)) {
			t.Errorf("history of seed %d: %s", g.Seed, trouble)
		}
		if last := records[len(records)-1].Output; !last.Atomic || last.Pending > 0 {
			t.Errorf("history of seed %d: with all at rest, a view says %+v", g.Seed, last)
		}
		if result := history.Check(records); result != porcupine.Ok {
			path, err := history.Draw(records)
			t.Fatalf("the history of seed %d is %s; see %s (%v)", g.Seed, result, path, err)
		}
	}
	report(t, &tally)
}

// report says what happened, and fails unless everything did that a history
// is to tell right from wrong.
func report(t *testing.T, tally *history.Tally) {
	t.Helper()
	t.Logf("%d operations, %d of them left open; of %d views %d atomic (%.2f %%)", tally.Operations, tally.Open(), tally.Views(), tally.Atomic, 100*float64(tally.Atomic)/float64(max(tally.Views(), 1)))
	for verb, ends := range tally.Ends {
		t.Logf("%s: %v", verb, ends)
	}
	for verb, ends := range map[history.Verb][]history.End{
		history.Set: {history.Changed}, history.SetIf: {history.Changed, history.Same}, history.Add: {history.Changed, history.Pending},
		history.Raise: {history.Changed, history.Same}, history.Insert: {history.Changed, history.Same}, history.Remove: {history.Changed, history.Same},
		history.Claim: {history.Changed, history.Same}, history.Fold: {history.Same}, history.View: {history.Same},
	} {
		for _, end := range ends {
			if tally.Ends[verb][end] == 0 {
				t.Errorf("no %s ended as %s: it was %v", verb, end, tally.Ends[verb])
			}
		}
	}
}
