package sidecar

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
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
	pending *store.PendingDir
	before  int      // how many patches earlier versions of the commit have folded
	kept    int      // of how many patches something is rejected of the next version
	listed  []string // the ids that the next version lists
	fresh   []string // those that are new in it
	done    []string // the files that can go then
	out     []string // the files of patches that were rejected, which can go now

	taken    uint64   // the highest number that was folded, or rejected, ever
	left     []uint64 // the lower ones that were not
	advances bool     // whether taken is new
}

// takePending takes the pending patches into the batch, before its own
// changes: all of them, for those may be meant to come after. What is too much
// for one version of the sidecar, it publishes in several, as long as late finds
// nothing against one more.
func (b *batch) takePending(late func() error) error {
	w := b.w
	a, err := w.dir.OpenPending(w.owner)
	if err != nil {
		return fmt.Errorf("%w: nothing was changed: %w", ErrUnreadable, err)
	}
	b.fold.pending = a
	names, err := ListPending(a, w.manifest.StateID)
	if err != nil {
		return fmt.Errorf("%w: nothing was changed: %w", ErrUnreadable, err)
	}
	if b.fold.taken = b.base.Taken(); len(names)+len(b.base.Folded()) == 0 {
		return nil
	}
	rest, certain, err := b.readPending(names)
	if err != nil {
		return fmt.Errorf("%w: nothing was changed: %w", ErrUnreadable, err)
	}
	for rest = SortPending(rest); ; {
		rest = b.takeSome(rest)
		b.pass(names)
		before := b.base.Folded()
		if !certain {
			// One of them may be a file that could not be read.
			b.fold.listed = append(b.fold.listed, before...)
			slices.Sort(b.fold.listed)
			b.fold.listed = slices.Compact(b.fold.listed)
		}
		failpoint.Hit(failpoint.FoldListed)
		if err := b.settleDropped(before); err != nil || len(rest) == 0 {
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

// readPending reads the patches called names. It returns those that are not in
// the sidecar yet; certain is false if there are others that may be in it.
func (b *batch) readPending(names []string) (fresh []*PendingPatch, certain bool, err error) {
	w := b.w
	folded := map[string]bool{}
	for _, id := range b.base.Folded() {
		folded[id] = !failpoint.Omitted(failpoint.RuleFoldedIDs)
	}
	certain = true
	for _, name := range names {
		raw, err := b.fold.pending.ReadFile(name, nil, MaxPatch)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if errors.Is(err, store.ErrFlooded) {
			return nil, false, err
		}
		var p *PendingPatch
		if err == nil {
			p, err = DecodePendingPatch(raw, name, w.owner, w.manifest.StateID)
		} else {
			err = store.WithRemedy(err, store.Remedy{Note: "look at it and move it away"})
		}
		switch {
		case err != nil:
			certain = certain && !b.mayBeIn(name)
			w.tell(name, fmt.Errorf("%s: not folded: %w", b.fold.pending.Path(name), err))
		case folded[p.ID]:
			b.fold.listed = append(b.fold.listed, p.ID)
			b.fold.done = append(b.fold.done, name)
		case b.passed(p):
			failpoint.Hit(failpoint.FoldPassed)
			if b.fold.kept >= mostKept { // it counts for nobody, and the next commit goes on
				continue
			}
			if dead, err := b.fold.pending.Free(name); err == nil && dead && (b.base.Remembers(p.ID) || b.reject(p, errPassed)) {
				b.fold.out = append(b.fold.out, name)
			}
		default:
			fresh = append(fresh, p)
		}
	}
	b.fold.kept = 0 // what the version folds has a bound of its own
	if failpoint.Omitted(failpoint.RuleLeftover) {
		b.fold.pending.RemoveAll(b.fold.done)
		b.fold.pending.Sync()
		b.fold.listed, b.fold.done = nil, nil
	}
	return fresh, certain, nil
}

// mayBeIn reports whether the sidecar could have the patch called name, which
// cannot be read: if its number has passed, or it has none. Else it is one that
// waits, for another release or declaration perhaps, and needs no id kept.
func (b *batch) mayBeIn(name string) bool {
	n := pendingNumber(name, b.w.manifest.StateID)
	return n == 0 || b.base.HasPassed(n)
}

// settleDropped makes sure that the files of the ids in before that the next
// version does not list are gone for good.
func (b *batch) settleDropped(before []string) error {
	listed := make(map[string]bool, len(b.fold.listed))
	for _, id := range b.fold.listed {
		listed[id] = true
	}
	drops := slices.ContainsFunc(before, func(id string) bool { return !listed[id] })
	if !drops || b.w.cleared == b.base.Version || failpoint.Omitted(failpoint.RuleDropSync) {
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
