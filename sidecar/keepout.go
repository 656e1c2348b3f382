package sidecar

import (
	"fmt"

	"github.com/freehold-dev/freehold/sidecar/statedir"
)

// keepOut keeps a copy of a patch that is not taken in, or not whole, and says
// why. If it cannot, the patch stays where it is.
func (b *batch) keepOut(p *PatchAside, why error) bool {
	path, err := b.w.dir.KeepOut(keptName(b.w.owner, p.ID), p.raw, why.Error())
	if err != nil {
		b.w.tell(p.Name, fmt.Errorf("%s: not taken in: %w; and it cannot be kept elsewhere: %w: mend that", b.fold.aside.Path(p.Name), why, err))
		return false
	}
	b.fold.kept++
	b.w.tell(p.Name, fmt.Errorf("%s: kept out of %s: %w: look at it there, and add by hand what is to count", path, b.w.file(), why))
	return true
}

// keptName names a patch in the quarantine.
func keptName(owner, id string) string { return statedir.OwnerAside(owner) + "." + id + ".json" }

// roomKept says why one more patch could be too much of those that are kept out.
// Where the quarantine cannot be read, none can be kept out either: they stay
// where they are set aside, which has bounds of its own.
func (w *Writer) roomKept() error {
	kept, err := w.dir.KeptOut(statedir.OwnerAside(w.owner))
	if err != nil || kept < MaxKeptOut {
		return nil
	}
	return fmt.Errorf("%d patches of the owner are kept out in %s, and no more may be: `freehold doctor` lists them; look at them, add by hand what is to count, and remove them", kept, w.dir.QuarantinePath(""))
}

// wasKeptOut reports whether an earlier commit has kept p out as a whole, and was
// killed before its file was gone. By now it might fit, and whoever was told may
// have added by hand what is to count.
func (b *batch) wasKeptOut(p *PatchAside) bool {
	_, err := b.w.dir.Kept(keptName(b.w.owner, p.ID))
	return err == nil
}

// tell gives the Notice what stops nothing, once for each patch.
func (w *Writer) tell(name string, err error) {
	if w.told == nil {
		w.told = map[string]bool{}
	}
	if w.notice == nil || w.told[name] {
		return
	}
	w.told[name] = true
	w.notice(err)
}
