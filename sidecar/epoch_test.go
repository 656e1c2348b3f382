package sidecar

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// onAnotherBoot makes this process one of another boot until the test ends.
func onAnotherBoot(t *testing.T) {
	id := process.Self()
	id.Boot = "00000000-0000-4000-8000-" + process.NewNonce()[:12]
	self = func() process.Identity { return id }
	t.Cleanup(func() { self = process.Self })
}

// backThen is a clock of long ago, so that nothing but what is visible keeps
// the epochs going up.
func backThen() time.Time { return time.Unix(1, 0) }

func remove(t *testing.T, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
}

// Every lease begins an epoch that is larger than all that is visible, whatever
// of it is left, and whatever the clock says (C-100).
func TestLeaseBeginsALargerEpoch(t *testing.T) {
	for name, lose := range map[string]func(t *testing.T, dir string){
		"nothing lost":    func(t *testing.T, dir string) {},
		"the record lost": func(t *testing.T, dir string) { remove(t, recordPath(dir)) },
		"the sidecar lost": func(t *testing.T, dir string) {
			remove(t, sidecarPath(dir, "watchdog"))
			unwitness(t, dir)
		},
		"the record and the witness lost": func(t *testing.T, dir string) { // the sidecar alone shows the epoch
			remove(t, recordPath(dir))
			unwitness(t, dir)
		},
		"the record and the sidecar lost": func(t *testing.T, dir string) { // the witness alone shows the epoch
			remove(t, recordPath(dir), sidecarPath(dir, "watchdog"))
		},
		"the record garbled":  func(t *testing.T, dir string) { spoil(t, dir, "of a newer form") },
		"the record of old":   func(t *testing.T, dir string) { spoil(t, dir, "an earlier epoch") },
		"the sidecar foreign": func(t *testing.T, dir string) { appendTo(t, sidecarPath(dir, "watchdog"), " ") },
		"sidecar foreign, record and witness lost": func(t *testing.T, dir string) {
			appendTo(t, sidecarPath(dir, "watchdog"), " ")
			remove(t, recordPath(dir))
			unwitness(t, dir)
		},
		"all lost but the quarantine": func(t *testing.T, dir string) {
			if _, err := Quarantine(t.Context(), dir, "watchdog", &Options{Clock: backThen}); err != nil {
				t.Fatal(err)
			}
			remove(t, recordPath(dir), sidecarPath(dir, "watchdog"))
			unwitness(t, dir)
		},
		"the lock files remade": func(t *testing.T, dir string) {
			remove(t, metaPath(dir, "watchdog.lease"), metaPath(dir, "watchdog.lock"), metaPath(dir, "watchdog.fence"))
			if _, err := statedir.Remake(t.Context(), dir); err != nil {
				t.Fatal(err)
			}
		},
		"another boot": func(t *testing.T, dir string) { onAnotherBoot(t) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := newState(t)
			var last uint64
			for i := range 5 {
				w, err := Open(t.Context(), dir, nil, "watchdog", &Options{Clock: backThen})
				if err != nil {
					t.Fatal(err)
				}
				if w.epoch <= last {
					t.Errorf("epoch %d after %d", w.epoch, last)
				}
				last = w.epoch
				c, err := w.Update(t.Context(), beat)
				if errors.Is(err, store.Foreign) || errors.Is(err, store.Regressed) { // that keeps the owner from writing, not from its lease
					remove(t, sidecarPath(dir, "watchdog"))
					unwitness(t, dir)
				} else if err != nil || c.Version.Epoch != w.epoch || c.Version.Revision != 1 {
					t.Errorf("version %v in epoch %d (%v)", c.Version, w.epoch, err)
				}
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
				if i == 2 {
					lose(t, dir)
				}
			}
		})
	}
}

func read(path string) string {
	text, _ := os.ReadFile(path)
	return string(text)
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(readFile(t, path)+text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Where everything was lost at once, the clock keeps the epochs going up, and
// the state is another one besides (C-100).
func TestRemadeStateBeginsAnew(t *testing.T) {
	dir := newState(t)
	w, err := Open(t.Context(), dir, nil, "watchdog", nil)
	if err != nil {
		t.Fatal(err)
	}
	before, id := update(t, w, beat).Version, record(t, dir).State
	w.Close()
	remove(t, dir)
	if err := Create(dir, declaration()); err != nil {
		t.Fatal(err)
	}
	w = mustOpen(t, dir)
	if after := update(t, w, beat).Version; after.Epoch <= before.Epoch || record(t, dir).State == id {
		t.Errorf("version %v after %v, in state %s after %s", after, before, record(t, dir).State, id)
	}
}

// A forged epoch in the record of a lease keeps no process from writing.
func TestForgedEpochStopsNobody(t *testing.T) {
	for _, forged := range []uint64{document.MaxEpoch / 2, document.MaxEpoch, document.MaxEpoch + 1} {
		t.Run(fmt.Sprint(forged), func(t *testing.T) {
			dir := newState(t)
			w, err := Open(t.Context(), dir, nil, "watchdog", nil)
			if err != nil {
				t.Fatal(err)
			}
			last := update(t, w, beat).Version
			w.Close()
			l := record(t, dir)
			l.Epoch = forged
			writeRecord(t, dir, l)
			for i := range 6 {
				w := mustOpen(t, dir)
				if i%2 == 0 { // else it ends without a commit
					v := update(t, w, beat).Version
					if behind(v, last) {
						t.Errorf("version %v after %v", v, last)
					}
					last = v
				}
				if l := record(t, dir); l.Epoch != w.epoch || !holds(l, w.epoch) {
					t.Errorf("in epoch %d the record is %+v", w.epoch, l)
				}
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// A clock that runs wild does not use the epochs up.
func TestWildClockLeavesEpochs(t *testing.T) {
	dir := newState(t)
	var last uint64
	for range 3 {
		w, err := Open(t.Context(), dir, nil, "watchdog", &Options{Clock: func() time.Time { return time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC) }})
		if err != nil {
			t.Fatal(err)
		}
		if v := update(t, w, beat).Version; v.Epoch <= last || v.Epoch > document.MaxEpoch {
			t.Errorf("epoch %d after %d", v.Epoch, last)
		}
		last = w.epoch
		w.Close()
	}
}

// A shared owner begins an epoch larger than all that is visible, too, if its
// sidecar is gone or its revisions have come to an end.
func TestASharedOwnerBeginsALargerEpoch(t *testing.T) {
	for name, lose := range map[string]func(t *testing.T, dir string){
		"all is lost but this Writer's memory": func(t *testing.T, dir string) { remove(t, sidecarPath(dir, "cost")) },
		"the last revision": func(t *testing.T, dir string) {
			rewrite(t, dir, "cost", func(doc *document.Document) { doc.Version.Revision = document.MaxRevision })
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := newState(t)
			w := openOwner(t, dir, "cost", &Options{Clock: backThen})
			last := update(t, w, addTurns(1)).Version
			lose(t, dir)
			unwitness(t, dir)
			if v := update(t, w, addTurns(1)).Version; v.Epoch <= last.Epoch || v.Revision != 1 {
				t.Errorf("version %v after %v", v, last)
			}
		})
	}
	dir := newState(t)
	last := update(t, openOwner(t, dir, "cost", nil), addTurns(1)).Version // by a clock of today
	if _, err := Quarantine(t.Context(), dir, "cost", &Options{Clock: backThen}); err != nil {
		t.Fatal(err)
	}
	remove(t, sidecarPath(dir, "cost"))
	unwitness(t, dir)
	if v := update(t, openOwner(t, dir, "cost", &Options{Clock: backThen}), addTurns(1)).Version; v.Epoch <= last.Epoch {
		t.Errorf("version %v after %v, which is in the quarantine", v, last)
	}
}

// The same after a version that the Writer has read only, written by another.
func TestOlderCopyThanWasReadIsNotContinuedUnderTheSameNumbers(t *testing.T) {
	dir := newState(t)
	w, other := openOwner(t, dir, "cost", &Options{Clock: backThen}), openOwner(t, dir, "cost", &Options{Clock: backThen})
	update(t, other, addTurns(1))
	old := readFile(t, sidecarPath(dir, "cost"))
	last := update(t, other, addTurns(1)).Version
	if c := update(t, w, addTurns(0)); c.Outcome != Unchanged || c.Version != last {
		t.Fatalf("read %+v after version %v", c, last)
	}
	if err := os.WriteFile(sidecarPath(dir, "cost"), []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	unwitness(t, dir)
	if v := update(t, w, addTurns(1)).Version; v.Epoch <= last.Epoch {
		t.Errorf("version %v on top of an older copy, after %v", v, last)
	}
}

func TestOlderCopyIsNotContinuedUnderTheSameNumbers(t *testing.T) {
	for _, owner := range []string{"cost", "watchdog"} {
		t.Run(owner, func(t *testing.T) {
			dir := newState(t)
			w := openOwner(t, dir, owner, &Options{Clock: backThen})
			fn := map[string]func(*Tx) error{"cost": addTurns(1), "watchdog": beat}[owner]
			update(t, w, fn)
			old := readFile(t, sidecarPath(dir, owner))
			update(t, w, fn)
			last := update(t, w, fn).Version
			if err := os.WriteFile(sidecarPath(dir, owner), []byte(old), 0o600); err != nil {
				t.Fatal(err)
			}
			unwitness(t, dir)
			v := update(t, w, fn).Version
			if behind(v, last) || v.Epoch == last.Epoch && v.Revision == last.Revision {
				t.Errorf("version %v on top of an older copy, after %v", v, last)
			}
		})
	}
}

// The law of versions, against everything at once: those of an exclusive owner
// never come twice and only go up, as long as either its sidecar or its record
// survives; those of a shared owner never come twice.
func TestNoVersionIsIssuedTwice(t *testing.T) {
	seed := time.Now().UnixNano()
	if text := os.Getenv("FREEHOLD_SEED"); text != "" {
		fmt.Sscan(text, &seed)
	}
	t.Logf("FREEHOLD_SEED=%d", seed)
	for run := range rounds(6, 300) {
		random := rand.New(rand.NewPCG(uint64(seed), uint64(run)))
		for _, owner := range []string{"watchdog", "cost"} {
			dir := filepath.Join(t.TempDir(), "state")
			if err := Create(dir, declaration()); err != nil {
				t.Fatal(err)
			}
			h := &history{t: t, dir: dir, owner: owner, random: random, seen: map[Version]bool{}, clock: time.Unix(1e9, 0)}
			for range 40 {
				h.step()
			}
			h.close()
		}
	}
}

// A history is what became of one owner.
type history struct {
	t      *testing.T
	dir    string
	owner  string
	random *rand.Rand
	w      *Writer
	clock  time.Time
	seen   map[Version]bool
	top    Version
	copies []string
}

func (h *history) close() {
	if h.w != nil {
		h.w.Close()
		h.w = nil
	}
	self = process.Self
}

func (h *history) step() {
	t, file := h.t, sidecarPath(h.dir, h.owner)
	switch n := h.random.IntN(12); n {
	case 0:
		h.close()
	case 1:
		h.close()
		id := process.Self()
		id.Boot = fmt.Sprint("boot ", h.random.Uint32())
		self = func() process.Identity { return id }
	case 2:
		h.clock = time.Unix(h.random.Int64N(2e9), 0)
	case 3:
		os.Remove(file)
		h.forget()
	case 4:
		if n := len(h.copies); n > 0 {
			if err := os.WriteFile(file, []byte(h.copies[h.random.IntN(n)]), 0o600); err != nil {
				t.Fatal(err)
			}
			h.forget()
		}
	case 5:
		if h.owner == "watchdog" && read(file) != "" && h.top.Epoch == h.fileEpoch() {
			os.Remove(recordPath(h.dir))
			h.commit() // before the sidecar is lost too
		}
	case 6:
		h.close()
		if _, err := Quarantine(t.Context(), h.dir, h.owner, h.options()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	case 7:
		if text := read(file); text != "" {
			os.WriteFile(file, []byte(text+" "), 0o600)
			h.close()
			c, err := Accept(t.Context(), h.dir, h.owner, h.options())
			if err != nil {
				t.Fatal(err)
			}
			h.issued(c.Version)
		}
	default:
		h.commit()
	}
}

func (h *history) fileEpoch() uint64 { return foreignEpoch([]byte(read(sidecarPath(h.dir, h.owner)))) }

func (h *history) options() *Options {
	return &Options{Clock: func() time.Time { return h.clock }}
}

func (h *history) commit() {
	var err error
	if h.w == nil {
		if h.w, err = Open(h.t.Context(), h.dir, nil, h.owner, h.options()); err != nil {
			h.t.Fatal(err)
		}
	}
	fn := addTurns(1)
	if h.owner == "watchdog" {
		fn = beat
	}
	c, err := h.w.Update(h.t.Context(), fn)
	if errors.Is(err, store.Regressed) {
		h.close()
		a, refused := Accept(h.t.Context(), h.dir, h.owner, h.options())
		c, err = a.Commit, refused
	}
	if err != nil {
		h.t.Fatal(err)
	}
	h.issued(c.Version)
	h.copies = append(h.copies, read(sidecarPath(h.dir, h.owner)))
}

// forget takes the versions out of the lock files now and then, as power loss
// may.
func (h *history) forget() {
	if h.random.IntN(2) == 0 {
		unwitness(h.t, h.dir)
	}
}

// issued holds the law for a version that was just issued.
func (h *history) issued(v Version) {
	number := Version{Epoch: v.Epoch, Revision: v.Revision}
	if h.seen[v] || h.owner == "watchdog" && (h.seen[number] || behind(v, h.top)) {
		h.t.Fatalf("%s: version %v was issued after %v", h.owner, v, h.top)
	}
	h.seen[v], h.seen[number] = true, true
	h.top = v
}
