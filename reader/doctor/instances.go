package doctor

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/freehold-dev/freehold/sidecar/store"
)

// instances looks at every instance, and at what holds them.
func (x *examination) instances(ctx context.Context, found []store.Instance) error {
	p := &patient{examination: x, path: x.report.Dir}
	x.ids = map[string]string{}
	if g, err := store.GatheringIn(p.path); err == nil {
		x.report.State = g.State
		p.note("state", "state %s in %s, an instance per %s", g.State, p.path, g.By)
	}
	p.how()
	stale := 0
	for _, i := range found {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		path := filepath.Join(p.path, i.Name)
		if i.Err != nil {
			(&patient{examination: x, path: path}).closed(i.Err)
			continue
		}
		newest, err := x.one(ctx, path, i.ID)
		if err != nil {
			return err
		}
		if x.Stale > 0 && !newest.IsZero() && x.Clock().Sub(newest) > x.Stale {
			stale++
		}
	}
	p.note("instances", "there are %d", len(found))
	if stale > 0 {
		p.find(InstancesStale, p.path, fmt.Sprintf("not written for %s: %d of %d instances", age(x.Stale), stale, len(found)), p.run("prune", "--older-than", age(x.Stale)))
	}
	return p.beginnings()
}

// one looks at an instance and returns when it was written last.
func (x *examination) one(ctx context.Context, path, id string) (time.Time, error) {
	p := &patient{examination: x, path: path, instance: id}
	err := p.look(ctx)
	return p.newest, err
}

// beginnings says what was left of instances in the making, or being removed.
func (p *patient) beginnings() error {
	left, err := store.Leftovers(p.path)
	if err != nil {
		return err
	}
	for _, e := range left {
		switch {
		case e.Err != nil:
			p.find(InstanceOdd, e.Name, e.Err.Error(), p.away(e.Name))
		case e.Orphaned:
			p.find(Litter, e.Name, "a killed process left it; it counts for nothing", p.run("prune"))
		default:
			p.note("staged", "%s is being made or removed", e.Name)
		}
	}
	return nil
}

// age returns a duration as `freehold prune` reads it.
func age(d time.Duration) string {
	const day = 24 * time.Hour
	if d%day == 0 {
		return fmt.Sprintf("%dd", d/day)
	}
	return d.String()
}
