package sidecar

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/google/go-cmp/cmp"
)

// A program that was open before its owner began to defer, by a newer build,
// folds the pending patches of others all the same.
func TestWriterFromBeforeAnOwnerSetsPendingFolds(t *testing.T) {
	dir := t.TempDir() + "/state"
	before := setters()
	tool := before.Owners["tool"]
	tool.Busy.Then = ""
	before.Owners["tool"] = tool
	if err := Create(dir, before); err != nil {
		t.Fatal(err)
	}
	old, err := Open(t.Context(), dir, before, "tool", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	update(t, old, ops(op("n", schema.VerbAdd, "1")))
	deferUpdate(t, openSetter(t, dir, "tool", nil), op("n", schema.VerbAdd, "10"))
	if c := update(t, old, ops(op("n", schema.VerbAdd, "100"))); c.Folded != 1 {
		t.Errorf("the commit is %+v", c)
	}
	if diff := cmp.Diff(map[string]string{"n": "111"}, values(t, old, "n")); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	locked(t, old, func() { // it defers nothing itself
		_, err := old.Update(t.Context(), ops(op("n", schema.VerbAdd, "1")))
		wantError(t, err, ErrBusy)
	})
}

// The version of a pending patch is no version of a sidecar: nobody
// who saw it has seen a later copy of the sidecar than the one that is there.
func TestNoSidecarIsBehindAPatch(t *testing.T) {
	patch := Version{Nonce: "0123456789abc"}
	if document.New("tool", "state").Behind(patch) {
		t.Error("a sidecar that nobody wrote is")
	}
	dir, w := newSetters(t)
	update(t, w, ops(op("n", schema.VerbAdd, "1")))
	if w.last.Behind(patch) {
		t.Error("one that was written is")
	}
	if _, err := Resolve(t.Context(), dir, "tool", patch); err == nil {
		t.Error("an unknown patch was resolved")
	}
}

// Accept folds what another hand has edited, and neither loses nor doubles
// pending patches: not even a patch that is in the sidecar already and whose
// file is still there.
func TestAcceptKeepsWhatIsSetPending(t *testing.T) {
	dir, w := newSetters(t)
	update(t, w, ops(op("n", schema.VerbAdd, "1")))
	deferUpdate(t, w, op("n", schema.VerbAdd, "10"))
	leaveOver(t, w)
	deferUpdate(t, w, op("n", schema.VerbAdd, "100"))
	text := readFile(t, sidecarPath(dir, "tool"))
	edited := strings.Replace(text, `"n":11`, `"n":21`, 1)
	if edited == text {
		t.Fatalf("the sidecar is %s", text)
	}
	if err := os.WriteFile(sidecarPath(dir, "tool"), []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := w.Update(t.Context(), ops(op("n", schema.VerbAdd, "1")))
	wantError(t, err, store.Foreign)
	if len(pendingNames(t, w)) != 2 {
		t.Fatalf("deferred: %v", pendingNames(t, w))
	}
	if c, err := Accept(t.Context(), dir, "tool", nil); err != nil || c.Outcome != Applied {
		t.Fatalf("%+v (%v)", c, err)
	}
	if diff := cmp.Diff(map[string]string{"n": "121"}, values(t, w, "n")); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	nonePending(t, w)
}

// A patch that was rejected stays out, also if its file came back and by now it
// would fit: somebody was told to add by hand what is to count.
func TestPatchThatWasRejectedStaysOut(t *testing.T) {
	_, w := newSetters(t)
	update(t, w, ops(op("small", schema.VerbAdd, "9223372036854775807")))
	id := deferUpdate(t, w, op("n", schema.VerbAdd, "1"), op("small", schema.VerbAdd, "1"))
	file := filepath.Join(w.dir.Path(), ".freehold", "tool.pending", pendingNames(t, w)[0])
	text := readFile(t, file)
	update(t, w, ops(op("small", schema.VerbAdd, "-5"))) // after it was rejected
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	update(t, w, ops())
	if diff := cmp.Diff(map[string]string{"small": "9223372036854775802"}, values(t, w, "n", "small")); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	nonePending(t, w)
	got, err := Resolve(t.Context(), w.dir.Path(), "tool", id)
	if wantError(t, err, store.Rejected); got != NotApplied {
		t.Errorf("resolved as %v", got)
	}
}

// A patch that is to be rejected, where nothing can be kept, stays pending.
func TestPatchThatCannotBeKeptStays(t *testing.T) {
	dir, w := newSetters(t)
	update(t, w, ops(op("small", schema.VerbAdd, "9223372036854775807")))
	quarantine := filepath.Join(dir, ".freehold", "quarantine")
	if err := os.WriteFile(quarantine, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	deferUpdate(t, w, op("n", schema.VerbAdd, "1"), op("small", schema.VerbAdd, "1"))
	for range 2 {
		if c := update(t, w, ops(op("n", schema.VerbAdd, "10"))); c.Folded != 0 || len(pendingNames(t, w)) != 1 {
			t.Errorf("the commit is %+v", c)
		}
	}
	if err := os.Remove(quarantine); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"n": "20"}, values(t, w, "n")); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	nonePending(t, w)
}

// An Open that has to bring the manifest up waits for another that does no
// longer than its owner's commits would.
func TestOpenWaitsForTheManifestNoLonger(t *testing.T) {
	dir, w := newSetters(t)
	name := "state.lock"
	lock, err := w.dir.OpenLock(w.manifest, name)
	if err == nil {
		defer lock.Close()
		err = lock.Acquire(t.Context(), time.Minute)
	}
	if err != nil {
		t.Fatal(err)
	}
	more := setters()
	more.Owners["another"] = more.Owners["light"]
	delete(more.Owners, "light")
	more.Owners["another"].Fields["tocks"] = more.Owners["another"].Fields["ticks"]
	delete(more.Owners["another"].Fields, "ticks")
	within(t, 4*time.Second, func() {
		_, err = Open(t.Context(), dir, more, "tool", &Options{Wait: 20 * time.Millisecond})
		wantError(t, err, ErrBusy, "state.lock")
	})
	openSetter(t, dir, "tool", nil) // what brings nothing new waits for nobody
}

// within holds that fn takes no longer than most, once it is lucky: the machine
// may be slow.
func within(t *testing.T, most time.Duration, fn func()) {
	t.Helper()
	var took time.Duration
	for range 10 {
		start := time.Now()
		fn()
		if took = time.Since(start); took <= most {
			return
		}
	}
	t.Errorf("it took %v, want at most %v", took, most)
}

// What an exclusive owner's Claim waits for this program's other calls counts as
// waiting.
func TestClaimInLineWaitsNoLonger(t *testing.T) {
	dir := newLatches(t)
	var took, wait time.Duration
	for wait = 300 * time.Millisecond; wait < 20*time.Second; wait *= 2 { // the machine may be slow
		if took = lateClaim(t, dir, wait); took <= wait+wait/2 {
			return
		}
	}
	t.Errorf("it took %v, want at most %v", took, wait/2+wait/4)
}

// lateClaim returns how long a Claim takes that is in line behind an Update,
// while another process has the lock.
func lateClaim(t *testing.T, dir string, wait time.Duration) time.Duration {
	t.Helper()
	w, err := Open(t.Context(), dir, nil, "boss", &Options{Wait: wait})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	other, err := w.openLock(statedir.OwnerLock("boss"))
	if err == nil {
		defer other.Close()
		err = other.Acquire(t.Context(), time.Minute)
	}
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	leads := make(chan error)
	go func() {
		_, err := w.Update(t.Context(), ops(op("beats", schema.VerbAdd, "1")))
		leads <- err
	}()
	for led := false; !led; time.Sleep(time.Millisecond) {
		w.queue.mu.Lock()
		led = w.queue.led
		w.queue.mu.Unlock()
	}
	_, _, err = w.Claim(t.Context(), "begun")
	wantError(t, err, ErrBusy)
	wantError(t, <-leads, ErrBusy)
	return time.Since(start)
}
