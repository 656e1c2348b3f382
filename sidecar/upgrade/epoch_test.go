package upgrade

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/google/go-cmp/cmp"
)

// Near the last epoch an upgrade goes on above what is there, and after it
// says what to do.
func TestErrorsSayWhatToDoAfterTheLastEpoch(t *testing.T) {
	for epoch, ok := range map[uint64]bool{document.MaxEpoch - 1: true, document.MaxEpoch: false} {
		dir := newState(t)
		doc := stored(t, dir, "cost")
		doc.Commit(document.Version{Epoch: epoch, Revision: 1, Nonce: "000000000000v"}, time.Unix(0, 1), doc.Writer)
		raw, err := doc.Encode()
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "cost.json"), raw, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		before := sidecars(t, dir)
		_, err = Run(t.Context(), dir, younger(), nil)
		if !ok {
			said.Same(t, "no epoch is left", err, dir, "STATE")
			if diff := cmp.Diff(before, sidecars(t, dir)); diff != "" {
				t.Errorf("changed (-before +after):\n%s", diff)
			}
			if _, err := sidecar.Quarantine(t.Context(), dir, "cost", nil); err != nil {
				t.Fatal(err)
			}
			upgraded(t, dir, younger())
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if v := stored(t, dir, "cost").Version; v.Epoch != document.MaxEpoch {
			t.Errorf("the new sidecar is at version %v", v)
		}
	}
}

// An epoch that was begun and in which nothing was written is over, too.
func TestUpgradeGoesOnAboveALease(t *testing.T) {
	dir := newState(t)
	ahead := func() time.Time { return time.Now().Add(time.Hour) }
	w, err := sidecar.Open(t.Context(), dir, older(), "watchdog", &sidecar.Options{Clock: ahead})
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	status, err := sidecar.LeaseStatus(dir, "watchdog")
	if err != nil || status.Lease == nil {
		t.Fatalf("%+v (%v)", status, err)
	}
	upgraded(t, dir, younger())
	if v := stored(t, dir, "cost").Version; v.Epoch <= status.Lease.Epoch {
		t.Errorf("the new sidecar is at version %v, and an epoch %d was begun before", v, status.Lease.Epoch)
	}
}
