package sidecar

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// names lists dir without .freehold.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.Name() != ".freehold" {
			names = append(names, e.Name())
		}
	}
	return names
}

// What Freehold did not write, it does not overwrite.
func TestCommitRefusesWhatItCannotTrust(t *testing.T) {
	for name, tc := range map[string]struct {
		damage func(path, text string) error
		want   error
		says   string
	}{
		"edited": {func(p, s string) error {
			return os.WriteFile(p, []byte(strings.Replace(s, "first", "fir5t", 1)), 0o600)
		}, store.Foreign, "accept cost"},
		"empty":     {func(p, s string) error { return os.WriteFile(p, nil, 0o600) }, store.Invalid, "quarantine cost"},
		"truncated": {func(p, s string) error { return os.WriteFile(p, []byte(s[:len(s)/2]), 0o600) }, store.Invalid, "byte"},
		"zeros":     {func(p, s string) error { return os.WriteFile(p, make([]byte, 480), 0o600) }, store.Invalid, "NUL"},
		"a tail":    {func(p, s string) error { return os.WriteFile(p, []byte(s+"}"), 0o600) }, store.Invalid, ""},
		"an array":  {func(p, s string) error { return os.WriteFile(p, []byte("[1,2]"), 0o600) }, store.Invalid, ""},
		"a link": {func(p, s string) error {
			return errors.Join(os.Rename(p, p+".moved"), os.Symlink(filepath.Base(p)+".moved", p))
		}, store.Unreadable, "symbolic link"},
		"a dangling link": {func(p, s string) error { return errors.Join(os.Remove(p), os.Symlink("gone", p)) }, store.Unreadable, "symbolic link"},
		"a second name":   {func(p, s string) error { return os.Link(p, p+".twin") }, store.Unreadable, "2 names"},
		"a pipe":          {func(p, s string) error { return errors.Join(os.Remove(p), unix.Mkfifo(p, 0o600)) }, store.Unreadable, "named pipe"},
		"a directory":     {func(p, s string) error { return errors.Join(os.Remove(p), os.Mkdir(p, 0o700)) }, store.Unreadable, "directory"},
		"another owner's": {func(p, s string) error {
			other, err := os.ReadFile(filepath.Join(filepath.Dir(p), "reset.json"))
			return errors.Join(err, os.WriteFile(p, other, 0o600))
		}, store.Foreign, "reset"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := newState(t)
			Damaged(dir, "sidecar-invalid", "sidecar-foreign", "sidecar-unreadable", "sidecar-undeclared")
			update(t, openOwner(t, dir, "cost", nil), setNote("first"))
			update(t, openOwner(t, dir, "reset", nil), setCleared)
			path := sidecarPath(dir, "cost")
			if err := tc.damage(path, readFile(t, path)); err != nil {
				t.Fatal(err)
			}
			before, err := os.Lstat(path)
			if err != nil {
				t.Fatal(err)
			}
			_, err = openOwner(t, dir, "cost", nil).Update(t.Context(), setNote("second"))
			wantError(t, err, tc.want, path, tc.says)
			after, err := os.Lstat(path)
			if err != nil || !os.SameFile(before, after) || before.Mode() != after.Mode() || before.Size() != after.Size() {
				t.Errorf("the file was touched: %v %v", after, err)
			}
			// One bad sidecar is no trouble of another owner's.
			if c := update(t, openOwner(t, dir, "reset", nil), func(tx *Tx) error {
				tx.Apply(Op{Field: "cleared", Verb: schema.VerbClear})
				return nil
			}); c.Outcome != Applied {
				t.Errorf("another owner's commit: %v", c.Outcome)
			}
		})
	}
}

func TestAcceptTakesAnEditInAndBeginsAnEpoch(t *testing.T) {
	dir := newState(t)
	w := openOwner(t, dir, "cost", nil)
	first := update(t, w, setNote("first")).Version
	path := sidecarPath(dir, "cost")
	edited := strings.Replace(readFile(t, path), `"note":"first"`, `"note":"edited","unheard_of":[1, 2.0]`, 1)
	if err := os.WriteFile(path, []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Accept(t.Context(), dir, "cost", nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Outcome != Applied || c.Version.Epoch <= first.Epoch || c.Version.Revision != 1 {
		t.Errorf("accepted as %+v after %v", c, first)
	}
	update(t, w, addTurns(1))
	if got := stored(t, dir, "note"); got != `"edited"` {
		t.Errorf("note is %s, want the accepted edit", got)
	}
	if !strings.Contains(readFile(t, path), `"unheard_of":[1, 2.0]`) {
		t.Error("a field that nobody declares did not survive")
	}
	again, err := Accept(t.Context(), dir, "cost", nil)
	if err != nil || again.Outcome != Unchanged {
		t.Errorf("accepting what is sound: %+v (%v), want unchanged", again, err)
	}
}

func TestAcceptRefusesWhatDoesNotFit(t *testing.T) {
	for name, tc := range map[string]struct {
		old, new string
		want     error
		says     string
	}{
		"a wrong type":          {`"first"`, `17`, ErrValue, "field note"},
		"another owner's field": {`"note"`, `"cleared"`, ErrNotOwner, "owner reset"},
		"no JSON":               {`"first"`, `first`, store.Invalid, "quarantine cost"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := newState(t)
			Damaged(dir, "sidecar-foreign", "sidecar-invalid")
			update(t, openOwner(t, dir, "cost", nil), setNote("first"))
			path := sidecarPath(dir, "cost")
			text := readFile(t, path)
			at := strings.LastIndex(text, tc.old)
			edited := text[:at] + tc.new + text[at+len(tc.old):]
			if err := os.WriteFile(path, []byte(edited), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Accept(t.Context(), dir, "cost", nil)
			wantError(t, err, tc.want, path, tc.says)
			if got := readFile(t, path); got != edited {
				t.Error("a refused accept changed the file")
			}
		})
	}
	_, err := Accept(t.Context(), newState(t), "cost", nil)
	wantError(t, err, fs.ErrNotExist)
}

func TestQuarantineKeepsTheBytesAndUnsetsTheFields(t *testing.T) {
	dir := newState(t)
	w := openOwner(t, dir, "cost", nil)
	first := update(t, w, setNote("first")).Version
	kept := map[string]bool{}
	for _, text := range []string{"broken one", "broken two"} {
		if err := os.WriteFile(sidecarPath(dir, "cost"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		pending, err := Quarantine(t.Context(), dir, "cost", nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := readFile(t, pending.Path); got != text {
			t.Errorf("quarantined %q, want %q", got, text)
		}
		kept[pending.Path] = true
	}
	if len(kept) != 2 {
		t.Errorf("the second file took the place of the first: %v", kept)
	}
	if got := stored(t, dir, "note"); got != "unset" {
		t.Errorf("note is %s", got)
	}
	if c := update(t, w, setNote("anew")); c.Version.Epoch <= first.Epoch {
		t.Errorf("version %v after %v: an epoch was issued again", c.Version, first)
	}
	_, err := Quarantine(t.Context(), newState(t), "cost", nil)
	wantError(t, err, fs.ErrNotExist, "nothing to move")
}

// Case 96: a file that was there keeps its mode and its group.
func TestReplaceKeepsModeAndGroup(t *testing.T) {
	dir := newState(t)
	path := sidecarPath(dir, "cost")
	w := openOwner(t, dir, "cost", nil)
	for _, umask := range []int{0o000, 0o077} {
		old := unix.Umask(umask)
		_, err := w.Update(t.Context(), addTurns(1))
		unix.Umask(old)
		if err != nil {
			t.Fatal(err)
		}
		if mode := stat(t, path).Mode().Perm(); mode != 0o600 {
			t.Errorf("umask %03o: a new sidecar has mode %04o", umask, mode)
		}
		os.Remove(path)
		unwitness(t, dir)
	}
	update(t, w, addTurns(1))
	if os.Geteuid() == 0 {
		if err := os.Chown(path, -1, 65534); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	group := stat(t, path).Sys().(*syscall.Stat_t).Gid
	for _, umask := range []int{0o000, 0o077} {
		old := unix.Umask(umask)
		_, err := w.Update(t.Context(), addTurns(1))
		unix.Umask(old)
		if err != nil {
			t.Fatal(err)
		}
		info := stat(t, path)
		if gid := info.Sys().(*syscall.Stat_t).Gid; info.Mode().Perm() != 0o640 || gid != group {
			t.Errorf("umask %03o: mode %04o and group %d, want 0640 and %d", umask, info.Mode().Perm(), gid, group)
		}
	}
}

func stat(t *testing.T, path string) fs.FileInfo {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// TMPDIR has no say in where a commit stages its file.
//
// Cases 6 and 144.
func TestCommitStagesBesideTheSidecar(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	t.Setenv("TMPDIR", "/nonexistent")
	if err := Create(dir, declaration()); err != nil {
		t.Fatal(err)
	}
	update(t, openOwner(t, dir, "cost", nil), addTurns(1))
	if diff := cmp.Diff([]string{"cost.json"}, names(t, dir)); diff != "" {
		t.Errorf("left in the directory (-want +got):\n%s", diff)
	}
}

func TestCommitCollectsWhatDeadWritersLeft(t *testing.T) {
	dir := newState(t)
	Damaged(dir, "litter")
	for _, name := range []string{".cost.json424200000000000", ".cost.json", ".cost.json12x", ".reset.json770000000000000", ".notes"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(`{"$sidecar"`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	update(t, openOwner(t, dir, "cost", nil), addTurns(1))
	want := []string{".cost.json", ".cost.json12x", ".notes", ".reset.json770000000000000", "cost.json"}
	if diff := cmp.Diff(want, names(t, dir)); diff != "" {
		t.Errorf("left in the directory (-want +got):\n%s", diff)
	}
}

// A file that only looks like a staged one is not Freehold's: the number may be a
// date, and the file a backup. While the sidecar cannot be used, nothing that
// could mend it is removed.
func TestCommitRemovesNothingThatCouldMendTheSidecar(t *testing.T) {
	dir := newState(t)
	Damaged(dir, "sidecar-invalid", "sidecar-undeclared", "unknown")
	w := openOwner(t, dir, "cost", nil)
	update(t, w, addTurns(1))
	whole := readFile(t, sidecarPath(dir, "cost"))
	staged := []string{".cost.json123456789012345"}
	others := []string{".cost.json20261130", ".cost.json202611301200000"}
	for _, name := range append(staged, others...) {
		text := whole
		if name == others[1] {
			text = "a note"
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(sidecarPath(dir, "cost"), []byte(whole[:40]), 0o600); err != nil {
		t.Fatal(err)
	}
	for range sweepEvery + 1 {
		_, err := w.Update(t.Context(), addTurns(1))
		wantError(t, err, store.Invalid)
	}
	if diff := cmp.Diff(append(append([]string{}, staged[0], others[0], others[1]), "cost.json"), names(t, dir)); diff != "" {
		t.Errorf("with an invalid sidecar (-want +got):\n%s", diff)
	}
	if err := os.Rename(filepath.Join(dir, staged[0]), sidecarPath(dir, "cost")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, staged[0]), []byte(whole), 0o600); err != nil {
		t.Fatal(err)
	}
	update(t, w, addTurns(1))
	if diff := cmp.Diff([]string{others[0], others[1], "cost.json"}, names(t, dir)); diff != "" {
		t.Errorf("with a whole one (-want +got):\n%s", diff)
	}
}

// The remedy of a sidecar that cannot be used keeps a whole one beside it, which the
// commits after the remedy remove.
func TestARemedyKeepsAWholeStagedSidecar(t *testing.T) {
	for name, remedy := range map[string]func(dir string) error{
		"quarantine of a torn one": func(dir string) error {
			if err := os.WriteFile(sidecarPath(dir, "cost"), []byte(`{"$side`), 0o600); err != nil {
				return err
			}
			_, err := Quarantine(t.Context(), dir, "cost", nil)
			return err
		},
		"quarantine of one that is gone": func(dir string) error {
			if err := os.Remove(sidecarPath(dir, "cost")); err != nil {
				return err
			}
			_, err := Quarantine(t.Context(), dir, "cost", nil)
			return err
		},
		"accept of one that is gone": func(dir string) error {
			if err := os.Remove(sidecarPath(dir, "cost")); err != nil {
				return err
			}
			_, err := Accept(t.Context(), dir, "cost", nil)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := newState(t)
			update(t, openOwner(t, dir, "cost", nil), addTurns(1))
			whole := readFile(t, sidecarPath(dir, "cost"))
			const staged = ".cost.json123456789012345"
			if err := os.WriteFile(filepath.Join(dir, staged), []byte(whole), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := remedy(dir); err != nil {
				t.Fatal(err)
			}
			update(t, openOwner(t, dir, "cost", nil), addTurns(1))
			if slices.Contains(names(t, dir), staged) {
				t.Errorf("the commit left %s", staged)
			}
			in := metaPath(dir, "quarantine")
			if !slices.ContainsFunc(names(t, in), func(name string) bool { return readFile(t, filepath.Join(in, name)) == whole }) {
				t.Errorf("the quarantine has %q, and none is the whole sidecar", names(t, in))
			}
		})
	}
}

func TestCommitIntoAReplacedDirectoryIsRefused(t *testing.T) {
	dir := newState(t)
	w := openOwner(t, dir, "cost", nil)
	update(t, w, addTurns(1))
	if err := os.Rename(dir, dir+".old"); err != nil {
		t.Fatal(err)
	}
	if err := Create(dir, declaration()); err != nil {
		t.Fatal(err)
	}
	_, err := w.Update(t.Context(), addTurns(1))
	wantError(t, err, store.Moved)
	if got := stored(t, dir+".old", "turns"); got != "1" {
		t.Errorf("turns is %s in the orphan, want 1", got)
	}
}

func TestNewBootBeginsAnEpoch(t *testing.T) {
	if process.Self().Boot == "" {
		t.Skip("this system has no boot id")
	}
	dir := newState(t)
	w := openOwner(t, dir, "cost", nil)
	update(t, w, addTurns(1))
	raw := []byte(readFile(t, sidecarPath(dir, "cost")))
	doc, err := document.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	doc.Writer.Identity.Boot = "00000000-0000-0000-0000-000000000000"
	if raw, err = doc.Encode(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(sidecarPath(dir, "cost"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	v := update(t, w, addTurns(1)).Version
	if v.Epoch <= doc.Version.Epoch || v.Revision != 1 {
		t.Errorf("version %v after %v of another boot", v, doc.Version)
	}
}

// A clock that steps back orders nothing.
func TestClockDoesNotOrderCommits(t *testing.T) {
	dir := newState(t)
	now := time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)
	w := openOwner(t, dir, "cost", &Options{Clock: func() time.Time { return now }})
	a := update(t, w, setNote("old")).Version
	now = now.AddDate(-25, 0, 0)
	b := update(t, w, setNote("new")).Version
	if got := stored(t, dir, "note"); got != `"new"` || b.Revision != a.Revision+1 {
		t.Errorf("note is %s at version %v after %v", got, b, a)
	}
}

// A directory that looks like a dead writer's file is somebody's own affair.
func TestCommitLeavesWhatNoWriterMadeAlone(t *testing.T) {
	dir := newState(t)
	if err := os.MkdirAll(filepath.Join(dir, ".cost.json100000000000000", "deep"), 0o700); err != nil {
		t.Fatal(err)
	}
	update(t, openOwner(t, dir, "cost", nil), addTurns(1))
}

// A Writer that lives long collects what others leave, at its next commit.
func TestLongLivedWriterCollectsWhatOthersLeave(t *testing.T) {
	dir := newState(t)
	w := openOwner(t, dir, "cost", nil)
	for range 3 {
		update(t, w, addTurns(1))
		time.Sleep(40 * time.Millisecond) // let the file system's clock tick: see statedir.Stamp
		if err := os.WriteFile(filepath.Join(dir, ".cost.json424200000000000"), []byte(`{"$sidecar"`), 0o600); err != nil {
			t.Fatal(err)
		}
		update(t, w, addTurns(1))
		if diff := cmp.Diff([]string{"cost.json"}, names(t, dir)); diff != "" {
			t.Fatalf("left in the directory (-want +got):\n%s", diff)
		}
	}
}

// Whatever the clock's tick hides is collected within sweepEvery commits.
func TestLitterOfTheSameTickIsCollectedLater(t *testing.T) {
	dir := newState(t)
	w := openOwner(t, dir, "reset", nil)
	update(t, w, setCleared)
	if err := os.WriteFile(filepath.Join(dir, ".reset.json424200000000000"), []byte(`{"$sidecar"`), 0o600); err != nil {
		t.Fatal(err)
	}
	p := w.publisher.(*replace)
	for range sweepEvery {
		stamp, err := p.dir.Stamp()
		if err != nil {
			t.Fatal(err)
		}
		p.swept = stamp // as if nothing had come since
		update(t, w, func(*Tx) error { return nil })
	}
	if diff := cmp.Diff([]string{"reset.json"}, names(t, dir)); diff != "" {
		t.Errorf("left in the directory (-want +got):\n%s", diff)
	}
}

// Case 97: a commit does not make another user's file the superuser's: it is
// refused.
func TestCommitDoesNotTakeAnotherUsersFile(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to give a file away")
	}
	dir := newState(t)
	Damaged(dir, "other-user")
	w := openOwner(t, dir, "cost", nil)
	update(t, w, addTurns(1))
	if err := os.Chown(sidecarPath(dir, "cost"), 65534, -1); err != nil {
		t.Fatal(err)
	}
	_, err := w.Update(t.Context(), addTurns(1))
	wantError(t, err, store.Unsafe, "user 65534", "chown")
	if uid := stat(t, sidecarPath(dir, "cost")).Sys().(*syscall.Stat_t).Uid; uid != 65534 {
		t.Errorf("the file belongs to user %d", uid)
	}
}
