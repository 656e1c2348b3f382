// Package hook holds the verbs of owner hook: what the copies of a hook that
// run before each tool use may do to the state of their session. It does not
// look up what is put into a session; its caller does.
package hook

import (
	"context"
	"errors"
	"fmt"

	"github.com/freehold-dev/freehold/owners/session"
	"github.com/freehold-dev/freehold/owners/session/hook/internal/hookfile"
	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// An Item is something that can be put into a session: a fact, a rule.
type Item struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// A Call is what Inject is asked for.
type Call struct {
	// Session is the id of the session.
	Session string
	// Turn is the number of the turn that the session is in, in turns from
	// 1. If zero, nobody knows: then the first call of a session begins the
	// next turn after the one that the state says, and others are in it. It
	// may be [MaxTurn] at most.
	Turn uint64
	// ReinjectTurns is after how many turns an item is put in again. If
	// zero, never.
	ReinjectTurns uint64
	// Look returns the items, most likely at some cost. It is called only if
	// one of them may be due.
	Look func(context.Context) ([]Item, error)
}

// MaxTurn is the highest number that Inject takes for a turn: more than a session
// has in which one begins every second for a year. The number that the state knows
// never goes back, so that one which is none would stay for good.
const MaxTurn = 365 * 24 * 60 * 60

// An Injection is what became of a call.
type Injection struct {
	// Items to put into the session, in the order of Look. No other call
	// gets them for the same turn.
	Items []Item
	// First says that this call has claimed the session's first tool use.
	// By is who has.
	First bool
	By    sidecar.Claimant
	// Turn is the one that the session is in.
	Turn uint64
}

// Inject returns the items that are due in the session: at its first tool use,
// which one of all calls claims, those that were never put in, and later those
// that were put in more than ReinjectTurns turns ago. However many calls there
// are at once, one of them gets an item. The claim comes before the looking up,
// so that it is done once, also if it finds nothing. If the process that has claimed
// died before it noted what it found, the next call takes its place.
//
// It returns an error that wraps [sidecar.ErrValue] for a turn above MaxTurn. Any
// error means that no item is noted as put in; the claim, if it was won,
// stands.
func Inject(ctx context.Context, dir string, c Call, o *sidecar.Options) (Injection, error) {
	if c.Turn > MaxTurn {
		return Injection{}, fmt.Errorf("%w: %d is no number of a turn, which goes up to %d: give the one that the session is in", sidecar.ErrValue, c.Turn, MaxTurn)
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
		if due, err = c.due(ctx, dir, in.By); err != nil {
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

// due reports whether an item may have to be put in though another call has
// claimed the first tool use: because it was last put in long ago, or because
// that call died before it had put in anything.
func (c Call) due(ctx context.Context, dir string, by sidecar.Claimant) (bool, error) {
	r, err := session.Open(dir, c.Session)
	if err != nil {
		return false, err
	}
	defer r.Close()
	v, err := r.View(ctx)
	if err != nil {
		return false, err
	}
	turn, err := v.Turn().OrUnset(0)
	if err != nil {
		return false, err
	}
	seen, err := v.Seen().Keys()
	if err != nil {
		return false, err
	}
	switch _, err = v.LookedUp().Get(); {
	case errors.Is(err, reader.ErrUnset) && len(seen) == 0:
		verdict, _ := by.Identity.Judge()
		return verdict == store.Gone, nil
	case err != nil && !errors.Is(err, reader.ErrUnset):
		return false, err
	}
	for _, id := range seen {
		last, err := v.Seen().Key(id).Get()
		if err != nil {
			return false, err
		}
		if c.again(max(turn, c.Turn), last) {
			return true, nil
		}
	}
	return false, nil
}

// again reports whether an item that was last put in in the turn last is due in
// turn.
func (c Call) again(turn, last uint64) bool {
	return c.ReinjectTurns > 0 && turn > last && turn-last > c.ReinjectTurns
}

// inject moves the turn on, takes the items that are due, and notes them. It
// runs under the owner's lock, so that no other call takes the same ones.
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
