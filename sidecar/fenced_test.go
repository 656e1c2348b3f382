package sidecar

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/lease"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/store"
	"golang.org/x/sys/unix"
)

// A process whose epoch has passed changes nothing any more, for good: neither
// the sidecar, nor the record on its release (C-35, C-36, C-40, C-101).
func TestPassedEpochIsFenced(t *testing.T) {
	for name, pass := range map[string]func(t *testing.T, dir string, epoch uint64){
		"the record names a later epoch": func(t *testing.T, dir string, epoch uint64) {
			l := record(t, dir)
			l.Epoch, l.Holder.Identity.Nonce = epoch+1, "somebody else's"
			writeRecord(t, dir, l)
		},
		"the record names another process in the same epoch": func(t *testing.T, dir string, epoch uint64) {
			l := record(t, dir)
			l.Holder.Identity.Nonce = "somebody else's"
			writeRecord(t, dir, l)
		},
		"the sidecar is of a later epoch": func(t *testing.T, dir string, epoch uint64) {
			rewrite(t, dir, "watchdog", func(doc *document.Document) { doc.Version.Epoch = epoch + 1 })
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := newState(t)
			w := mustOpen(t, dir)
			update(t, w, beat)
			before := record(t, dir)
			pass(t, dir, w.epoch)
			later, kept := readFile(t, recordPath(dir)), readFile(t, sidecarPath(dir, "watchdog"))
			for range 2 {
				_, err := w.Update(t.Context(), beat)
				wantError(t, err, ErrFenced, fmt.Sprintf("held epoch %d", w.epoch))
			}
			// Not even when the later lease is forgotten again.
			writeRecord(t, dir, before)
			_, err := w.Update(t.Context(), beat)
			wantError(t, err, ErrFenced)
			if err := os.WriteFile(recordPath(dir), []byte(later), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if readFile(t, recordPath(dir)) != later || readFile(t, sidecarPath(dir, "watchdog")) != kept {
				t.Error("a fenced process changed something")
			}
			if next := mustOpen(t, dir); next.epoch <= w.epoch+1 && name != "the record names another process in the same epoch" {
				t.Errorf("the next epoch is %d, and %d was begun", next.epoch, w.epoch+1)
			}
		})
	}
}

// A process that closes leaves the record of a later lease alone, also if it has
// noticed nothing: neither the holder nor the epoch goes.
func TestCloseLeavesTheRecordOfALaterLease(t *testing.T) {
	for name, pass := range map[string]func(*lease.Record){
		"a later epoch":                     func(l *lease.Record) { l.Epoch++; l.Holder.Identity.Nonce = "somebody else's" },
		"a later epoch that was given back": func(l *lease.Record) { l.Epoch++; l.Holder = nil },
		"another process in the same epoch": func(l *lease.Record) { l.Holder.Identity.Nonce = "somebody else's" },
	} {
		t.Run(name, func(t *testing.T) {
			dir := newState(t)
			w := mustOpen(t, dir)
			later := record(t, dir)
			pass(later)
			writeRecord(t, dir, later)
			text := readFile(t, recordPath(dir))
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if got := readFile(t, recordPath(dir)); got != text {
				t.Errorf("the record is now\n%s\nand was\n%s", got, text)
			}
		})
	}
}

// A process whose lease was lost has nothing to give back: its Close is no error,
// and changes nothing.
func TestCloseOfALostLeaseChangesNothing(t *testing.T) {
	dir := newState(t)
	Damaged(dir, "lost", "lock-lost", "lease-gone")
	w := mustOpen(t, dir)
	remove(t, metaPath(dir, "watchdog.lease"))
	before := readFile(t, recordPath(dir))
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if now := readFile(t, recordPath(dir)); now != before {
		t.Errorf("the record is now\n%s\nand was\n%s", now, before)
	}
	dir = filepath.Join(t.TempDir(), "state")
	if err := Create(dir, declaration()); err != nil {
		t.Fatal(err)
	}
	w = mustOpen(t, dir)
	remove(t, dir)
	if err := w.Close(); err != nil {
		t.Errorf("the whole state is gone: %v", err)
	}
}

func writeRecord(t *testing.T, dir string, l *lease.Record) {
	t.Helper()
	d, err := statedir.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := l.Write(d); err != nil {
		t.Fatal(err)
	}
}

// rewrite changes owner's sidecar as Freehold itself would.
func rewrite(t *testing.T, dir, owner string, change func(*document.Document)) {
	t.Helper()
	doc, err := document.Decode([]byte(readFile(t, sidecarPath(dir, owner))))
	if err != nil {
		t.Fatal(err)
	}
	change(doc)
	raw, err := doc.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(sidecarPath(dir, owner), raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

// damages are the ways in which a lock file can come to be another one.
var damages = map[string]func(path string) error{
	"unlinked": os.Remove,
	"replaced": func(path string) error {
		return errors.Join(os.Rename(path, path+".gone"), os.WriteFile(path, nil, 0o600))
	},
	"a link": func(path string) error {
		return errors.Join(os.Rename(path, path+".gone"), os.Symlink(filepath.Base(path)+".gone", path))
	},
	"a second name": func(path string) error { return os.Link(path, path+".twin") },
	"a pipe":        func(path string) error { return errors.Join(os.Remove(path), unix.Mkfifo(path, 0o600)) },
	"a directory":   func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
}

// Whoever holds a lock whose file was lost writes no more; nobody gets in
// before the files are repaired, and that waits for the holder's death.
func TestLostLockFileLetsNobodyIn(t *testing.T) {
	for _, lock := range []string{"watchdog.lease", "watchdog.lock", "watchdog.fence"} {
		for how, damage := range damages {
			t.Run(lock+"/"+how, func(t *testing.T) {
				t.Parallel()
				dir := newState(t)
				Damaged(dir, "unknown")
				a := newActor(t, dir)
				epoch := a.Open()
				a.Must("commit", "applied")
				kept := readFile(t, sidecarPath(dir, "watchdog"))
				if err := damage(metaPath(dir, lock)); err != nil {
					t.Fatal(err)
				}
				_, err := openWatchdog(t, dir, nil)
				wantError(t, err, store.Lost, lock, "state repair")
				want := map[string]string{"watchdog.lease": "fenced", "watchdog.lock": "missing or replaced", "watchdog.fence": "applied"}[lock]
				if said := a.Ask("commit"); !strings.Contains(said, want) {
					t.Errorf("the holder said %q, want %s", said, want)
				}
				if now := readFile(t, sidecarPath(dir, "watchdog")); now != kept && want != "applied" {
					t.Error("the holder wrote without its lock")
				}
				if runtime.GOOS == "linux" || lock != "watchdog.lease" || how == "a second name" {
					_, err = statedir.Remake(t.Context(), dir)
					wantError(t, err, ErrBusy)
				}
				a.Kill()
				if _, err := statedir.Remake(t.Context(), dir); err != nil {
					t.Fatal(err)
				}
				w := mustOpen(t, dir)
				if update(t, w, beat); w.epoch <= epoch {
					t.Errorf("epoch %d after %d", w.epoch, epoch)
				}
			})
		}
	}
}

// What is lost for good ends a Writer for good; a second name of the lock
// file, as of a backup that links, does not.
func TestLeaseFileThatComesBack(t *testing.T) {
	dir := newState(t)
	w := mustOpen(t, dir)
	twin := metaPath(dir, "twin")
	if err := os.Link(metaPath(dir, "watchdog.lease"), twin); err != nil {
		t.Fatal(err)
	}
	_, err := w.Update(t.Context(), beat)
	wantError(t, err, ErrFenced, "2 names")
	if err := os.Remove(twin); err != nil {
		t.Fatal(err)
	}
	update(t, w, beat)
	if err := os.Rename(metaPath(dir, "watchdog.lease"), twin); err != nil {
		t.Fatal(err)
	}
	_, err = w.Update(t.Context(), beat)
	wantError(t, err, ErrFenced)
	if err := os.Rename(twin, metaPath(dir, "watchdog.lease")); err != nil {
		t.Fatal(err)
	}
	_, err = w.Update(t.Context(), beat)
	wantError(t, err, ErrFenced)
}

// A .freehold that was moved away takes its locks along: who holds them holds
// nothing any more.
func TestMovedLocksHoldNothing(t *testing.T) {
	dir := newState(t)
	Damaged(dir, "sidecar-foreign")
	w := mustOpen(t, dir)
	shared := openOwner(t, dir, "cost", nil)
	update(t, w, beat)
	if err := os.Rename(dir+"/.freehold", dir+"/elsewhere"); err != nil {
		t.Fatal(err)
	}
	if err := Create(dir, declaration()); err != nil {
		t.Fatal(err)
	}
	newActor(t, dir).Open()
	_, err := w.Update(t.Context(), beat)
	wantError(t, err, store.Lost)
	_, err = shared.Update(t.Context(), addTurns(1))
	wantError(t, err, store.Lost)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// A directory that was moved or deleted takes its lease along: another process
// may be the owner's live one where the path leads now. One that comes back has
// its holder still, unless it was deleted.
func TestLostDirectoryFencesTheHolder(t *testing.T) {
	for name, lose := range map[string]func(dir string) error{
		"moved":   func(dir string) error { return os.Rename(dir, dir+".old") },
		"deleted": os.RemoveAll,
	} {
		for _, remade := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, remade %v", name, remade), func(t *testing.T) {
				dir := newState(t)
				w := mustOpen(t, dir)
				update(t, w, beat)
				if err := lose(dir); err != nil {
					t.Fatal(err)
				}
				if remade {
					if err := Create(dir, declaration()); err != nil {
						t.Fatal(err)
					}
					newActor(t, dir).Open()
				}
				_, err := w.Update(t.Context(), beat)
				wantError(t, err, ErrFenced)
				if name == "moved" && !remade {
					wantError(t, err, store.Moved)
					if err := os.Rename(dir+".old", dir); err != nil {
						t.Fatal(err)
					}
					update(t, w, beat)
				}
			})
		}
	}
}

// takeovers tries every way to another holder that there is while one lives.
func takeovers(t *testing.T, dir string) {
	t.Helper()
	_, err := openWatchdog(t, dir, &Options{LeaseWait: 5 * time.Millisecond})
	wantError(t, err, ErrBusy, "is stopped")
	for _, repair := range []func() error{
		func() error { _, err := Quarantine(t.Context(), dir, "watchdog", nil); return err },
		func() error { _, err := Accept(t.Context(), dir, "watchdog", nil); return err },
		func() error { // the files made anew under its feet
			lease, lock := metaPath(dir, "watchdog.lease"), metaPath(dir, "watchdog.lock")
			if err := errors.Join(os.Rename(lease, lease+".x"), os.Rename(lock, lock+".x")); err != nil {
				return err
			}
			_, err := statedir.Remake(t.Context(), dir)
			return errors.Join(err, os.Rename(lease+".x", lease), os.Rename(lock+".x", lock))
		},
	} {
		wantError(t, repair(), ErrBusy)
	}
}

func version(t *testing.T, dir string) Version {
	t.Helper()
	doc, err := document.Decode([]byte(readFile(t, sidecarPath(dir, "watchdog"))))
	if err != nil {
		t.Fatal(err)
	}
	return doc.Version
}
