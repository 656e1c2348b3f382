package sidecar

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestLawsCanFail takes a line out of the product, and wants the test of the law
// that the line holds to fail.
func TestLawsCanFail(t *testing.T) {
	if os.Getenv("FREEHOLD_MUTANTS") == "" {
		t.Skip("set FREEHOLD_MUTANTS=1 to build mutants")
	}
	for law, m := range map[string]struct{ file, old, new string }{
		"TestUpdatesThatOverlapLoseNothing":                         {"hold.go", "err := h.lock.Acquire(ctx, wait)", "err := error(nil)"},
		"TestResolveLooksForThePatchTwice":                          {"resolve.go", "if there, err = f.hasPending(v.Nonce); err != nil || there {", "if there {"},
		"TestLeftOverPatchIsFoldedOnce":                             {"fold.go", "doc.SetFolded(f.listed, f.fresh)", ""},
		"TestTheFenceIsSharedUntilTheEpochIsRecorded":               {"hold.go", "defer t.fence.Release()", "t.fence.Release()"},
		"TestClaimOfAnExclusiveOwnerWaitsForItsLock":                {"once.go", "if w.lease == nil {", "if true {"},
		"TestClaimOfAPassedEpochIsFenced":                           {"once.go", "if err := w.holds(); err != nil {", "if err := error(nil); err != nil {"},
		"TestCloseLeavesTheRecordOfALaterLease":                     {"hold.go", "if record.Supersedes(h.epoch, h.holder) {", "if false {"},
		"TestAProgramLeftBehindByAnUpgradeClaimsNothing":            {"once.go", "if err := c.still(); err != nil {", "if err := error(nil); err != nil {"},
		"TestClaimWhereNobodyLooksIsNotWon":                         {"once.go", "if err := c.dir.Unmoved(); err != nil {", "if err := error(nil); err != nil {"},
		"TestAClaimIsGoneOnlyIfTwoReadingsAgree":                    {"once.go", "if o.Status == store.Regressed {", "if false {"},
		"TestAWriterSyncsTheFilesOfAFoldOnce":                       {"fold.go", "w.cleared = f.next", ""},
		"TestCloseOfALostLeaseChangesNothing":                       {"hold.go", " || h.lease.Kept() != nil", ""},
		"TestCloseChangesTheRecordUnderTheOwnersLock":               {"hold.go", "if err := h.lock.Acquire(ctx, h.wait); err != nil {", "if err := error(nil); err != nil {"},
		"TestALeaseWhereNobodyLooksIsNotTaken":                      {"hold.go", "if err := h.dir.Unmoved(); err != nil {", "if err := error(nil); err != nil {"},
		"TestLeaseBeginsALargerEpoch":                               {"hold.go", "h.visibleEpoch(), h.observedEpoch())...)", "h.observedEpoch())...)"},
		"TestOlderCopyThanWasReadIsNotContinuedUnderTheSameNumbers": {"batch.go", "w.see(base.Version)", ""},
	} {
		t.Run(law, func(t *testing.T) {
			path, err := filepath.Abs(m.file)
			if err != nil {
				t.Fatal(err)
			}
			source := readFile(t, path)
			if strings.Count(source, m.old) != 1 {
				t.Fatalf("%s has the line %q %d times, want once", m.file, m.old, strings.Count(source, m.old))
			}
			folder := t.TempDir()
			mutant, overlay := filepath.Join(folder, "mutant.go"), filepath.Join(folder, "overlay.json")
			text, err := json.Marshal(map[string]map[string]string{"Replace": {path: mutant}})
			if err := errors.Join(err, os.WriteFile(mutant, []byte(strings.Replace(source, m.old, m.new, 1)), 0o600), os.WriteFile(overlay, text, 0o600)); err != nil {
				t.Fatal(err)
			}
			out, _ := exec.Command("go", "test", "-vet=off", "-count=1", "-overlay", overlay, "-run", "^"+law+"$", "-v", ".").CombinedOutput()
			if !strings.Contains(string(out), "--- FAIL: "+law) {
				t.Errorf("the mutant holds the law, or does not build:\n%s", out)
			}
		})
	}
}
