package sidecar

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
	"github.com/freehold-dev/freehold/sidecar/internal/pending"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// A fold is a commit's work on pending patches. It folds each exactly once,
// whichever process is killed when, by this order under the owner's lock: the
// sidecar with the patches in it and their ids in its list is published and
// synced; their files are unlinked; the directory is synced; and only a later
// commit drops the ids, after it has made sure that the files do not come back.
// A file with an id that the sidecar lists is therefore folded already. A commit that
// finds one publishes once more before it unlinks the file, since the version
// that lists it may not have been durable.
type fold struct {
	*batch
	pending *statedir.PendingDir
	size    int      // of the patches for the next version, about
	before  int      // how many patches earlier versions of the commit have folded
	kept    int      // how many patches the next version rejects
	listed  []string // the ids that the next version lists
	fresh   []string // those that are new in it
	done    []string // the files that can go then
	out     []string // the files of rejected patches, which can go now
	stuck   error    // why a patch cannot be folded, naming its file
}

// mostKept bounds the patches that one version rejects: each is kept durably by
// itself.
const mostKept = 64

// errUnfinished is why a commit stops between two versions.
var errUnfinished = errors.New("there was no time to fold all that is deferred")

// take folds the pending patches that were there when the commit began into the
// batch, before the batch's own changes. If they are too much for one version of
// the sidecar, it publishes several, until late returns an error.
func (f *fold) take(b *batch, late func() error) error {
	f.batch = b
	rest, err := f.open()
	if err != nil {
		return fmt.Errorf("%w: nothing was changed: %w", store.Unreadable, err)
	}
	if len(rest)+len(f.done)+len(b.base.Folded()) == 0 {
		return nil
	}
	for {
		rest = f.takeSome(rest)
		failpoint.Hit(failpoint.FoldListed)
		if err := f.settleDropped(b.base.Folded()); err != nil || len(rest) == 0 {
			return err
		}
		if err := f.another(); err != nil {
			return fmt.Errorf("%s: not applied: folding pending patches: %w", b.w.path, err)
		}
		if err := late(); err != nil {
			err = fmt.Errorf("%s: not applied: %w: %w: of %d patches, %d are folded, and the next commit goes on with the rest",
				b.w.path, ErrBusy, err, f.before+len(rest), f.before)
			return store.WithRemedy(err, store.By(status.Fold, b.w.owner).Or("try again"))
		}
	}
}

// open returns the pending patches that are not in the sidecar yet, by the names
// of their files. The files of the others go after the next publication.
func (f *fold) open() (fresh []*pending.Patch, err error) {
	w := f.w
	if f.pending, err = w.dir.OpenPending(w.manifest, w.owner); err != nil {
		return nil, err
	}
	names, err := f.pending.Names()
	if err != nil {
		return nil, err
	}
	folded := set(f.base.Folded())
	for _, name := range names {
		if id, ok := pending.ID(name); ok && folded[id] {
			f.listed = append(f.listed, id)
			f.done = append(f.done, name)
			continue
		}
		file, err := f.pending.ReadPatch(w.manifest.StateID, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		case file.Err != nil:
			f.noteStuck(name, file.Err)
		default:
			fresh = append(fresh, file.Patch)
		}
	}
	return fresh, nil
}

// takeSome takes as many of patches into the batch as one version has room for,
// and returns the rest, as far as another version may have.
func (f *fold) takeSome(patches []*pending.Patch) (rest []*pending.Patch) {
	for i, p := range patches {
		size := 2 * len(p.Raw)
		if full := f.size+size+len(f.w.lastRaw) > document.MaxSize*3/4 || f.kept >= mostKept; !full {
			if f.takePatch(p) {
				f.size += size
			}
			continue
		}
		if f.size+f.kept == 0 {
			f.stick(pending.Name(p.ID), fmt.Errorf("%w: the sidecar is nearly full; store less in it", ErrValue))
			return nil
		}
		return patches[i:]
	}
	return nil
}

// takePatch folds p into the batch and reports whether it did.
func (f *fold) takePatch(p *pending.Patch) bool {
	name, w := pending.Name(p.ID), f.w
	gone, err := []error(nil), error(schema.ErrOverflow)
	if !f.wasRejected(p) {
		if f.layer.Others == nil {
			f.layer.Others = w.look()
		}
		born := f.next
		born.Nonce = p.ID
		gone, err = f.layer.Fold(p.Ops, born, p.Provenance(f.next))
	}
	switch {
	case errors.Is(err, schema.ErrOverflow):
		if f.reject(p, err) {
			f.out = append(f.out, name)
		}
		return false
	case err != nil: // of a newer release or declaration, or of a map with unreadable keys
		f.stick(name, fmt.Errorf("%w: it stays until it can be", err))
		return false
	}
	for _, err := range gone {
		w.tell(name, fmt.Errorf("%s: left out: %w: it came before the deletion of the key: nothing to do", f.pending.Path(name), err))
	}
	f.listed = append(f.listed, p.ID)
	f.fresh = append(f.fresh, p.ID)
	f.done = append(f.done, name)
	return true
}

// stick notes that the patch in the file name stays where it is.
func (f *fold) stick(name string, err error) {
	f.noteStuck(name, fmt.Errorf("%s: not folded: %w", f.pending.Path(name), err))
}

// noteStuck notes err, the reason why the patch in the file name stays.
func (f *fold) noteStuck(name string, err error) {
	if f.stuck == nil {
		f.stuck = err
	}
	f.w.tell(name, err)
}

// keptName names a patch in the quarantine.
func keptName(owner, id string) string { return statedir.OwnerPending(owner) + "." + id + ".json" }

// wasRejected reports whether an earlier commit has rejected p, and was killed
// before the file of p was gone. By now p might fit, and a person may have added
// its values by hand.
func (f *fold) wasRejected(p *pending.Patch) bool {
	_, err := f.w.dir.Quarantine().Reason(keptName(f.w.owner, p.ID))
	return err == nil
}

// reject moves a copy of p to the quarantine and tells why. If it cannot, p stays
// where it is.
func (f *fold) reject(p *pending.Patch, why error) bool {
	name, w := pending.Name(p.ID), f.w
	path, err := w.dir.Quarantine().Reject(keptName(w.owner, p.ID), p.Raw, why.Error())
	if err != nil {
		w.tell(name, fmt.Errorf("%s: not folded: %w; and it cannot be kept elsewhere: %w: mend that", f.pending.Path(name), why, err))
		return false
	}
	f.kept++
	w.tell(name, fmt.Errorf("%s: rejected of %s: %w: look at it there, and add by hand the values that are to count", path, w.path, why))
	return true
}

// another publishes the folded patches, and begins another version of the same
// commit.
func (f *fold) another() error {
	b := f.batch
	switch err := b.publish(); {
	case errors.Is(err, store.Moved): // as below, but that the directory was moved away stays true
		return cmp.Or(b.w.unmoved(), errors.New(err.Error()))
	case errors.Is(err, ErrIndeterminate): // the patches may be folded or not; the rest is certain
		return errors.New(err.Error())
	case err != nil:
		return err
	}
	cleared := f.clear()
	if err := b.w.queue.failed(); err != nil { // the rest is certain here, too
		return err
	}
	base := b.base
	if !b.idle() {
		base = b.w.last
	}
	b.stand(base)
	f.before += len(f.fresh)
	f.size, f.kept, f.fresh = 0, 0, nil
	if cleared { // else the next version has to say that it has them
		f.listed, f.done, f.out = nil, nil, nil
	}
	return nil
}

// unlinks reports whether files go after the next publication.
func (f *fold) unlinks() bool { return len(f.done)+len(f.out) > 0 }

// list puts the ids of the folded patches into doc. Without a fold the ids that
// are there stay.
func (f *fold) list(doc *document.Document) {
	if f.pending != nil {
		doc.SetFolded(f.listed, f.fresh)
	}
}

// settleDropped makes sure that the files of the ids in before that the next
// version does not list are gone for good.
func (f *fold) settleDropped(before []string) error {
	listed := set(f.listed)
	drops := slices.ContainsFunc(before, func(id string) bool { return !listed[id] })
	if !drops || f.w.cleared == f.base.Version {
		return nil
	}
	if err := f.pending.Sync(); err != nil {
		return fmt.Errorf("%s: not applied: %w", f.w.path, err)
	}
	return nil
}

// clear unlinks the files of patches that are in the sidecar, durably. It reports
// whether they are gone.
func (f *fold) clear() bool {
	if !f.unlinks() {
		return true
	}
	w := f.w
	failpoint.Hit(failpoint.FoldPublished)
	if err := f.pending.RemoveAll(slices.Concat(f.done, f.out)); err != nil {
		w.tell(err.Error(), err) // the next commit tries again
		return false
	}
	failpoint.Hit(failpoint.FoldUnlinked)
	if err := f.pending.Sync(); err != nil {
		// The commit is done, and its files may come back. A later sync could
		// claim that they do not.
		w.queue.poison(fmt.Errorf("%w: patches that are folded may come back after a crash: %w; open the owner again", ErrIndeterminate, err))
		return false
	}
	w.cleared = f.next
	return true
}

// count returns how many patches were folded; published says whether the last
// version may be there.
func (f *fold) count(published bool) int {
	if !published {
		return f.before
	}
	return f.before + len(f.fresh)
}

func (f *fold) close() {
	if f.pending != nil {
		f.pending.Close()
	}
}

func set(names []string) map[string]bool {
	all := make(map[string]bool, len(names))
	for _, name := range names {
		all[name] = true
	}
	return all
}

// tell gives the Notice an error that stops nothing, once for each patch.
func (w *Writer) tell(name string, err error) {
	if w.notice == nil || w.told[name] {
		return
	}
	if w.told == nil {
		w.told = map[string]bool{}
	}
	w.told[name] = true
	w.notice(err)
}
