// Package hook has the verb of owner hook, for the copies of a hook that run
// before each tool use of a session. Its caller looks up the items.
package hook

import (
	"context"
	"fmt"
	"slices"

	"github.com/freehold-dev/freehold/owners/session/hook/internal/hookfile"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// An Item is a fact or a rule to put into a session.
type Item struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// A Call has the parameters of Inject.
type Call struct {
	// Session is the id of the session.
	Session string
	// Turn is the number of the session's turn, from 1 to [MaxTurn]. If zero,
	// the first call of a session begins the turn after the one in the state,
	// and other calls are in that turn.
	Turn uint64
	// ReinjectTurns is the number of turns after which an item is put in again.
	// If zero, never.
	ReinjectTurns uint64
	// Look returns the items, probably at some cost. Inject calls Look only
	// if an item may be due.
	Look func(context.Context) ([]Item, error)
}

// MaxTurn is the highest number of a turn: more than a session has that begins
// one every second for a year. The turn in the state never goes back, so a wrong
// number would stay for good.
const MaxTurn = 365 * 24 * 60 * 60

// An Injection is the result of a call.
type Injection struct {
	// Items to put into the session, in the order of Look. No other call gets
	// them for the same turn.
	Items []Item
	// First reports whether this call has claimed the session's first tool use.
	// By is the call that has.
	First bool
	By    sidecar.Claimant
	// Turn of the session.
	Turn uint64
}

// Inject returns the items that are due in the session: at its first tool use,
// which one of all calls claims, those that were never put in, and later those
// that were put in more than ReinjectTurns turns ago. However many calls there
// are at once, one of them gets an item. The claim comes before the look-up, so
// that there is one look-up, even of nothing. If the process with the claim dies
// before its commit, the next call takes its place.
//
// Inject returns an error that wraps [sidecar.ErrValue] for a turn above
// MaxTurn. After any error no item counts as put in; a claim that was won stays.
func Inject(ctx context.Context, dir string, c Call, o *sidecar.Options) (Injection, error) {
	if c.Turn > MaxTurn {
		return Injection{}, fmt.Errorf("%w: turn %d is higher than %d: give the turn of the session", sidecar.ErrValue, c.Turn, MaxTurn)
	}
	w, err := hookfile.Open(ctx, dir, c.Session, o)
	if err != nil {
		return Injection{}, err
	}
	defer w.Close()
	var in Injection
	if in.First, in.By, err = w.PretoolFired().Claim(ctx); err != nil {
		return Injection{}, err
	}
	due := in.First
	if !due {
		_, err = w.Update(ctx, func(tx hookfile.Tx) error {
			due = c.due(tx, in.By)
			return nil
		})
		if err != nil {
			return Injection{}, err
		}
	}
	var items []Item
	if due {
		if items, err = c.Look(ctx); err != nil {
			return Injection{}, err
		}
	}
	_, err = w.Update(ctx, func(tx hookfile.Tx) error {
		c.inject(tx, &in, items)
		if due {
			tx.LookedUp().Raise(in.Turn)
		}
		return nil
	})
	if err != nil {
		return Injection{}, err
	}
	return in, nil
}

// due reports whether an item may be due although another call has claimed the
// first tool use: because the item was last put in long ago, or because that
// call died before its commit.
func (c Call) due(tx hookfile.Tx, by sidecar.Claimant) bool {
	seen := tx.Seen().Keys()
	if _, looked := tx.LookedUp().Get(); !looked && len(seen) == 0 {
		verdict, _ := by.Identity.Judge()
		return verdict == store.Gone
	}
	turn, _ := tx.Turn().Get()
	return slices.ContainsFunc(seen, func(id string) bool {
		last, _ := tx.Seen().Key(id).Get()
		return c.again(max(turn, c.Turn), last)
	})
}

// again reports whether an item of the turn last is due again in turn.
func (c Call) again(turn, last uint64) bool {
	return c.ReinjectTurns > 0 && turn > last && turn-last > c.ReinjectTurns
}

// inject raises the turn and takes the items that are due, under the owner's
// lock, so that no other call takes the same ones.
func (c Call) inject(tx hookfile.Tx, in *Injection, items []Item) {
	in.Turn, _ = tx.Turn().Get()
	if c.Turn == 0 && (in.First || in.Turn == 0 && len(items) > 0) {
		in.Turn++
	}
	in.Turn = max(in.Turn, c.Turn)
	if in.Turn > 0 {
		tx.Turn().Raise(in.Turn)
	}
	for _, item := range items {
		if last, seen := tx.Seen().Key(item.ID).Get(); seen && !c.again(in.Turn, last) {
			continue
		}
		tx.Seen().Key(item.ID).Raise(in.Turn)
		in.Items = append(in.Items, item)
	}
}
