package reader

import (
	"context"
	"fmt"
	"sync"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// A Reader reads one state directory. Between views it keeps the directory open,
// and no file in it. It is safe for concurrent use.
type Reader struct {
	dir   *store.Store
	built *schema.Declaration // or nil

	rounds int // mostRounds, but for tests

	closing chan struct{} // closed by Close

	mu       sync.Mutex
	closed   bool
	manifest []byte         // its bytes
	spare    []byte         // for the next read of the manifest
	declared *declared      // by the manifest; nil until that was read
	sources  []*ownerSource // one per declared owner, sorted by name
	claims   []*claimSource // one per declared once field
	next     int            // index of the next file: the sources, the claims, the manifest
	double   bool           // the last change was of a sidecar and pending patches
	view     *View          // the last one; nil if a file has changed since
}

// mostRounds is how often View reads every file for a view that is atomic. A
// round takes microseconds: only thousands of commits a second defeat that.
const mostRounds = 8

// Open opens the state directory dir by the declaration in its manifest. It
// returns an error that wraps [store.NoState] if dir is no state directory, and
// [store.Unsafe] if others may write in it.
func Open(dir string) (*Reader, error) { return OpenAs(dir, nil) }

// OpenAs is [Open] for a program that was built from the declaration built. It
// returns an error that wraps [schema.ErrDeclaration] if the manifest contradicts
// built, and so does [Reader.View] later. A field that built alone declares reads
// as unset.
func OpenAs(dir string, built *schema.Declaration) (*Reader, error) {
	d, err := store.Open(dir)
	if err != nil {
		return nil, err
	}
	return open(d, built)
}

// OpenInstance is [OpenAs] for the instance id of the state in dir; built may be
// nil. It returns an error that wraps [schema.ErrInstance] if id cannot be one.
// The instance may be removed while the Reader is open: then View returns an
// error that wraps [store.Moved].
func OpenInstance(dir, id string, built *schema.Declaration) (*Reader, error) {
	d, err := store.OpenInstance(dir, id)
	if err != nil {
		return nil, err
	}
	return open(d, built)
}

func open(d *store.Store, built *schema.Declaration) (*Reader, error) {
	r := &Reader{dir: d, built: built, rounds: mostRounds, closing: make(chan struct{})}
	if _, err := r.readManifest(); err != nil {
		d.Close()
		return nil, err
	}
	return r, nil
}

// Close closes the directory and ends every [Reader.Watch]. Views stay usable.
func (r *Reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	r.closed = true
	close(r.closing)
	return r.dir.Close()
}

// View returns the state as it stands, and the same View as before if no file has
// changed, without allocating. It never waits for a writer: if files change while
// it reads, it reads all of them up to eight times, and then once more for a view
// that is [Causal]. ctx ends the reading early.
//
// View returns an error that wraps [store.Moved] if the path names another
// directory now. A sidecar that cannot be used is no error; see [View.Owners].
func (r *Reader) View(ctx context.Context) (*View, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, fmt.Errorf("%s: %w: open another", r.dir.Path(), ErrClosed)
	}
	if err := r.dir.Unmoved(); err != nil {
		return nil, err
	}
	consistency, err := r.settle(ctx)
	if err != nil {
		return nil, err
	}
	if r.view == nil || r.view.consistency != consistency {
		// An instance is renamed before its files are deleted, so that a missing
		// file may have been there all the time.
		if err := r.dir.Unmoved(); err != nil {
			return nil, err
		}
		r.view = newView(r.dir.Path(), r.declared, r.sources, r.claims, consistency)
	}
	return r.view, nil
}

// settle reads the files in turn until each, except the last that had changed, has
// been read after that one and had the same bytes. Then all stood together at the
// moment at which the changed file was read: every commit draws a random nonce, so
// that bytes never come back, and equal bytes before and after that moment were
// there at that moment. Only an old copy that is put back can break this.
//
// A sidecar and its pending patches are read one after the other, and a patch that
// is folded in between would be in both. So such a pair, if it changed last, is read
// once more at the end.
//
// The reading begins at the last change, because an owner that commits often has
// probably committed again: then no file is read twice.
func (r *Reader) settle(ctx context.Context) (Consistency, error) {
	reads, since := 0, 0 // since counts from the reading that found the last change
	r.double = false
	for since <= r.files() || r.double && since == r.files()+1 {
		if ctx.Err() != nil {
			return "", fmt.Errorf("%s: not read: %w; try again", r.dir.Path(), context.Cause(ctx))
		}
		moved, err := r.read()
		if err != nil {
			return "", err
		}
		if moved {
			r.view, since = nil, 0
			r.double = r.pair()
		}
		since++
		if reads++; reads > r.rounds*(r.files()+1) {
			return Causal, r.pass(ctx)
		}
	}
	return Atomic, nil
}

// files returns the number of files of a view, without the manifest.
func (r *Reader) files() int { return len(r.sources) + len(r.claims) }

// pass reads every sidecar once more, each before those that it depends on, so that
// the view has every observed version or a later one. Claims come last, so that a
// view with a commit has the claims that were made before the commit.
func (r *Reader) pass(ctx context.Context) error {
	for r.next = 0; r.next < r.files(); {
		if ctx.Err() != nil {
			return fmt.Errorf("%s: not read: %w; try again", r.dir.Path(), context.Cause(ctx))
		}
		moved, err := r.read()
		if err != nil {
			return err
		}
		if r.pair() && r.sources[r.declared.order[r.next-1]].Confirm() || moved {
			r.view = nil
		}
	}
	return nil
}

// read reads the next file and reports whether it has changed.
func (r *Reader) read() (moved bool, err error) {
	if r.declared == nil || r.next == r.files() {
		r.next = 0
		return r.readManifest()
	}
	i := r.next
	r.next++
	if i >= len(r.sources) {
		return r.claims[i-len(r.sources)].Look(), nil
	}
	return r.sources[r.declared.order[i]].Look(), nil
}

// pair reports whether the last reading was of a sidecar and pending patches.
func (r *Reader) pair() bool {
	if r.declared == nil || r.next == 0 || r.next > len(r.sources) {
		return false
	}
	return r.declared.defers[r.declared.owners[r.declared.order[r.next-1]]]
}

// readManifest reads the manifest and, if that has changed, its declaration.
func (r *Reader) readManifest() (moved bool, err error) {
	if r.declared != nil {
		var same bool
		if same, r.spare = r.dir.SameManifest(r.manifest, r.spare); same {
			return false, nil
		}
	}
	text, err := r.dir.ManifestText(r.spare)
	if err != nil {
		return false, err
	}
	r.manifest, r.spare = text, r.manifest
	r.declared, r.view = nil, nil // in case of an error
	manifest, err := r.dir.ParseManifest(text)
	if err != nil {
		return false, err
	}
	declared, err := declare(manifest, r.built)
	if err != nil {
		return false, &store.Error{Status: store.BadDeclaration, Path: r.dir.Path(), Remedy: store.By("state upgrade").Or("build the program from the present owners.yaml if it is the older one"), Err: err}
	}
	r.declared, r.sources, r.claims = declared, nil, nil
	for _, name := range declared.owners {
		r.sources = append(r.sources, newOwnerSource(r.dir, declared, name))
	}
	for _, f := range declared.once {
		r.claims = append(r.claims, &claimSource{OnceSource: r.dir.OnceSource(declared.manifest, f.owner, f.field)})
	}
	return true, nil
}
