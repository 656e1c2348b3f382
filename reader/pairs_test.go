package reader_test

import (
	"fmt"
	"os"
	"testing"
	"time"
)

// A statCache is the cache that people write: it takes a file for unchanged by
// its inode, its size and its modification time.
type statCache struct {
	info os.FileInfo
	text []byte
}

func (c *statCache) read(t *testing.T, path string) []byte {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if c.info == nil || !os.SameFile(c.info, info) || c.info.Size() != info.Size() || !c.info.ModTime().Equal(info.ModTime()) {
		if c.text, err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
		c.info = info
	}
	return c.text
}

// Cases 78, 79, 82: between two looks a sidecar is replaced twice by one of
// equal size, the second of which has the inode number of the first look again
// and its time set back. File systems do that by themselves now and then; here
// it happens every time, for the old file is kept and renamed back. The cache
// that goes by all that misses every change, and a Reader and its watch none.
func TestPairsOfReplacementsAreNeverMissed(t *testing.T) {
	s := newState(t, declaration())
	s.commit("cost", "turns", "100000")
	path := s.path("cost")
	stamp := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Chtimes(path, stamp, stamp))
	r, w := s.open(), pull(t, s.open().Watch(t.Context()))
	view(t, r)
	w.turns()
	var stat statCache
	stat.read(t, path)
	const pairs = 200
	missed := 0
	for n := uint64(100001); n <= 100000+pairs; n++ {
		delete(s.docs, "cost") // the list of recent commits would make it longer
		text := s.text("cost", "turns", fmt.Sprint(n))
		old := path + ".old"
		must(os.Link(path, old))
		s.put("cost", text)
		must(os.WriteFile(old, text, 0o600))
		must(os.Chtimes(old, stamp, stamp))
		must(os.Rename(old, path))
		if string(stat.read(t, path)) != string(text) {
			missed++
		}
		if got := turns(t, view(t, r)); got != n {
			t.Fatalf("read %d, want %d", got, n)
		}
		if n%10 == 0 { // a watch yields what comes together once
			if got := w.turns(); got != n {
				t.Fatalf("the watch shows %d, want %d", got, n)
			}
		}
	}
	if missed != pairs {
		t.Errorf("the cache that goes by inode, size and time missed %d of %d changes: the test shows nothing", missed, pairs)
	}
}
