package history

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// A client does operations on one state.
type client struct {
	dir     string
	view    Viewer
	writers map[writer]*sidecar.Writer
	notice  error           // of the writers; there should be none
	at      sidecar.Version // of cost, as this client saw it last
	last    commit
}

// A writer says which Writer an operation is done with: a hasty one does not
// wait for the lock.
type writer struct {
	owner string
	hasty bool
}

// A commit is one that this client has made.
type commit struct {
	owner string
	sidecar.Commit
}

// newClient returns a client with a clock that is ahead.
func newClient(dir string, d *schema.Declaration, ahead time.Duration, view func(dir string) (Viewer, error)) (*client, error) {
	c := &client{dir: dir, writers: map[writer]*sidecar.Writer{}}
	for _, w := range []writer{{"cost", false}, {"cost", true}, {"tool", false}, {"tool", true}, {"hook", false}} {
		o := &sidecar.Options{Wait: time.Minute, Notice: func(err error) { c.notice = errors.Join(c.notice, err) },
			Clock: func() time.Time { return time.Now().Add(ahead) }}
		if w.hasty {
			o.Wait = -1
		}
		opened, err := sidecar.Open(context.Background(), dir, d, w.owner, o)
		if err != nil {
			return nil, errors.Join(err, c.close())
		}
		c.writers[w] = opened
	}
	var err error
	if c.view, err = view(dir); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

func (c *client) close() error {
	var errs []error
	for _, w := range c.writers {
		errs = append(errs, w.Close())
	}
	if c.view != nil {
		errs = append(errs, c.view.Close())
	}
	return errors.Join(errs...)
}

// act does an operation.
func (c *client) act(in Input) Output {
	do := c.tool
	switch in.Verb {
	case View:
		do = func(Input) (Output, error) { return c.view.View(context.Background()) }
	case Claim:
		do = c.claim
	case Resolve:
		do = c.resolve
	case Set, SetIf, Cost:
		do = c.cost
	}
	out, err := do(in)
	if err != nil {
		out.End = Refused
	}
	if err := errors.Join(err, c.notice); err != nil {
		out.Trouble += fmt.Sprintf("%s: %v", in.Verb, err)
	}
	c.notice = nil
	return out
}

// cost does an operation on owner cost.
func (c *client) cost(in Input) (Output, error) {
	var seen State
	out, by, err := c.update("cost", in, func(tx *sidecar.Tx) {
		note := sidecar.ValueOf(tx, "note", schema.Uint)
		switch in.Verb {
		case SetIf:
			tx.IfVersion(c.at)
			note.Set(in.N)
		case Set:
			note.Set(in.N)
		}
		seen.Note, _ = note.Get()
	})
	if by.Outcome != sidecar.NotApplied {
		c.at, seen.Revision = by.Version, by.Version.Revision
		out.Parts, out.Seen = OfCost, seen
	}
	return out, err
}

// tool does an operation on owner tool.
func (c *client) tool(in Input) (Output, error) {
	var seen State
	out, by, err := c.update("tool", in, func(tx *sidecar.Tx) {
		count, peak := sidecar.CounterOf(tx, "count", schema.Uint), sidecar.MaxOf(tx, "peak", schema.Uint)
		tags := sidecar.SetOf(tx, "tags", schema.Uint)
		switch in.Verb {
		case Add:
			count.Add(in.N)
			peak.Raise(in.Peak)
		case Raise:
			peak.Raise(in.N)
		case Insert:
			tags.Insert(in.N)
		case Remove:
			tags.Remove(in.N)
		}
		if !tx.WriteOnly() || in.Verb == Fold {
			seen.Count, _ = count.Get()
			seen.Peak, _ = peak.Get()
			seen.Tags = mask(tags.All())
		}
	})
	// A commit finds the state as it was when it listed pending patches. More may
	// be deferred, and be in views, before the commit itself is.
	if by.Outcome == sidecar.Unchanged {
		out.Parts, out.Seen = OfTool, seen
	}
	return out, err
}

// ends maps the outcomes of commits to ends of a history.
var ends = map[sidecar.Outcome]End{
	sidecar.NotApplied: Refused, sidecar.Applied: Changed, sidecar.Unchanged: Same, sidecar.Deferred: Pending,
}

// update is an Update.
func (c *client) update(owner string, in Input, fn func(*sidecar.Tx)) (Output, sidecar.Commit, error) {
	by, err := c.writers[writer{owner, in.Hasty}].Update(context.Background(), func(tx *sidecar.Tx) error {
		fn(tx)
		time.Sleep(time.Duration(in.Keep) * time.Microsecond)
		return nil
	})
	if by.Outcome == sidecar.Applied || by.Outcome == sidecar.Deferred {
		c.last = commit{owner, by}
	}
	out := Output{End: ends[by.Outcome]}
	switch {
	case errors.Is(err, sidecar.ErrBusy):
		err = nil
	case errors.Is(err, sidecar.ErrConflict):
		out.End, err = Same, nil
	}
	return out, by, err
}

func (c *client) claim(in Input) (Output, error) {
	won, by, err := c.writers[writer{"hook", false}].ClaimAt(context.Background(), claimName(in.Field), time.Unix(0, int64(in.N)))
	out := Output{End: Same, Parts: OfClaim(in.Field)}
	if won {
		out.End = Changed
	}
	out.Seen.Claims[in.Field] = uint64(by.At.UnixNano())
	return out, err
}

// resolve asks for the outcome of this client's last commit, which the client knows.
func (c *client) resolve(Input) (Output, error) {
	if c.last.owner == "" {
		return Output{End: Refused}, nil
	}
	got, err := sidecar.Resolve(context.Background(), c.dir, c.last.owner, c.last.Version)
	switch {
	case errors.Is(err, sidecar.ErrBusy), errors.Is(err, store.Unknown): // it says so; it is not wrong
		return Output{End: Refused}, nil
	case err != nil || got == c.last.Outcome || got == sidecar.Applied:
		return Output{End: Same}, err
	}
	return Output{}, fmt.Errorf("the commit %+v was resolved as %v", c.last, got)
}
