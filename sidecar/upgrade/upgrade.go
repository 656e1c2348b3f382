package upgrade

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// Options for [Run]. The zero value, and a nil pointer, are ready to use.
type Options struct {
	// DryRun plans the upgrade under its locks and then changes nothing. Run
	// returns the error of a real run; if that is a held lock, with the report.
	DryRun bool
	// Wait bounds the wait for another upgrade, and for each owner's commits. If
	// zero, the longest wait that an owner declares; if negative, no wait.
	Wait time.Duration
	// Program is the writer's name in the new sidecars. If empty, "freehold".
	Program string
	// Clock tells the time for the new epoch. If nil, [time.Now].
	Clock func() time.Time
	// Notice is called with the error of each pending patch that is not, or not
	// wholly, folded. If nil, these are dropped.
	Notice func(error)
}

// A Report lists the results of an upgrade, or the expected ones.
type Report struct {
	// State and Dir are the state's name and directory.
	State string `json:"state"`
	Dir   string `json:"dir"`
	// Resumed reports whether a killed upgrade was finished first.
	Resumed bool `json:"resumed"`
	// Folded lists the owners with folded patches, sorted.
	Folded []Folded `json:"folded"`
	// Changes between the two declarations, by owner.
	Changes []schema.Change `json:"changes"`
	// Gone lists the stored values without a place in the upgraded state, by
	// owner and field, without those of a resumed upgrade.
	Gone []Gone `json:"gone"`
	// Rewritten lists the owners with rewritten sidecars, sorted.
	Rewritten []string `json:"rewritten"`
	// Kept lists the copies of sidecars that were rewritten or lost their owner.
	// A dry run gives no paths.
	Kept []Kept `json:"kept"`
}

// Folded counts the folded patches of an owner.
type Folded struct {
	Owner   string `json:"owner"`
	Patches int    `json:"patches"`
}

// A Kept is the copy of an owner's sidecar before the upgrade.
type Kept struct {
	Owner string `json:"owner"`
	// Path of the copy; empty in a dry run.
	Path string `json:"path,omitzero"`
}

// Run upgrades the state in dir to the declaration d.
//
// It returns an error that wraps [sidecar.ErrBusy] if an exclusive owner has a
// live process, a commit lasts too long, or a pending patch cannot be folded;
// [store.Foreign], [store.Invalid], [store.Regressed] or
// [store.Unreadable] if a sidecar is not as Freehold left it;
// [sidecar.ErrValue], with a line for each value, if values cannot be converted
// exactly; [sidecar.ErrDeclaration] if d is another state's, or a once field
// gets another name, owner or kind; [schema.ErrUnsound] if no owners.yaml can
// say d. The state is then unchanged, except that pending patches may be folded
// and a killed upgrade finished. The report is then nil, unless one was finished.
//
// After an error that wraps [sidecar.ErrIndeterminate] the upgrade has, or may
// have, taken effect: run it again.
func Run(ctx context.Context, dir string, d *schema.Declaration, o *Options) (*Report, error) {
	if o == nil {
		o = &Options{}
	}
	if err := d.Sound(); err != nil {
		return nil, store.WithRemedy(fmt.Errorf("%s: the new declaration: %w", dir, err), store.Remedy{Note: "correct the declaration"})
	}
	sd, err := statedir.Open(dir)
	if err != nil {
		return nil, err
	}
	defer sd.Close()
	r := &run{dir: sd, next: d, options: *o, report: &Report{Dir: sd.Path()}, folded: map[string]int{}}
	if err := r.enter(ctx); err != nil {
		return nil, err
	}
	release, err := r.lock(ctx)
	switch {
	case err == nil:
		defer release()
	case o.DryRun && errors.Is(err, sidecar.ErrBusy):
		r.refused = err // nothing is written, so the plan needs no locks
	default:
		return nil, err
	}
	report, err := r.upgrade()
	if r.refused != nil {
		err = errors.Join(fmt.Errorf("would be refused: %w", r.refused), err)
	}
	return report, err
}

// A run is one call of Run.
type run struct {
	dir      *statedir.Dir
	next     *schema.Declaration
	options  Options
	manifest *schema.Manifest
	report   *Report
	folded   map[string]int  // by owner; folded patches
	resumed  *schema.Pending // the upgrade that was finished first
	refused  error           // an obstacle outside the sidecars, in a dry run
}

// enter sets the defaults, and keeps an instance from being removed meanwhile.
func (r *run) enter(ctx context.Context) (err error) {
	if r.options.Program == "" {
		r.options.Program = "freehold"
	}
	if r.options.Clock == nil {
		r.options.Clock = time.Now
	}
	if r.manifest, err = r.dir.Manifest(); err != nil {
		return err
	}
	if r.options.Wait == 0 {
		r.options.Wait = r.manifest.Declaration.LongestWait(r.manifest.Declaration.OwnerNames())
	}
	if r.manifest.Instance == "" {
		return nil
	}
	return r.dir.LockShared(ctx, r.options.Wait)
}

// upgrade finishes a killed upgrade, then plans and executes this one.
func (r *run) upgrade() (*Report, error) {
	if r.manifest.Pending != nil {
		if err := r.finish(); err != nil {
			return nil, err
		}
		r.report.Resumed, r.report.State = true, r.manifest.Declaration.State
		r.keep(r.resumed)
	}
	if !r.options.DryRun {
		if err := r.dir.Unstage(); err != nil { // leftovers of a killed upgrade
			return nil, err
		}
	}
	resumed := *r.report
	p, err := r.plan()
	if err == nil {
		err = r.apply(p)
	}
	switch {
	case err == nil:
		for _, owner := range slices.Sorted(maps.Keys(r.folded)) {
			if n := r.folded[owner]; n > 0 {
				r.report.Folded = append(r.report.Folded, Folded{owner, n})
			}
		}
		return r.report, nil
	case resumed.Resumed:
		return &resumed, err
	}
	return nil, err
}

func (r *run) sidecarPath(owner string) string {
	return filepath.Join(r.dir.Path(), statedir.Sidecar(owner))
}
