package document

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares got with a file under testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got); run go test -update if that is meant:\n%s", path, diff)
	}
}

var (
	testTime   = time.Date(2026, 8, 11, 9, 12, 44, 31_000_000, time.UTC)
	testWriter = Writer{"stop-hook", process.Identity{Boot: "3f0e", PIDNamespace: 4026531836, PID: 4711, Start: 88, Nonce: "n", PIDFD: 9}}
)

func testVersion(revision uint64) Version {
	return Version{Epoch: 1786439564031000, Revision: revision, Nonce: nonceOf(revision)}
}

// nonceOf returns the nonce of a test's commit.
func nonceOf(n uint64) string {
	digits := []byte("0000000000000")
	for i := len(digits) - 1; n > 0; i-- {
		digits[i] = "0123456789abcdefghijklmnopqrstuv"[n%32]
		n /= 32
	}
	return string(digits)
}

func by(v Version) Provenance { return Provenance{v, testTime, "stop-hook", 4711} }

// sample returns the document of owner cost after some commits of two fields.
func sample(commits int) *Document {
	d := New("cost", "5s0h000000000")
	for i := range commits {
		v := testVersion(uint64(i + 1))
		d.Commit(v, testTime, testWriter)
		d.Set("turns", []byte("12"), by(v))
		d.Set("note", []byte(`"é \\ \" \u2028"`), by(v))
	}
	d.Clear("cleared", by(d.Version))
	return d
}

func encode(t *testing.T, d *Document) string {
	t.Helper()
	text, err := d.Encode()
	if err != nil {
		t.Fatalf("Encode: %v", err)
	}
	return string(text)
}

// resealed returns text with the sum that its bytes have.
func resealed(t *testing.T, text string) string {
	t.Helper()
	bytes := []byte(text)
	_, sum, err := decode(bytes)
	if err != nil {
		t.Fatalf("the test's text is not a sidecar: %v\n%s", err, text)
	}
	seal(bytes, sum)
	return string(bytes)
}

// edited returns a sealed sample in which one text, which must be there, is
// replaced.
func edited(t *testing.T, old, new string) string {
	t.Helper()
	text := encode(t, sample(2))
	if !strings.Contains(text, old) {
		t.Fatalf("the sample has no %q", old)
	}
	return resealed(t, strings.Replace(text, old, new, 1))
}

// noticed reports whether err is that of a damaged file.
func noticed(err error) bool {
	return errors.Is(err, status.Invalid) || errors.Is(err, status.Newer) || errors.Is(err, status.Foreign)
}
