package upgrade

import (
	"context"
	"fmt"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// Options for Run. The zero value, and a nil pointer, are ready to use.
type Options struct {
	// DryRun finds out what Run would do, takes no lock and changes nothing. It
	// returns the error that Run would return, as far as that is known before,
	// and where locks alone keep Run from it, also what it would do without
	// that. Who holds a lock it finds out as far as the kernel tells.
	DryRun bool
	// Wait is how long Run waits for another upgrade, and for each owner's
	// commits. If zero, the longest wait that an owner of the state declares;
	// if negative, not at all. For the process of an exclusive owner it never
	// waits.
	Wait time.Duration
	// Program is the name that the new sidecars say wrote them. If empty,
	// "freehold".
	Program string
	// Clock tells the time for the epoch that begins. If nil, [time.Now].
	Clock func() time.Time
	// Notice is told, before Run returns, of a pending patch that is not
	// folded, or not whole, or would not be. If nil, nobody is told.
	Notice func(error)
}

// A Report says what an upgrade did, or would do.
type Report struct {
	// State and Dir are the state's name and its directory.
	State string
	Dir   string
	// Resumed reports whether an upgrade that was killed had to be finished
	// first.
	Resumed bool
	// Folded lists the owners of whose pending patches any were folded
	// first, sorted.
	Folded []Folded
	// Changes between the state's declaration and the changed one, by owner.
	Changes []schema.Change
	// Rewritten lists the owners whose sidecars were written anew, sorted.
	Rewritten []string
	// Gone lists what is stored and has no place in the upgraded state, by
	// owner and field. Of an upgrade that had to be finished first it says
	// nothing.
	Gone []Gone
	// Kept says where the sidecars went that were written anew or belong to
	// no owner any more. A dry run names no paths.
	Kept []Kept
}

// Folded says how many patches that an owner had deferred were folded.
type Folded struct {
	Owner   string `json:"owner"`
	Patches int    `json:"patches"`
}

// A Kept sidecar is what an owner's was before the upgrade.
type Kept struct {
	Owner string
	// Path of the copy; empty in a dry run.
	Path string
}

// Run brings the state in dir up to the declaration d. It returns an error that
// wraps [sidecar.ErrBusy] if an exclusive owner has a live process, somebody
// commits for too long, or a pending patch cannot be folded;
// [sidecar.ErrForeign], [sidecar.ErrInvalid], [sidecar.ErrRegressed] or
// [sidecar.ErrUnreadable] if a sidecar is not as Freehold left it; [Misfits] if
// values cannot be converted exactly; [sidecar.ErrDeclaration] if d is another
// state's; [schema.ErrUnsound] if no owners.yaml says d. Nothing has changed
// then, but that pending patches is folded, and that an upgrade which was
// killed is finished; only of that the report tells, which else is nil with an
// error, but in a dry run that nothing but locks is in the way of. After an error that wraps [sidecar.ErrIndeterminate] the upgrade has, or
// may have, taken effect: run it again.
func Run(ctx context.Context, dir string, d *schema.Declaration, o *Options) (*Report, error) {
	if o == nil {
		o = &Options{}
	}
	if err := d.Sound(); err != nil {
		return nil, fmt.Errorf("%s: %w: mend the declaration", dir, err)
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
	pending  *schema.Pending // of a dry run: what would be finished first
	notes    []error         // of a dry run: what is for its Notice
}

func (r *run) defaults() {
	if r.options.Program == "" {
		r.options.Program = "freehold"
	}
	if r.options.Clock == nil {
		r.options.Clock = time.Now
	}
}

// ready finds out how long to wait, and keeps an instance from being removed
// meanwhile.
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

// waits settles how long a run waits in a state that d declares.
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
	if err := r.dir.Unstage(); err != nil { // what a killed one left
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
	_ = r.dir.Unstage() // it is empty now, and the next upgrade's to remove if that fails
	return r.report, nil
}

// unfinished says of an error that it came after the upgrade took effect.
func (r *run) unfinished(err error) error {
	again := store.By(store.VerbUpgrade).Or(store.RemedyOf(err).Note)
	return &store.Error{Status: store.Indeterminate, Path: r.dir.Path(), Remedy: again, Err: fmt.Errorf("the upgrade has taken effect and is not finished: %w", err)}
}
