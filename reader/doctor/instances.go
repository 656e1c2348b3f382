package doctor

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/freehold-dev/freehold/sidecar/store"
)

// instances examines every instance, and the directory that holds them.
func (x *examination) instances(ctx context.Context, found []store.Instance) error {
	c := &check{examination: x, path: x.report.Dir}
	if g, err := store.GatheringIn(c.path); err == nil {
		x.report.State = g.State
		c.note("state", "state %s in %s, an instance per %s", g.State, c.path, g.By)
	}
	c.release()
	stale := 0
	for n, i := range found {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if x.Progress != nil {
			x.Progress(n, len(found))
		}
		path := filepath.Join(c.path, i.Name)
		if i.Err != nil {
			(&check{examination: x, path: path}).closed(i.Err)
			continue
		}
		newest, err := x.state(ctx, path, i.ID)
		if err != nil {
			return err
		}
		if x.Stale > 0 && !newest.IsZero() && x.Clock().Sub(newest) > x.Stale {
			stale++
		}
	}
	c.note("instances", "there are %d", len(found))
	if stale > 0 {
		c.find("instances-stale", c.path, fmt.Sprintf("not written for %s: %d of %d instances", age(x.Stale), stale, len(found)), store.By("prune", "--older-than", age(x.Stale)))
	}
	left, err := store.Leftovers(c.path)
	for _, e := range left {
		c.staged(e, "is being made or removed")
	}
	return err
}

// staged adds a finding if a killed process left e, and else a note.
func (c *check) staged(e store.Entry, busy string) {
	switch {
	case e.Err != nil:
		c.fault(c.unusable(), e.Name, e.Err)
	case !e.Intact.IsZero(): // the finding of its owner's sidecar names it
	case e.Orphaned:
		c.find("litter", e.Name, "a killed process left it; it counts for nothing", store.By("prune"))
	default:
		c.note("staged", "%s %s", e.Name, busy)
	}
}

// age returns a duration in the form of the flags: 7d, 36h0m0s.
func age(d time.Duration) string {
	const day = 24 * time.Hour
	if d%day == 0 {
		return fmt.Sprintf("%dd", d/day)
	}
	return d.String()
}
