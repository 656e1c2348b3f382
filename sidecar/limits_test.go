package sidecar

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/sidecar/internal/lease"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
)

// The record of a lease is read by whoever wants to retire its holder, and
// anybody may have written it.
func TestNothingIsBuiltOfABombInTheRecord(t *testing.T) {
	dir := newState(t)
	Damaged(dir, "lease-record")
	d, err := statedir.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	path := filepath.Join(dir, ".freehold", statedir.OwnerRecord("watchdog"))
	for name, tc := range map[string]struct{ open, unit string }{
		"retirements": {`{"retired":[`, "{},"},
		"objects":     {`{"x":[`, "{},"},
		"keys":        {`{"x":{`, `"` + strings.Repeat("k", 20) + `":0,`},
		"arrays":      {`{"x":`, "["},
		"nested":      {`{"x":`, `{"a":`},
		"a text":      {`{"x":"`, "x"},
		"escapes":     {`{"program":"`, `\u0041`},
	} {
		text := tc.open + strings.Repeat(tc.unit, (lease.MaxSize-len(tc.open))/len(tc.unit))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := lease.Read(d, "watchdog", "")
		runtime.ReadMemStats(&after)
		wantError(t, err, ErrLeaseRecord, path)
		if got := after.TotalAlloc - before.TotalAlloc; got > 4*lease.MaxSize {
			t.Errorf("%s: it asked for %d bytes to say %v, want at most %d", name, got, err, 4*lease.MaxSize)
		}
	}
}
