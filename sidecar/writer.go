package sidecar

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/document"
	"github.com/freehold-dev/freehold/sidecar/statedir"
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
	// Wait is how long a call waits for another process. If zero, as long
	// as the declaration says; if negative, not at all.
	Wait time.Duration
	// Clock tells the time for provenance and new epochs. If nil, [time.Now].
	Clock func() time.Time
}

// A Writer writes one owner's sidecar. It is safe for concurrent use.
type Writer struct {
	dir      *statedir.Dir
	manifest *schema.Manifest
	owner    string
	declared schema.Owner
	program  string
	wait     time.Duration
	clock    func() time.Time

	lock      *statedir.Lock
	lease     *statedir.Lock // held if the owner is exclusive, else nil
	publisher publisher
	epoch     uint64 // of the lease, if the owner is exclusive

	// last is the sidecar as this Writer last read or wrote it. It spares a
	// decoding when the bytes are still the same, and is never a reason not
	// to read them.
	last    *document.Document
	lastRaw []byte
	spare   []byte // buffer for the next read

	queue queue
	once  sync.Once
	close error
}

// Open opens the sidecar of owner in the state directory dir for a program
// that was built from the declaration d, and upgrades the manifest if d
// declares more. With a nil d the manifest alone counts. For an exclusive
// owner Open takes the lease, which Close gives back, and begins an epoch;
// it returns an error that wraps [ErrBusy] if another process holds it.
//
// It returns an error that wraps [ErrNoState] if dir is no state directory,
// [ErrUnsafe] if it is not safe, [ErrDeclaration] if d and the manifest
// contradict each other, [ErrNotOwner] if the manifest does not know owner,
// and [ErrLock] if a lock file was lost.
func Open(ctx context.Context, dir string, d *schema.Declaration, owner string, o *Options) (*Writer, error) {
	w, err := open(ctx, dir, d, owner, o)
	if err != nil {
		return nil, err
	}
	if w.lease != nil {
		if err := w.beginEpoch(ctx); err != nil {
			w.shut()
			return nil, err
		}
	}
	return w, nil
}

// open is Open without a look at the sidecar, which may be what needs repair.
func open(ctx context.Context, dir string, d *schema.Declaration, owner string, o *Options) (*Writer, error) {
	if o == nil {
		o = &Options{}
	}
	sd, err := openDir(dir, d, o.Create)
	if err != nil {
		return nil, err
	}
	w := &Writer{dir: sd, owner: owner, clock: o.Clock, program: program(o.Program), publisher: replace{sd}}
	if w.clock == nil {
		w.clock = time.Now
	}
	if err := w.open(ctx, d, o.Wait); err != nil {
		w.shut()
		return nil, err
	}
	return w, nil
}

// Create makes dir a state directory for the declaration d. It returns an
// error that wraps [statedir.ErrExists] if it is one already.
func Create(dir string, d *schema.Declaration) error { return statedir.Create(dir, d) }

func openDir(dir string, d *schema.Declaration, create bool) (*statedir.Dir, error) {
	sd, err := statedir.Open(dir)
	if !create || d == nil || !errors.Is(err, ErrNoState) {
		return sd, err
	}
	// Another process may create it at the same moment: then it is there.
	if err := statedir.Create(dir, d); err != nil && !errors.Is(err, statedir.ErrExists) {
		return nil, err
	}
	return statedir.Open(dir)
}

func (w *Writer) open(ctx context.Context, d *schema.Declaration, wait time.Duration) (err error) {
	if d == nil {
		w.manifest, err = w.dir.Manifest()
	} else {
		w.manifest, err = w.dir.Upgrade(ctx, d)
	}
	if err != nil {
		return err
	}
	declared, ok := w.manifest.Declaration.Owners[w.owner]
	if !ok {
		return fmt.Errorf("%s: %w: state %s has no owner %q; its owners are %v", w.dir.Path(), ErrNotOwner, w.manifest.Declaration.State, w.owner, w.manifest.Declaration.OwnerNames())
	}
	w.declared = declared
	switch w.wait = wait; {
	case wait == 0:
		w.wait = declared.EffectiveWait()
	case wait < 0:
		w.wait = 0
	}
	if w.lock, err = w.openLock(statedir.OwnerLock(w.owner)); err != nil {
		return err
	}
	if declared.EffectiveMode() == schema.Exclusive {
		return w.takeLease(ctx)
	}
	return nil
}

func (w *Writer) openLock(name string) (*statedir.Lock, error) {
	return w.dir.OpenLock(name, w.manifest.Locks[name])
}

// takeLease makes this process the owner's live one.
func (w *Writer) takeLease(ctx context.Context) (err error) {
	if w.lease, err = w.openLock(statedir.OwnerLease(w.owner)); err != nil {
		return err
	}
	if err := w.lease.Acquire(ctx, w.wait); err != nil {
		return fmt.Errorf("owner %s is exclusive and has a live process: %w", w.owner, err)
	}
	return nil
}

// beginEpoch chooses the epoch of the lease that this process holds.
func (w *Writer) beginEpoch(ctx context.Context) error {
	if err := w.lock.Acquire(ctx, w.wait); err != nil {
		return err
	}
	defer w.lock.Release()
	doc, err := w.read()
	if err != nil {
		return err
	}
	w.epoch = w.newEpoch(doc)
	return nil
}

// newEpoch returns an epoch that is larger than any that doc shows and than
// the clock in microseconds, so that no version that anybody has seen is ever
// issued again, even if the sidecar was lost in between.
func (w *Writer) newEpoch(doc *document.Document) uint64 {
	return max(doc.Version.Epoch+1, uint64(max(w.clock().UnixMicro(), 0)))
}

// Owner returns the name of the owner.
func (w *Writer) Owner() string { return w.owner }

// Declaration returns the declaration that the state's manifest holds. It
// must not be changed.
func (w *Writer) Declaration() *schema.Declaration { return &w.manifest.Declaration }

// file returns the sidecar's path for messages.
func (w *Writer) file() string { return filepath.Join(w.dir.Path(), statedir.Sidecar(w.owner)) }

// Close closes the Writer and gives an exclusive owner's lease back. Updates
// under way finish first; later ones get [ErrClosed]. Closing again is
// harmless.
func (w *Writer) Close() error {
	w.once.Do(func() {
		w.queue.close()
		w.close = w.shut()
	})
	return w.close
}

func (w *Writer) shut() error {
	var errs []error
	for _, l := range []*statedir.Lock{w.lock, w.lease} {
		if l != nil {
			errs = append(errs, l.Close())
		}
	}
	return errors.Join(append(errs, w.dir.Close())...)
}

// program returns the name for provenance: the base name of the executable
// unless the caller gave one, cut to what fits a table.
func program(name string) string {
	if name == "" && len(os.Args) > 0 {
		name = filepath.Base(os.Args[0])
	}
	const most = 64
	for len(name) > most || !utf8.ValidString(name) {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	return name
}
