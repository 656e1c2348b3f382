package sidecar

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/apply"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/lease"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// GeneratedAPI1 is the interface between this release and generated code.
// Generated code mentions it, so that the two do not compile together if
// either is of an incompatible release.
const GeneratedAPI1 = 1

// Options for a Writer. The zero value, and a nil pointer, are ready to use.
type Options struct {
	// Create makes the state directory if there is none yet.
	Create bool
	// Program is the name under which provenance records what is written.
	// If empty, the base name of the running executable.
	Program string
	// Wait is how long a call waits for another process's commit. If zero,
	// as long as the declaration says; if negative, not at all.
	Wait time.Duration
	// LeaseWait is how long Open waits while another process holds an
	// exclusive owner's lease. If zero or negative, not at all.
	LeaseWait time.Duration
	// Clock tells the time for provenance and new epochs. If nil, [time.Now].
	Clock func() time.Time
	// Notice is told what stops nothing and somebody should know: whom an
	// Open has been waiting for, for longer than a second, that the record of
	// a lease was found damaged, and that a pending patch is not
	// folded, or not whole. The call that found out calls it
	// and waits for it; it must not use the Writer. If nil, nobody is told.
	Notice func(error)
}

// A Writer writes one owner's sidecar. It is safe for concurrent use.
type Writer struct {
	dir        *statedir.Dir
	path       string // of the sidecar
	manifest   *schema.Manifest
	built      *schema.Declaration // that the program goes by
	owner      string
	declared   schema.Owner // by the manifest
	known      schema.Owner // by the declaration that the program was built from
	rules      *apply.Rules
	keysOwners map[string]*neighbour
	// observers are the owners whose fields depend on this one's.
	observers []*store.Source
	upgraded  Version // see [store.Upgraded]
	program   string
	wait      time.Duration
	clock     func() time.Time
	notice    func(error)

	lock      *statedir.Lock
	lease     *statedir.Lock // held if the owner is exclusive, else nil
	publisher publisher

	// Of the lease: its epoch, what the record says of this process, the
	// record's bytes as this Writer wrote them, and a buffer to read it.
	epoch       uint64
	holder      *lease.Holder
	recordRaw   []byte
	recordSpare []byte

	// text is the manifest as this Writer last found that it may go on, and
	// textSpare a buffer to look at it.
	text, textSpare []byte
	// folds is whether commits fold the pending patches of others: an
	// owner may begin to defer while the Writer is open.
	folds bool

	// last is the sidecar as this Writer last read or wrote it. It spares a
	// decoding when the bytes are still the same, and is never a reason not
	// to read them.
	source  *store.Source
	last    *document.Document
	lastRaw []byte
	fresh   []byte // buffer for the next encoding
	// seen is the newest version that this Writer has read or written.
	seen Version

	// Of pending patches: the weights of those that are there, the version
	// whose folded patches this Writer has unlinked, and the names of those
	// that Notice has heard of.
	spool   spool
	cleared Version
	told    map[string]bool

	queue queue
	once  sync.Once
	close error
}

// Open opens the sidecar of owner in the state directory dir for a program
// that was built from the declaration d, and upgrades the manifest if d
// declares more. With a nil d the manifest alone counts.
//
// For an exclusive owner Open takes the lease, which this process then holds
// until Close or until it ends, and begins an epoch. If another process holds
// the lease, alive or stopped, Open returns an error that wraps [ErrBusy] and
// names it, at once or after o.LeaseWait. While somebody keeps the fence shut,
// as a retirement does, Open waits as long as ctx allows, so that a
// supervisor does not run out of restarts.
//
// It returns an error that wraps [store.NoState] if dir is no state directory,
// [store.Unsafe] if it is not safe, [ErrDeclaration] if d and the manifest
// contradict each other, [ErrNotOwner] if the manifest does not know owner,
// [store.Lost] if a lock file was lost, and [store.Lost] if the directory of its
// claims was. What the sidecar holds does not
// matter yet: Update says.
func Open(ctx context.Context, dir string, d *schema.Declaration, owner string, o *Options) (*Writer, error) {
	if o == nil {
		o = &Options{}
	}
	sd, err := openDir(dir, d, o.Create)
	if err != nil {
		return nil, advised(err)
	}
	return openIn(ctx, sd, d, owner, o)
}

func openIn(ctx context.Context, sd *statedir.Dir, d *schema.Declaration, owner string, o *Options) (*Writer, error) {
	w := &Writer{dir: sd, path: filepath.Join(sd.Path(), statedir.Sidecar(owner)), owner: owner, clock: o.Clock, notice: o.Notice, program: process.ProgramName(o.Program), publisher: &replace{dir: sd}}
	if w.clock == nil {
		w.clock = time.Now
	}
	if err := w.open(ctx, d, o); err != nil {
		w.shut()
		return nil, advised(err)
	}
	return w, nil
}

// Create makes dir a state directory for the declaration d, or if d has
// instances, the directory that holds them. It returns an
// error that wraps [store.Exists] if it is one already.
func Create(dir string, d *schema.Declaration) error { return advised(statedir.Create(dir, d)) }

func openDir(dir string, d *schema.Declaration, create bool) (*statedir.Dir, error) {
	sd, err := statedir.Open(dir)
	if !create || d == nil || d.Instanced() || !errors.Is(err, store.NoState) {
		return sd, err
	}
	// Another process may create it at the same moment: then it is there.
	if err := statedir.Create(dir, d); err != nil && !errors.Is(err, store.Exists) {
		return nil, err
	}
	return statedir.Open(dir)
}

func (w *Writer) open(ctx context.Context, d *schema.Declaration, o *Options) (err error) {
	if w.manifest, err = lease.Enter(ctx, w.dir, d, w.owner, o.Wait); err != nil {
		return err
	}
	if w.built = d; d == nil {
		w.built = &w.manifest.Declaration
	}
	w.text = w.manifest.Text
	declared, ok := w.manifest.Declaration.Owners[w.owner]
	if !ok {
		return lease.Undeclared(w.dir, w.manifest, w.owner)
	}
	w.declared, w.known, w.folds = declared, declared, declared.Defers()
	if d != nil {
		w.known = d.Owners[w.owner]
	}
	w.source = store.On(w.dir).Source(w.manifest, w.owner)
	w.rules = rulesOf(w.manifest, w.owner, w.known)
	w.keysOwners = keysOwners(&w.manifest.Declaration, w.owner)
	for _, observer := range store.Observers(&w.manifest.Declaration, w.owner) {
		w.observers = append(w.observers, store.On(w.dir).Source(w.manifest, observer))
	}
	w.upgraded = store.Upgraded(w.manifest, w.owner)
	switch w.wait = o.Wait; {
	case o.Wait == 0:
		w.wait = w.known.EffectiveWait() // how long this program waits is its own affair
	case o.Wait < 0:
		w.wait = 0
	}
	if err := w.probeClaims(); err != nil {
		return err
	}
	if w.lock, err = w.openLock(statedir.OwnerLock(w.owner)); err != nil {
		return err
	}
	if declared.EffectiveMode() == schema.Exclusive {
		return w.takeLease(ctx, o.LeaseWait)
	}
	return nil
}

// rulesOf returns the rules by which operations of owner are applied; known is
// the owner as the program was built.
func rulesOf(m *schema.Manifest, owner string, known schema.Owner) *apply.Rules {
	return &apply.Rules{Declaration: &m.Declaration, StateID: m.StateID, Owner: owner, Known: known}
}

func (w *Writer) openLock(name string) (*statedir.Lock, error) {
	return w.dir.OpenLock(name, w.manifest.Locks[name])
}

// Owner returns the name of the owner.
func (w *Writer) Owner() string { return w.owner }

// Declaration returns the declaration that the state's manifest holds. It
// must not be changed.
func (w *Writer) Declaration() *schema.Declaration { return &w.manifest.Declaration }

// file returns the sidecar's path for messages.
func (w *Writer) file() string { return w.path }

// Close closes the Writer and gives an exclusive owner's lease back. Updates
// under way finish first, so that an Update's own function must not call it;
// later ones get [ErrClosed]. Closing again is harmless.
func (w *Writer) Close() error {
	w.once.Do(func() {
		w.queue.close()
		w.close = errors.Join(w.giveBack(context.Background()), w.shut())
	})
	return w.close
}

func (w *Writer) shut() error {
	var errs []error
	for _, l := range []*statedir.Lock{w.lock, w.lease} {
		if l != nil {
			errs = append(errs, l.Close())
			leases.Delete(l)
		}
	}
	return errors.Join(append(errs, w.dir.Close())...)
}
