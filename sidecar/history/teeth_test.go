package history_test

import (
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/history"
)

// The check notices views that are read one owner after another.
func TestCheckFindsWhatIsWrong(t *testing.T) {
	for name, g := range map[string]history.Game{
		"views of one owner after another as if once": {Kind: "naive", Writers: 3, Readers: 2, Each: 100},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlayers(t)
			g.Durability = schema.Process
			first, operations := seed(t), 0
			for n := range uint64(200) {
				g.Seed = first + n
				records := play(t, p, g)
				operations += len(records)
				switch result := history.Check(records); result {
				case porcupine.Illegal:
					t.Logf("found after %d operations", operations)
					return
				case porcupine.Unknown:
					t.Fatalf("the history of seed %d is %s", g.Seed, result)
				}
			}
			t.Errorf("not found in %d operations", operations)
		})
	}
}

// What the check makes of histories that are written by hand.
func TestCheckOfSmallHistories(t *testing.T) {
	add := func(client int, from, to int64) history.Record {
		return history.Record{Client: client, Input: history.Input{Verb: history.Add, N: 1}, Output: history.Output{End: history.Changed}, Call: from, Return: to}
	}
	killed := func(r history.Record) history.Record {
		r.Output, r.Return = history.Output{}, 0
		return r
	}
	see := func(s history.State, atomic bool, from, to int64) history.Record {
		out := history.Output{End: history.Same, Parts: history.Everything, Seen: s, Atomic: atomic}
		return history.Record{Client: 9, Input: history.Input{Verb: history.View}, Output: out, Call: from, Return: to}
	}
	set := func(client int, n, revision uint64, from, to int64) history.Record {
		out := history.Output{End: history.Changed, Parts: history.OfCost, Seen: history.State{Revision: revision, Note: n}}
		return history.Record{Client: client, Input: history.Input{Verb: history.Set, N: n}, Output: out, Call: from, Return: to}
	}
	claim := func(client int, n, by uint64, end history.End, from, to int64) history.Record {
		out := history.Output{End: end, Parts: history.OfClaim(3)}
		out.Seen.Claims[3] = by
		return history.Record{Client: client, Input: history.Input{Verb: history.Claim, N: n, Field: 3}, Output: out, Call: from, Return: to}
	}
	for name, tc := range map[string]struct {
		records []history.Record
		want    porcupine.CheckResult
	}{
		"nothing":                        {nil, porcupine.Ok},
		"two additions, both seen":       {[]history.Record{add(1, 1, 5), add(2, 2, 4), see(history.State{Count: 2}, true, 6, 7)}, porcupine.Ok},
		"one is lost":                    {[]history.Record{add(1, 1, 5), add(2, 2, 4), see(history.State{Count: 1}, true, 6, 7)}, porcupine.Illegal},
		"one is doubled":                 {[]history.Record{add(1, 1, 5), see(history.State{Count: 2}, true, 6, 7)}, porcupine.Illegal},
		"one may be seen before it ends": {[]history.Record{add(1, 1, 5), see(history.State{Count: 1}, true, 2, 3)}, porcupine.Ok},
		"a killed one is there":          {[]history.Record{killed(add(1, 1, 0)), see(history.State{Count: 1}, true, 6, 7)}, porcupine.Ok},
		"a killed one is not there":      {[]history.Record{killed(add(1, 1, 0)), see(history.State{}, true, 6, 7)}, porcupine.Ok},
		"a killed one goes away again":   {[]history.Record{killed(add(1, 1, 0)), see(history.State{Count: 1}, true, 6, 7), see(history.State{}, true, 8, 9)}, porcupine.Illegal},
		"a commit is overwritten unseen": {[]history.Record{set(1, 10, 1, 1, 2), set(2, 20, 1, 3, 4)}, porcupine.Illegal},
		"commits in turn":                {[]history.Record{set(1, 10, 1, 1, 2), set(2, 20, 2, 3, 4)}, porcupine.Ok},
		"two winners":                    {[]history.Record{claim(1, 10, 10, history.Changed, 1, 5), claim(2, 20, 20, history.Changed, 2, 6)}, porcupine.Illegal},
		"a winner and a loser":           {[]history.Record{claim(1, 10, 10, history.Changed, 1, 5), claim(2, 20, 10, history.Same, 2, 6)}, porcupine.Ok},
		"a killed winner":                {[]history.Record{killed(claim(1, 10, 0, "", 1, 0)), claim(2, 20, 10, history.Same, 2, 6)}, porcupine.Ok},
		"a winner nobody has heard of":   {[]history.Record{claim(2, 20, 10, history.Same, 2, 6)}, porcupine.Illegal},
		"a torn view that says so":       {[]history.Record{set(1, 10, 1, 2, 3), add(1, 4, 5), see(history.State{Count: 1}, false, 1, 6)}, porcupine.Ok},
		"a torn view that does not":      {[]history.Record{set(1, 10, 1, 2, 3), add(1, 4, 5), see(history.State{Count: 1}, true, 1, 6)}, porcupine.Illegal},
		"an old view of one owner":       {[]history.Record{set(1, 10, 1, 2, 3), see(history.State{}, false, 4, 6)}, porcupine.Illegal},
	} {
		t.Run(name, func(t *testing.T) {
			if got := history.Check(tc.records); got != tc.want {
				t.Errorf("it is %s, want %s", got, tc.want)
			}
		})
	}
}
