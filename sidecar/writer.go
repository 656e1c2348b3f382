package sidecar

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/apply"
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
	// Program is the name of the writer in provenance records, cut to MaxProgram
	// bytes. If empty, the base name of the running executable.
	Program string
	// Wait is how long a call waits for another process's commit. If zero,
	// as long as the declaration says; if negative, not at all.
	Wait time.Duration
	// LeaseWait is how long Open waits while another process holds an
	// exclusive owner's lease. If zero or negative, not at all.
	LeaseWait time.Duration
	// Bounded makes Wait the bound of everything that Open, and the first call
	// after it, wait for together: the instance, the fence, the lease and the
	// owner's lock. It is for commands. If false, Open waits at a shut fence as
	// long as its context allows.
	Bounded bool
	// For is the process that claims and beginnings are for, if the caller is a
	// command that soon ends: the id of an ancestor of this process, or Parent. If
	// zero, this process. Open returns an error that wraps [store.NoAncestor] if
	// that process cannot be pinned.
	For int
	// Clock tells the time for provenance and new epochs. If nil, [time.Now].
	Clock func() time.Time
	// Notice is called with errors that stop nothing: the process that an Open
	// waits for longer than a second, a program that was generated in another Go
	// module than the state's first writer, a damaged record of a lease, a pending
	// patch that is not folded, or not whole. The call that found the error
	// waits for Notice, which must not use the Writer. If nil, nobody is told.
	Notice func(error)
}

// MaxProgram is the most bytes of [Options.Program] that provenance keeps.
const MaxProgram = process.MaxProgram

// Parent, as [Options.For], is the process that started this one.
const Parent = process.Parent

// A Writer writes one owner's sidecar. It is safe for concurrent use.
type Writer struct {
	hold
	keysOwners map[string]*neighbour
	queue      queue
	spool      spool
	// text is the manifest as this Writer last found that it may go on, and
	// textSpare a buffer to read the manifest.
	text, textSpare []byte
	// folds is whether commits fold pending patches: an owner may begin to defer
	// while the Writer is open.
	folds bool
	// cleared is the version of the folded patches that this Writer has unlinked, and
	// told the names of the patches that Notice has heard of.
	cleared Version
	told    map[string]bool

	// waited is the time that a bounded Open has taken of the first call's wait.
	waited atomic.Int64

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
// names it, at once or after o.LeaseWait. While the fence is shut, as by a
// retirement, Open waits as long as ctx allows, so that a supervisor does not run
// out of restarts.
//
// It returns an error that wraps [store.NoState] if dir is no state directory,
// [store.Unsafe] if other users may write there, [ErrDeclaration] if d and the
// manifest contradict each other, [ErrNotOwner] if the manifest does not know
// owner, and [store.Lost] if a lock file or the directory of the owner's claims
// was lost. Open does not judge the sidecar: Update does.
func Open(ctx context.Context, dir string, d *schema.Declaration, owner string, o *Options) (*Writer, error) {
	if o == nil {
		o = &Options{}
	}
	sd, err := statedir.Open(dir)
	if o.Create && d != nil && !d.Instanced() && errors.Is(err, store.NoState) {
		sd, err = created(statedir.Create(dir, d), func() (*statedir.Dir, error) { return statedir.Open(dir) })
	}
	return openIn(ctx, sd, err, d, owner, o)
}

// created opens a directory that this process, or another one at the same moment,
// has created.
func created(err error, open func() (*statedir.Dir, error)) (*statedir.Dir, error) {
	if err != nil && !errors.Is(err, store.Exists) {
		return nil, err
	}
	return open()
}

// mostOpenings is how often OpenInstance begins again because a prune removed
// the instance in the moment that it was made.
const mostOpenings = 16

// OpenInstance is [Open] for the instance id of the state in dir. With
// o.Create it makes the instance if there is none, and dir too. It returns an
// error that wraps [schema.ErrInstance] if id cannot be one.
//
// While a Writer is open its instance is not removed. If the instance is
// removed while OpenInstance looks, OpenInstance makes another one with
// o.Create, and else returns an error that wraps [store.NoState] or
// [store.Moved].
func OpenInstance(ctx context.Context, dir, id string, d *schema.Declaration, owner string, o *Options) (*Writer, error) {
	if o == nil {
		o = &Options{}
	}
	open := func() (*statedir.Dir, error) { return statedir.OpenInstance(dir, id) }
	for tries := 0; ; tries++ {
		sd, err := open()
		if o.Create && d != nil && errors.Is(err, store.NoState) {
			sd, err = created(statedir.CreateInstance(dir, id, d), open)
		}
		w, err := openIn(ctx, sd, err, d, owner, o)
		removed := errors.Is(err, store.Moved) || errors.Is(err, store.NoState)
		if !removed || !o.Create || tries >= mostOpenings {
			return w, err
		}
	}
}

// openIn opens an owner in the directory sd, which was opened with err.
func openIn(ctx context.Context, sd *statedir.Dir, err error, d *schema.Declaration, owner string, o *Options) (*Writer, error) {
	if err != nil {
		return nil, advised(err)
	}
	w := &Writer{}
	w.dir, w.path, w.owner = sd, filepath.Join(sd.Path(), statedir.Sidecar(owner)), owner
	w.program, w.clock, w.notice, w.actor = process.ProgramName(o.Program), o.Clock, o.Notice, self()
	w.publisher, w.fail = &replace{dir: sd}, w.queue.poison
	if w.clock == nil {
		w.clock = time.Now
	}
	if o.For != 0 {
		w.actor, err = process.Actor(o.For)
	}
	if err == nil {
		err = w.open(ctx, d, o)
	}
	if err != nil {
		w.shut()
		return nil, advised(err)
	}
	return w, nil
}

// Create makes dir a state directory for the declaration d, or if d has
// instances, the directory that holds them. It returns an error that wraps
// [store.Exists] if it is one already.
func Create(dir string, d *schema.Declaration) error { return advised(statedir.Create(dir, d)) }

// CreateInstance makes the instance id of the state in dir, declared by d, and
// dir too if it is missing. It returns an error that wraps [store.Exists]
// if it is there, and [schema.ErrInstance] if id cannot be one.
func CreateInstance(dir, id string, d *schema.Declaration) error {
	return advised(statedir.CreateInstance(dir, id, d))
}

func (w *Writer) open(ctx context.Context, d *schema.Declaration, o *Options) (err error) {
	start := time.Now()
	if w.manifest, err = lease.Enter(ctx, w.dir, d, w.owner, o.Wait); err != nil {
		return err
	}
	if w.built = d; d == nil {
		w.built = &w.manifest.Declaration
	}
	w.text = w.manifest.Text
	w.compareModule()
	declared, ok := w.manifest.Declaration.Owners[w.owner]
	if !ok {
		return lease.Undeclared(w.dir, w.manifest, w.owner)
	}
	w.declared, w.known, w.folds = declared, declared, declared.Defers()
	if d != nil {
		w.known = d.Owners[w.owner]
	}
	w.source = w.sourceOf(w.owner)
	w.rules = rulesOf(w.manifest, w.owner, w.known)
	w.keysOwners = keysOwners(&w.manifest.Declaration, w.owner)
	for _, other := range w.manifest.Declaration.OwnerNames() {
		if slices.Contains(w.manifest.Declaration.OwnersBelow(other), w.owner) {
			w.observers = append(w.observers, w.sourceOf(other))
		}
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
	if declared.EffectiveMode() != schema.Exclusive {
		return nil
	}
	leaseWait := o.LeaseWait
	if o.Bounded {
		leaseWait, w.bounded = max(w.wait-time.Since(start), 0), true
		defer func() { w.waited.Store(int64(time.Since(start))) }()
	}
	return w.takeLease(ctx, leaseWait)
}

// compareModule notices that the program was generated in another module than the
// first writer of the state.
func (w *Writer) compareModule() {
	own, all := w.built.Module, w.manifest.Modules
	if w.notice == nil || own == "" || len(all) == 0 || own == all[0] {
		return
	}
	err := fmt.Errorf("%s: the writer of owner %s was generated in module %s, and the first writer of the state in module %s: two programs with an owners.yaml each write as one owner", w.dir.Path(), w.owner, own, all[0])
	w.notice(store.WithRemedy(err, store.Remedy{Note: "generate both in one module, from one owners.yaml"}))
}

// isOpen panics with a sentence, and not in the middle of a call, if w is nil or the
// zero Writer.
func (w *Writer) isOpen() {
	if w == nil || w.dir == nil {
		panic("sidecar: use of a nil or zero Writer: Open returns one, if it returns no error")
	}
}

// patience returns how long a call may wait: less if it is the first one after a
// bounded Open.
func (w *Writer) patience() time.Duration {
	w.isOpen()
	return max(w.wait-time.Duration(w.waited.Swap(0)), 0)
}

// rulesOf returns the rules by which operations of owner are applied; known is
// the owner as the program was built.
func rulesOf(m *schema.Manifest, owner string, known schema.Owner) *apply.Rules {
	return &apply.Rules{Declaration: &m.Declaration, StateID: m.StateID, Owner: owner, Known: known}
}

// Owner returns the name of the owner.
func (w *Writer) Owner() string {
	w.isOpen()
	return w.owner
}

// StateID returns the id of the state, or of the instance, that w has open: a copy
// has the same, any other state another.
func (w *Writer) StateID() string {
	w.isOpen()
	return w.manifest.StateID
}

// Declaration returns the declaration that the state's manifest holds. It
// must not be changed.
func (w *Writer) Declaration() *schema.Declaration {
	w.isOpen()
	return &w.manifest.Declaration
}

// Close closes the Writer and gives an exclusive owner's lease back. Updates
// under way finish first, so that an Update's own function must not call it;
// later ones get [ErrClosed]. Closing again is harmless.
func (w *Writer) Close() error {
	w.isOpen()
	w.once.Do(func() {
		w.queue.close()
		if !errors.Is(w.queue.failed(), ErrFenced) {
			w.close = w.giveBack(context.Background())
		}
		w.close = errors.Join(w.close, w.shut())
	})
	return w.close
}

func (w *Writer) shut() error { return errors.Join(w.hold.shut(), w.dir.Close()) }
