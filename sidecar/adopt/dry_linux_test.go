package adopt

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/google/go-cmp/cmp"
)

// A dry run beside a live process ends as a real run, and reports the imports of
// every owner.
func TestADryRunNamesAHeldLock(t *testing.T) {
	dir, p := newState(t, flat()), planned(t, flat(), flatFile)
	w, err := sidecar.Open(t.Context(), dir, nil, "watchdog", &sidecar.Options{Program: "watcher"})
	if err != nil {
		t.Fatal(err)
	}
	before := files(t, dir)
	dry, err := p.Apply(t.Context(), dir, &Options{DryRun: true, Wait: time.Millisecond})
	wantError(t, err, store.Busy, "owner watchdog: would be refused: ")
	said.Same(t, "a dry run beside a living process", err, dir, "STATE", "process "+strconv.Itoa(os.Getpid()), "process PID")
	if diff := cmp.Diff(before, files(t, dir)); diff != "" {
		t.Errorf("the dry run changed (-before +after):\n%s", diff)
	}
	wet, err := p.Apply(t.Context(), dir, &Options{Wait: -1})
	wantError(t, err, store.Busy, "owner watchdog", "watcher")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(append(imported(wet), "/ticks", "/watchdog_reason"), imported(dry)); diff != "" {
		t.Errorf("imported, and what watchdog would import (-want +dry):\n%s", diff)
	}
	// Values that the state has already need no lock.
	if dry, err = p.Apply(t.Context(), dir, &Options{DryRun: true}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/ticks", "/watchdog_reason"}, imported(dry)); diff != "" {
		t.Errorf("what is left to import (-want +got):\n%s", diff)
	}
}
