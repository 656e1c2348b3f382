package sidecar

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/freehold-dev/freehold/sidecar/document"
	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// The order of an owner's patches is that of their numbers, which is that in
// which their files got their names, whatever clocks say. No lock is held for
// it, since whoever holds one may be stopped. Three things make it so.
//
// A file's name is its number, and replaces nothing. A writer takes the number
// after the highest that it sees, in the directory or as folded the sidecar, or
// the first after that which no file has. So a number is given only once the one
// before was, and never to two files at a time.
//
// A fold publishes the highest number that it folds before it unlinks a file,
// and that never goes back. So a writer that was slow, and gets a name whose
// first bearer is gone, finds on its next look at the sidecar that its number
// has passed; and one that finds it has not, knows that no number above its own
// was given before. What has passed counts for nobody, from the moment at which
// it has its name: the sidecar said so already. Its writer withdraws it and
// tries again, under another id. A fold moves it to the quarantine only if nobody
// holds the lock on it that its writer does: then the writer was killed, and has
// acknowledged nothing. So a writer whose file is gone knows that it was folded, or kept
// out. The numbers of files that no fold could fold are listed: those have
// not passed.
//
// Who lists the directory sees every file that was there all the time, and
// perhaps some that came meanwhile. So it lists twice, and leaves out what is
// above the highest of the first time: of what is up to that, all was there
// before the second.
//
// So each view and each fold folds the patches up to a number and none above
// it; what was acknowledged before an Update began comes before what it sets
// pending; and no view is contradicted by a later one. A commit under the lock
// folds all that was deferred before it began, and comes right after. One that
// has no time for all of it folds the first of it, by number, and is then set
// pending itself, with a number after the rest, or fails. Of an
// owner's patches and such commits that take place at the same time, the ones
// that do several things at once may be seen in that order by one view and not
// yet by the view before: that one showed a patch which comes after a commit, and
// not the commit.
//
// There are three exceptions. A patch that only another release or declaration
// can fold comes after those that could be folded meanwhile. So does one
// for which a sidecar has no room, which the commits that make room cannot wait
// for. And where the sidecar was lost or put back from an older copy, the numbers
// go on after those in the directory: who was slow then may come earlier.
//
// Files with other names were deferred by a release that ordered them by its
// processes' clocks. Those have no number, and come first.

// pendingName returns the name of the patch of the number n.
func pendingName(stateID string, n uint64) string {
	return stateID + "." + strconv.FormatUint(n, 10) + ".json"
}

// pendingNumber returns the number of the patch called name, or 0.
func pendingNumber(name, stateID string) uint64 {
	digits, ok := strings.CutPrefix(name, stateID+".")
	digits, isJSON := strings.CutSuffix(digits, ".json")
	n, err := strconv.ParseUint(digits, 10, 64)
	if !ok || !isJSON || err != nil || n > document.MaxEpoch || digits[0] == '0' {
		return 0
	}
	return n
}

// ListPending returns the names of the patches in a, sorted, in the state with the
// id stateID: of those with numbers all up to one, and none above it.
func ListPending(a *store.PendingDir, stateID string) ([]string, error) {
	names, err := a.Names()
	last := lastOf(names, stateID)
	if err != nil || last == 0 {
		return names, err
	}
	if names, err = a.Names(); err != nil {
		return nil, err
	}
	return upTo(names, last, stateID), nil
}

// upTo returns names without those of numbers above last.
func upTo(names []string, last uint64, stateID string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return pendingNumber(name, stateID) > last })
}

func lastOf(names []string, stateID string) (last uint64) {
	for _, name := range names {
		last = max(last, pendingNumber(name, stateID))
	}
	return last
}

// mostMissed is how many numbers a writer may miss: it has waited already. For
// each of them, another has deferred a patch and a commit has taken it in between
// two system calls of this one.
const mostMissed = 8

// putInOrder puts p into a under a number that has not passed.
func (w *Writer) putInOrder(a *store.PendingDir, p *PendingPatch, busy error) error {
	for range mostMissed {
		if missed, err := w.putOnce(a, p, busy); err != nil || !missed {
			return err
		}
	}
	return fmt.Errorf("%w; and the patch cannot be deferred, nothing was changed: commits folded the patches of others so fast that %d numbers had passed before this one had its name: try again", busy, mostMissed)
}

// putOnce puts p into a under a new id and the next number. If it finds that the
// number has passed, p is not there.
func (w *Writer) putOnce(a *store.PendingDir, p *PendingPatch, busy error) (missed bool, err error) {
	p.ID = process.NewNonce()
	raw, err := p.encode(w.owner, w.manifest.StateID)
	if err != nil {
		return false, fmt.Errorf("%s: %w: %w", w.file(), ErrValue, err)
	}
	draft, err := a.Draft(raw)
	if err != nil {
		return false, w.unput(err)
	}
	defer draft.Close()
	if err := w.putNext(a, draft, p, len(raw), busy); err != nil {
		return false, err
	}
	failpoint.Hit(failpoint.PendingPut)
	if missed, err = w.missed(p); err == nil && missed {
		missed, err = draft.Withdraw() // if it is gone, it was folded, or rejected
	}
	if err != nil {
		err = fmt.Errorf("%w: nobody knows what becomes of the patch %s: %w; ask Resolve", ErrIndeterminate, p.ID, err)
	}
	return missed, err
}

func (w *Writer) unput(err error) error {
	return fmt.Errorf("%s: deferred: nothing was changed: %w; mend that and try again", w.file(), err)
}

// putNext gives draft, which has size bytes, the next number's name. What it
// returns has changed nothing.
func (w *Writer) putNext(a *store.PendingDir, draft *store.Draft, p *PendingPatch, size int, busy error) error {
	names, err := a.Names()
	mine := w.lookAt(w.owner, &w.spool.mine) // after the names: what is gone from there is taken here
	if err = errors.Join(err, mine.err); err != nil {
		return fmt.Errorf("%w; and the patch cannot be deferred, nothing was changed: %w", busy, err)
	}
	if err := w.spool.room(a, names, size); err != nil { // who comes meanwhile may exceed a bound by as many
		return fmt.Errorf("%w; and %s: nothing was changed; end who holds the lock, or let it go on, and run `freehold fold %s`", busy, err, w.owner)
	}
	p.Number = max(lastOf(names, w.manifest.StateID), mine.doc.Taken())
	given := 0
	for err = fs.ErrExist; errors.Is(err, fs.ErrExist); given++ { // somebody was faster: that number is given, too
		if given == MaxPending {
			return fmt.Errorf("%w; and the patch cannot be deferred, nothing was changed: others were faster at %d numbers, one after the other: try again", busy, given)
		}
		if p.Number++; p.Number > document.MaxEpoch && mine.doc.Taken() == document.MaxEpoch {
			return fmt.Errorf("%w; and the patch cannot be deferred, nothing was changed: %s: %w", busy, w.file(), Ends(mine.doc))
		} else if p.Number > document.MaxEpoch {
			return fmt.Errorf("%w; and the patch cannot be deferred, nothing was changed: %s has the highest number there is: look at it, and move it away", busy, a.Path(pendingName(w.manifest.StateID, document.MaxEpoch)))
		}
		p.Name = pendingName(w.manifest.StateID, p.Number)
		failpoint.Hit(failpoint.PendingNumbered)
		err = draft.Put(p.Name)
	}
	if err != nil {
		return w.unput(err)
	}
	return nil
}

// missed reports whether p, if it still has its name, counts for nobody, since
// its number had passed when it got it.
func (w *Writer) missed(p *PendingPatch) (bool, error) {
	mine := w.lookAt(w.owner, &w.spool.mine)
	if mine.err != nil {
		return false, mine.err
	}
	if !mine.doc.HasPassed(p.Number) || mine.doc.HasFolded(p.ID) || failpoint.Omitted(failpoint.RulePassed) {
		return false, nil
	}
	_, err := w.dir.Kept(keptName(w.owner, p.ID))
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	return false, err // it is being rejected
}

// errPassed is why a patch is rejected whose number has passed and whose writer
// is gone. Nobody heard that it was deferred, unless somebody has moved the file
// away, and it came back after a commit that did not find it.
var errPassed = errors.New("its number has passed: its writer was killed before it had an answer, or the file was moved away and put back, and then it may be folded already")

// passed reports whether p's number has passed. That alone keeps p from being
// folded twice; so a test that takes out another rule which does takes out
// this one too.
func (b *batch) passed(p *PendingPatch) bool {
	for _, rule := range []string{failpoint.RulePassed, failpoint.RuleFoldedIDs, failpoint.RuleLeftover, failpoint.RuleDropSync} {
		if failpoint.Omitted(rule) {
			return false
		}
	}
	return b.base.HasPassed(p.Number)
}

// pass says which numbers have passed with the next version, of which the files
// called names, and no others, are there.
func (b *batch) pass(names []string) {
	f := &b.fold
	gone := slices.Concat(f.done, f.out)
	f.taken = max(b.base.Taken(), lastOf(gone, b.w.manifest.StateID))
	f.advances = f.taken > b.base.Taken()
	slices.Sort(gone)
	for _, name := range names {
		n := pendingNumber(name, b.w.manifest.StateID)
		if _, goes := slices.BinarySearch(gone, name); !goes && n != 0 && n <= f.taken && !b.base.HasPassed(n) {
			f.left = append(f.left, n)
		}
	}
	slices.Sort(f.left)
}
