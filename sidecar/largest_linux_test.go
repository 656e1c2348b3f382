package sidecar

import (
	"os"
	"testing"

	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/store"
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

// Where another hand has written the largest epoch, or the largest revision of a
// lease's epoch, no commit follows, and the sidecar stays as it is.
func TestNoVersionFollowsTheLargest(t *testing.T) {
	const most = document.MaxEpoch
	for name, tc := range map[string]struct {
		owner   string
		version func(*document.Document)
		reboot  bool
		follows bool
	}{
		"the last epoch":            {"cost", numbered(most, 7), false, true},
		"the last epoch, rebooted":  {"cost", numbered(most, 7), true, false},
		"the last revision":         {"cost", numbered(0, most), false, true}, // in another epoch
		"exclusive: the last epoch": {"watchdog", numbered(most, 7), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := newState(t)
			fn := addTurns(1)
			if tc.owner == "watchdog" {
				fn = beat
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
			w, err := Open(t.Context(), dir, declaration(), tc.owner, nil)
			var c Commit
			if err == nil {
				defer w.Close()
				c, err = w.Update(t.Context(), fn)
			}
			switch {
			case tc.follows && err != nil:
				t.Fatal(err)
			case tc.follows && behind(c.Version, was.Version):
				t.Errorf("version %v follows %v", c.Version, was.Version)
			case !tc.follows:
				wantError(t, err, store.Invalid, "no version can follow")
				said.Same(t, "the end of the numbers: "+name, err, dir, "STATE")
				if readFile(t, sidecarPath(dir, tc.owner)) != text {
					t.Error("the sidecar has changed")
				}
			}
		})
	}
}
