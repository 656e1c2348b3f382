package upgrade

import (
	"context"
	"fmt"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// Options for [Run]. The zero value, and a nil pointer, are ready to use.
type Options struct {
	// DryRun plans the upgrade without locks and without changes. Run then
	// returns the error of a real run, as far as it is foreseeable. If only held
	// locks are in the way, it returns the report as well. Their holders are
	// named as far as the kernel knows them.
	DryRun bool
	// Wait bounds the wait for another upgrade, and for each owner's commits. If
	// zero, the longest wait that an owner declares; if negative, no wait. Run
	// never waits for the live process of an exclusive owner.
	Wait time.Duration
	// Program is the writer's name in the new sidecars. If empty, "freehold".
	Program string
	// Clock tells the time for the new epoch. If nil, [time.Now].
	Clock func() time.Time
	// Notice is called, before Run returns, with the error of each pending patch
	// that is not, or not wholly, folded. If nil, these are dropped.
	Notice func(error)
}

// A Report lists the results of an upgrade, or the expected ones.
type Report struct {
	// State and Dir are the state's name and directory.
	State string
	Dir   string
	// Resumed reports whether a killed upgrade was finished first.
	Resumed bool
	// Folded lists the owners with folded patches, sorted.
	Folded []Folded
	// Changes between the state's declaration and the changed one, by owner.
	Changes []schema.Change
	// Rewritten lists the owners with rewritten sidecars, sorted.
	Rewritten []string
	// Gone lists the stored values without a place in the upgraded state, by
	// owner and field. The losses of a resumed upgrade are not included.
	Gone []Gone
	// Kept lists the copies of sidecars that were rewritten or lost their owner.
	// A dry run gives no paths.
	Kept []Kept
}

// Folded counts the folded patches of an owner.
type Folded struct {
	Owner   string `json:"owner"`
	Patches int    `json:"patches"`
}

// A Kept is the copy of an owner's sidecar before the upgrade.
type Kept struct {
	Owner string
	// Path of the copy; empty in a dry run.
	Path string
}

// Run upgrades the state in dir to the declaration d.
//
// It returns an error that wraps [sidecar.ErrBusy] if an exclusive owner has a
// live process, a commit lasts too long, or a pending patch cannot be folded;
// [sidecar.ErrForeign], [sidecar.ErrInvalid], [sidecar.ErrRegressed] or
// [sidecar.ErrUnreadable] if a sidecar is not as Freehold left it; [Misfits] if
// values cannot be converted exactly; [sidecar.ErrDeclaration] if d is another
// state's; [schema.ErrUnsound] if no owners.yaml can say d. The state is then
// unchanged, except that pending patches may be folded and a killed upgrade
// finished.
//
// After an error that wraps [sidecar.ErrIndeterminate] the upgrade has, or may
// have, taken effect: run it again.
//
// With an error the report is nil, unless a killed upgrade was finished, or
// only locks are in the way of a dry run.
func Run(ctx context.Context, dir string, d *schema.Declaration, o *Options) (*Report, error) {
	if o == nil {
		o = &Options{}
	}
	if err := d.Sound(); err != nil {
		return nil, store.WithRemedy(fmt.Errorf("%s: the new declaration: %w", dir, err), store.Remedy{Note: "correct the declaration"})
	}
	sd, err := store.Open(dir)
	if err != nil {
		return nil, err
	}
	defer sd.Close()
	r := &run{dir: sd, next: d, options: *o, report: &Report{Dir: sd.Path()}}
	r.defaults()
	if o.DryRun {
		return r.dry(ctx)
	}
	if err := r.ready(ctx); err != nil {
		return nil, err
	}
	release, err := r.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	return r.wet()
}

// A run is one call of Run.
type run struct {
	dir      *store.Store
	next     *schema.Declaration
	options  Options
	manifest *schema.Manifest
	report   *Report
	pending  *schema.Pending // in a dry run: the upgrade to finish first
	notes    []error         // in a dry run: errors for Notice
}

func (r *run) defaults() {
	if r.options.Program == "" {
		r.options.Program = "freehold"
	}
	if r.options.Clock == nil {
		r.options.Clock = time.Now
	}
}

// ready sets the wait, and keeps an instance from being removed meanwhile.
func (r *run) ready(ctx context.Context) error {
	m, err := r.dir.Manifest()
	if err != nil {
		return err
	}
	r.waits(&m.Declaration)
	if m.Instance == "" {
		return nil
	}
	return r.dir.LockShared(ctx, r.options.Wait)
}

// waits sets the wait from the declaration d.
func (r *run) waits(d *schema.Declaration) {
	if r.options.Wait == 0 {
		r.options.Wait = d.LongestWait(d.OwnerNames())
	}
}

func (r *run) wet() (*Report, error) {
	if p := r.manifest.Pending; p != nil {
		if err := r.finish(p); err != nil {
			return nil, err
		}
		r.finished(p)
	}
	if err := r.dir.Unstage(); err != nil { // leftovers of a killed upgrade
		return nil, err
	}
	resumed := *r.report
	p, err := r.plan()
	if err == nil {
		err = r.apply(p)
	}
	if err != nil && resumed.Resumed {
		return &resumed, err
	}
	if err != nil {
		return nil, err
	}
	_ = r.dir.Unstage() // empty now; the next upgrade removes it if this fails
	return r.report, nil
}

// unfinished returns err as that of an upgrade that has taken effect.
func (r *run) unfinished(err error) error {
	again := store.By(store.VerbUpgrade).Or(store.RemedyOf(err).Note)
	return &store.Error{Status: store.Indeterminate, Path: r.dir.Path(), Remedy: again, Err: fmt.Errorf("the upgrade has taken effect and is not finished: %w", err)}
}
