package doctor

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// nearlyFull is the share of the limits of pending patches at which it is time
// to act.
const nearlyFull = 0.9

// patience is how long patches may wait for a commit of their owner before that
// is a finding; no process waits for a lock that long.
const patience = time.Minute

// A pile is the pending patches of an owner.
type pile struct {
	path   string
	count  int
	bytes  int64
	oldest string          // when the first patch of it was deferred
	bad    map[string]bool // the paths of files that are no patches
	late   int             // patches that could have been folded and were not
}

// pending reports the number of an owner's pending patches, those that cannot be
// folded, and those that no commit folds.
func (p *patient) pending(o reader.OwnerStatus) {
	pile, ok := p.pile(o)
	if !ok {
		return
	}
	oldest := ""
	if pile.oldest != "" {
		oldest = ", the oldest since " + pile.oldest
	}
	has := fmt.Sprintf("%d of at most %d pending patches, with %d bytes of at most %d", pile.count, sidecar.MaxPending, pile.bytes, sidecar.MaxPendingBytes)
	p.note("pending", "%s has %s%s; the next commit folds pending patches", o.Name, has, oldest)
	full := float64(pile.count) >= nearlyFull*sidecar.MaxPending || float64(pile.bytes) >= nearlyFull*sidecar.MaxPendingBytes
	if full {
		p.find(PendingFull, pile.path, has+": soon no more can be", p.fold(o.Name, "")).Owner = o.Name
	}
	stuck := besides(o.PendingErr, pile.bad)
	if stuck != nil {
		p.find(PatchStuck, pile.path, stuck.Error(), p.fold(o.Name, "what cannot be folded goes to the quarantine")).Owner = o.Name
	}
	if pile.late > 0 && !full && stuck == nil { // else the remedy is named already
		says := fmt.Sprintf("pending patches more than a minute ago and that nobody folds, though the lock is free: %d", pile.late)
		p.find(PendingWaiting, pile.path, says, p.fold(o.Name, "each commit of the owner does that too; if there should have been some, look at what became of its programs")).Owner = o.Name
	}
}

// fold has an owner's patches folded: once somebody can, if a process that does
// not run has the lock.
func (p *patient) fold(owner, advice string) remedy {
	fold := p.run("fold", owner)
	first, blocked := p.blocked[owner]
	if !blocked {
		return fold.but(advice)
	}
	if advice != "" {
		advice = "; " + advice
	}
	return first.but("then " + fold.text + advice)
}

// pile reads an owner's pending patches, and reports files that are no patches.
func (p *patient) pile(o reader.OwnerStatus) (pile, bool) {
	idle := o.Err == nil && p.idle(o.Name) // a patch found after that is being folded by no process
	files, err := p.dir.Patches(p.manifest, o.Name)
	if err != nil {
		return pile{}, false // said by the view, which reads it too
	}
	found := pile{path: filepath.Join(p.path, ".freehold", store.FilesOf(o.Name).Pending), count: len(files), bad: map[string]bool{}}
	for _, f := range files {
		found.bytes += f.Size
		if f.Err != nil {
			found.bad[f.Path] = true
			p.stuck(f.Path, o.Name, cause(f.Err))
			continue
		}
		if at := f.Patch.At.UTC().Format(time.RFC3339); found.oldest == "" || at < found.oldest {
			found.oldest = at
		}
		if written, ok := p.patches[o.Name+"/"+f.Name]; ok && idle && p.Clock().Sub(written) > patience {
			found.late++
		}
	}
	return found, true
}

// cause returns the cause of an error whose place is said already.
func cause(err error) error {
	if e, ok := errors.AsType[*store.Error](err); ok && e.Err != nil {
		return e.Err
	}
	return err
}

// idle reports whether an owner's lock could be had and nobody has it.
func (p *patient) idle(owner string) bool {
	busy, err := p.dir.Locked(p.manifest, owner)
	return err == nil && !busy && p.manifest.Pending == nil
}

// stuck says that a file among the patches is none that this release folds.
// No fold moves it: it may be a newer release's.
func (p *patient) stuck(path, owner string, err error) {
	remedy := shell("mv", "--", path, p.spare(filepath.Base(path))).but("look at it first")
	if errors.Is(err, store.Newer) {
		remedy = words("fold it by the newer release that deferred it")
	}
	p.find(PatchStuck, path, err.Error(), remedy).Owner = owner
}

// besides returns the errors in err that are not about the bad files, each of
// which begins an error of its own.
func besides(err error, bad map[string]bool) error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return err
	}
	var rest []error
	for _, err := range joined.Unwrap() {
		path, _, _ := strings.Cut(err.Error(), ": ")
		if !bad[path] {
			rest = append(rest, err)
		}
	}
	return errors.Join(rest...)
}
