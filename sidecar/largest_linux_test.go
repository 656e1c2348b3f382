package sidecar

import (
	"os"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/sidecar/document"
	"github.com/google/go-cmp/cmp"
)

// forge gives an owner's sidecar what another hand could, with the right sum, and
// returns its text.
func forge(t *testing.T, dir, owner string, change func(*document.Document)) string {
	t.Helper()
	path := sidecarPath(dir, owner)
	doc, err := document.Decode([]byte(readFile(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	change(doc)
	raw, err := doc.Encode()
	if err == nil {
		err = os.WriteFile(path, raw, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// numbered forges a version.
func numbered(epoch, revision uint64) func(*document.Document) {
	return func(d *document.Document) {
		if epoch != 0 {
			d.Version.Epoch = epoch
		}
		d.Version.Revision = revision
	}
}

// Where another hand has written the largest number that there is, the next is
// refused, or begins a larger epoch; none begins again at the bottom, nothing
// stored is lost, and what the error says helps.
func TestNothingFollowsTheLargestNumber(t *testing.T) {
	const most = document.MaxEpoch
	for name, tc := range map[string]struct {
		owner   string
		version func(*document.Document)
		reboot  bool
		epoch   string // of the next commit: "same", "next", or the error
	}{
		"the last revision but one":          {"cost", numbered(0, most-1), false, "same"},
		"the last revision":                  {"cost", numbered(0, most), false, "next"},
		"the last epoch":                     {"cost", numbered(most, 7), false, "same"},
		"the last epoch but one, rebooted":   {"cost", numbered(most-1, 7), true, "next"},
		"the last epoch, rebooted":           {"cost", numbered(most, 7), true, "the largest epoch"},
		"the last of both":                   {"cost", numbered(most, most), false, "the largest epoch"},
		"exclusive: the last epoch but one":  {"watchdog", numbered(most-1, most), false, "next"},
		"exclusive: the last epoch":          {"watchdog", numbered(most, 7), false, "the largest epoch"},
		"exclusive: the last revision, anew": {"watchdog", numbered(0, most), false, "next"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := newState(t)
			fn, field := addTurns(1), "turns"
			if tc.owner == "watchdog" {
				fn, field = beat, "beats"
			}
			w := openOwner(t, dir, tc.owner, nil)
			update(t, w, fn)
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			text := forge(t, dir, tc.owner, tc.version)
			was, _ := document.Decode([]byte(text))
			if tc.reboot {
				onAnotherBoot(t)
			}
			var c Commit
			w, err := Open(t.Context(), dir, declaration(), tc.owner, nil)
			if err == nil {
				defer w.Close()
				c, err = w.Update(t.Context(), func(*Tx) error { return nil })
				if err != nil || c.Outcome != Unchanged {
					t.Errorf("a commit that changes nothing is %+v (%v)", c, err)
				}
				c, err = w.Update(t.Context(), fn)
			}
			switch {
			case tc.epoch != "same" && tc.epoch != "next":
				wantError(t, err, ErrInvalid, tc.epoch, "move it away")
				said.Same(t, "the end of the numbers: "+name, err, dir, "STATE")
				if readFile(t, sidecarPath(dir, tc.owner)) != text {
					t.Error("the sidecar has changed")
				}
				remove(t, sidecarPath(dir, tc.owner)) // as it says
				if w = openOwner(t, dir, tc.owner, &Options{Wait: time.Minute}); update(t, w, fn).Version.Epoch >= most {
					t.Errorf("moved away, the next epoch is the last again")
				}
				return
			case err != nil:
				t.Fatal(err)
			case behind(c.Version, was.Version), tc.epoch == "next" && c.Version.Epoch <= was.Version.Epoch, tc.epoch == "same" && c.Version.Epoch != was.Version.Epoch:
				t.Errorf("version %v follows %v", c.Version, was.Version)
			}
			if got := string(w.last.Value(field)); got != "2" {
				t.Errorf("%s is %s", field, got)
			}
			if c.Version.Epoch == most { // doctor says so
				wantError(t, Ends(w.last), ErrInvalid)
				Damaged(dir, "sidecar-invalid")
			}
		})
	}
}

// The holder of a lease whose revisions are at their end begins another epoch.
func TestNoRevisionFollowsTheLargest(t *testing.T) {
	dir := newState(t)
	w := openOwner(t, dir, "watchdog", nil)
	update(t, w, beat)
	text := forge(t, dir, "watchdog", numbered(0, document.MaxEpoch))
	_, err := w.Update(t.Context(), beat)
	wantError(t, err, ErrInvalid, "open the owner again")
	said.Same(t, "the end of the revisions", err, dir, "STATE")
	if readFile(t, sidecarPath(dir, "watchdog")) != text {
		t.Error("the sidecar has changed")
	}
	epoch := w.epoch
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if w = openOwner(t, dir, "watchdog", nil); update(t, w, beat).Version.Epoch <= epoch {
		t.Errorf("epoch %d follows %d", w.epoch, epoch)
	}
	if got := string(w.last.Value("beats")); got != "2" {
		t.Errorf("beats is %s", got)
	}
}

// Where another hand has used up the numbers of pending patches, nothing can be
// deferred, and all that is there is folded; with the sidecar moved aside, the
// numbers begin again.
func TestNoPatchFollowsTheLargestNumber(t *testing.T) {
	dir, w := newSetters(t)
	update(t, w, ops(op("n", VerbAdd, "1")))
	deferUpdate(t, w, op("n", VerbAdd, "10"))
	text := readFile(t, sidecarPath(dir, "tool"))
	last := PendingPatch{ID: "0000000000001", At: time.Now(), Ops: Patch{op("n", VerbAdd, "100")}, Name: pendingName(w.manifest.StateID, document.MaxEpoch)}
	raw, err := last.encode("tool", w.manifest.StateID)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(metaPath(dir, "tool.pending/"+last.Name), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if c := update(t, w, ops(op("n", VerbAdd, "1000"))); c.Folded != 2 {
		t.Errorf("the commit is %+v", c)
	}
	locked(t, w, func() {
		c, err := w.Update(t.Context(), ops(op("n", VerbAdd, "1")))
		wantError(t, err, ErrBusy, "the largest number of a pending patch", "move it away")
		wantError(t, err, ErrInvalid)
		said.Same(t, "deferred: the last number was folded", err, dir, "STATE")
		if c != (Commit{}) {
			t.Errorf("the commit is %+v", c)
		}
	})
	if diff := cmp.Diff(map[string]string{"n": "1111"}, values(t, w, "n")); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	wantError(t, Ends(w.last), ErrInvalid)
	if names := pendingNames(t, w); len(names) > 0 {
		t.Errorf("deferred still: %v", names)
	}
	if _, err := Quarantine(t.Context(), dir, "tool", nil); err != nil {
		t.Fatal(err)
	}
	deferUpdate(t, w, op("n", VerbAdd, "10"))
	if diff := cmp.Diff(map[string]string{"n": "10"}, values(t, w, "n")); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	if text == readFile(t, sidecarPath(dir, "tool")) {
		t.Error("nothing was written")
	}
}
