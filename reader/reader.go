package reader

import (
	"context"
	"fmt"
	"sync"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// A Reader reads one state directory. It keeps the directory open and, between
// views, what it has read; of the files in it, it keeps none open. It is safe
// for concurrent use.
type Reader struct {
	dir   *store.Store
	built *schema.Declaration // or nil

	rounds int // mostRounds, but for tests

	closing chan struct{} // closed by Close, for those who watch

	mu       sync.Mutex
	closed   bool
	manifest []byte         // its bytes
	spare    []byte         // for the next read of the manifest
	declared *declared      // by the manifest; nil until that was read
	sources  []*ownerSource // one per declared owner, sorted by name
	claims   []*claimSource // one per declared once field
	next     int            // what is read next: a source, a claim after them, or the manifest after them all
	double   bool           // what moved last is a sidecar and pending patches
	view     *View          // the last one; nil if anything moved since
}

// mostRounds is how often View reads every file before it settles for a view
// that is not atomic. A round takes microseconds, so that writers have to
// commit thousands of times a second to get there.
const mostRounds = 8

// Open opens the state directory dir and goes by the declaration in its
// manifest. It returns an error that wraps [store.NoState] if dir is no
// state directory, and [store.Unsafe] if others may write in it.
func Open(dir string) (*Reader, error) { return OpenAs(dir, nil) }

// OpenAs is [Open] for a program that was built from the declaration built. It
// returns an error that wraps [schema.ErrDeclaration] if the manifest
// contradicts built, and so does [Reader.View] if it comes to that later. A
// field that only built declares reads as unset: no owner's program of that
// build has opened the state yet.
func OpenAs(dir string, built *schema.Declaration) (*Reader, error) {
	d, err := store.Open(dir)
	if err != nil {
		return nil, err
	}
	return open(d, built)
}

// OpenInstance is [OpenAs] for the instance id of the state in dir; built may be
// nil. It returns an error that wraps [schema.ErrInstance] if id cannot be one.
// The Reader does not keep the instance from being removed; then View returns
// an error that wraps [store.Moved].
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

// Close closes the directory and ends every [Reader.Watch]. Views that were
// taken stay usable.
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

// View returns the state as it stands. It returns the same View as before if
// nothing has changed, without allocating; it never waits for a writer. If
// writers keep changing files while it reads, it reads all of them up to eight
// times to find the state at one moment, and then once more for a view that is
// [Causal]. ctx only ends the reading early.
//
// View returns an error that wraps [store.Moved] if the path of the
// directory names another one now: open it again. Sidecars that cannot be used
// are no error of View; see [View.Owners].
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
		// An instance is renamed before what it holds is deleted: what was
		// missing just now may have been there all the time.
		if err := r.dir.Unmoved(); err != nil {
			return nil, err
		}
		r.view = newView(r.dir.Path(), r.declared, r.sources, r.claims, consistency)
	}
	return r.view, nil
}

// settle reads the files in turn, round and round, until each but the one that
// was found changed last has been read after that one, unchanged. Then all of
// them stood together at one moment, the one at which the changed one was read:
// each of the others had the same bytes when it was read before that moment, in
// this view or a former one, and when it was read after it. A commit draws a
// random nonce, so that bytes never come back once they were replaced, and in
// between it had those bytes too. If nothing changed, the moment is that of the
// call. Only a hand that puts back an old copy can break this.
//
// A sidecar and pending patches are two things, though one here: they are read
// one after the other, and a patch that is folded in between would be in both.
// So the one that changed last is read once more at the end, if it is such a
// pair. What is then the same as before stood together when the pair's sidecar
// was read: files that are never changed were there before and after, and one
// that came and went in between was folded by a commit that shows.
//
// The reading begins where the last change was, since an owner that commits
// often is likely to have done it again: then no file is read twice.
func (r *Reader) settle(ctx context.Context) (Consistency, error) {
	reads, since := 0, 0 // since the last change, with the one that found it
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

// files is how many files a view comes from, beside the manifest.
func (r *Reader) files() int { return len(r.sources) + len(r.claims) }

// pass reads every sidecar once more, in their order: each before those that
// it depends on. So what one of them has observed is in the view, or something
// later. The claims come last, so that a view shows the claim of who first
// claimed and then committed.
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

// read reads the next file and reports whether it has changed since it was read
// before.
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

// pair reports whether what was read last is a sidecar and pending patches.
func (r *Reader) pair() bool {
	if r.declared == nil || r.next == 0 || r.next > len(r.sources) {
		return false
	}
	return rechecked && r.declared.defers[r.declared.owners[r.declared.order[r.next-1]]]
}

// readManifest reads the manifest and, if it has changed, what it declares.
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
	r.declared, r.view = nil, nil // until all went well
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

// rechecked is whether a reader makes sure that a patch which it counts was
// still pending after it read the sidecar. Tests unset it, to see that another
// test notices.
var rechecked = true
