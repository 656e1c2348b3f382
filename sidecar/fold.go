package sidecar

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
	"github.com/freehold-dev/freehold/sidecar/internal/pending"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// A fold is what a commit does with the pending patches. It takes
// them in exactly once, whoever is killed when, by this order, all of it under
// the owner's lock: the sidecar with the patches in it and their ids in its list
// is published and synced; their files are unlinked; the directory is synced;
// and only a later commit drops the ids, after it has made sure that the files
// do not come back. So whoever finds a file whose id the sidecar lists knows
// that it is in already. That one publishes once more, for what it found may
// not have been durable, before it unlinks the file.
type fold struct {
	pending *statedir.PendingDir
	before  int      // how many patches earlier versions of the commit have folded
	kept    int      // how many patches the next version rejects
	listed  []string // the ids that the next version lists
	fresh   []string // those that are new in it
	done    []string // the files that can go then
	out     []string // the files of rejected patches, which can go now
	stuck   error    // why a patch cannot be folded, naming its file
}

// takePending folds pending patches into the batch, before its own changes: all
// that were there when the commit began. If they are too much for one version of
// the sidecar, it publishes several, as long as late returns no error.
func (b *batch) takePending(late func() error) error {
	w := b.w
	a, err := w.dir.OpenPending(w.owner)
	if err != nil {
		return fmt.Errorf("%w: nothing was changed: %w", store.Unreadable, err)
	}
	b.fold.pending = a
	names, err := a.Names()
	if err != nil {
		return fmt.Errorf("%w: nothing was changed: %w", store.Unreadable, err)
	}
	if len(names)+len(b.base.Folded()) == 0 {
		return nil
	}
	rest, err := b.readPending(names)
	if err != nil {
		return fmt.Errorf("%w: nothing was changed: %w", store.Unreadable, err)
	}
	for {
		rest = b.takeSome(rest)
		failpoint.Hit(failpoint.FoldListed)
		if err := b.settleDropped(b.base.Folded()); err != nil || len(rest) == 0 {
			return err
		}
		if err := b.another(); err != nil {
			return fmt.Errorf("%s: not applied: folding pending patches: %w", w.file(), err)
		}
		if err := late(); err != nil {
			return b.unfinished(len(rest), err)
		}
	}
}

// readPending reads the patches called names, which are sorted, and returns those
// that are not in the sidecar yet. The others go after the next publication.
func (b *batch) readPending(names []string) (fresh []*pending.Patch, err error) {
	folded := map[string]bool{}
	for _, id := range b.base.Folded() {
		folded[id] = true
	}
	for _, name := range names {
		if id, ok := pending.ID(name); ok && folded[id] {
			b.fold.listed = append(b.fold.listed, id)
			b.fold.done = append(b.fold.done, name)
			continue
		}
		f, err := b.fold.pending.ReadPatch(b.w.manifest.StateID, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		case f.Err != nil:
			b.noteStuck(name, f.Err)
		default:
			fresh = append(fresh, f.Patch)
		}
	}
	return fresh, nil
}

// stick notes that the patch in the file name stays where it is.
func (b *batch) stick(name string, err error) {
	b.noteStuck(name, fmt.Errorf("%s: not folded: %w", b.fold.pending.Path(name), err))
}

// noteStuck notes err, the reason why the patch in the file name stays.
func (b *batch) noteStuck(name string, err error) {
	if b.fold.stuck == nil {
		b.fold.stuck = err
	}
	b.w.tell(name, err)
}

// settleDropped makes sure that the files of the ids in before that the next
// version does not list are gone for good.
func (b *batch) settleDropped(before []string) error {
	listed := make(map[string]bool, len(b.fold.listed))
	for _, id := range b.fold.listed {
		listed[id] = true
	}
	drops := slices.ContainsFunc(before, func(id string) bool { return !listed[id] })
	if !drops || b.w.cleared == b.base.Version {
		return nil
	}
	if err := b.fold.pending.Sync(); err != nil {
		return fmt.Errorf("%s: not applied: %w", b.w.file(), err)
	}
	return nil
}

// clear unlinks the files of patches that are in the sidecar, durably. It reports
// whether they are gone.
func (b *batch) clear() bool {
	f := &b.fold
	if len(f.done)+len(f.out) == 0 {
		return true
	}
	failpoint.Hit(failpoint.FoldPublished)
	if err := f.pending.RemoveAll(slices.Concat(f.done, f.out)); err != nil {
		b.w.tell(err.Error(), err) // the next commit tries again
		return false
	}
	failpoint.Hit(failpoint.FoldUnlinked)
	if err := f.pending.Sync(); err != nil {
		// The commit is done, and its files may come back. A later sync could
		// claim that they do not.
		b.w.queue.poison(fmt.Errorf("%w: patches that are folded may come back after a crash: %w; open the owner again", ErrIndeterminate, err))
		return false
	}
	b.w.cleared = b.next
	return true
}
