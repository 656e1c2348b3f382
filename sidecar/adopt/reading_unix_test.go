package adopt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/freehold-dev/freehold/sidecar/store"
)

// Case 90: only a file that is not there is nothing to do.
func TestOnlyAMissingFileIsAbsent(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(os.WriteFile(in("file"), []byte("{}"), 0o600))
	check(os.Mkdir(in("dir"), 0o700))
	check(syscall.Mkfifo(in("pipe"), 0o600))
	check(os.Symlink("file", in("link")))
	check(os.Symlink("nowhere", in("dangling")))
	check(os.Symlink("nowhere", in("gone")))
	check(os.Symlink("loop", in("loop")))
	check(os.WriteFile(in("empty"), nil, 0o600))
	check(os.WriteFile(in("torn"), []byte(`{"a":`), 0o600))
	sparse, err := os.Create(in("sparse"))
	check(err)
	check(sparse.Truncate(1 << 40))
	check(sparse.Close())
	for _, tc := range []struct {
		name string
		want error // nil: it is read
		says string
	}{
		{"file", nil, ""}, {"link", nil, ""},
		{"absent", store.Missing, "nothing to do"}, {"no/such/folder", store.Missing, "nothing to do"},
		{"dir", store.Unreadable, "not a regular file but a directory"},
		{"pipe", store.Unreadable, "not a regular file but a named pipe"},
		{"/dev/zero", store.Unreadable, "not a regular file but a device"},
		{"dangling", store.Unreadable, "leads nowhere"}, {"gone/runtime.json", store.Unreadable, "leads nowhere"},
		{"loop", store.Unreadable, "too many levels"}, {"file/runtime.json", store.Unreadable, "not a directory"},
		{"sparse", store.Unreadable, "more than the 16777216 allowed"},
		{strings.Repeat("x", 300), store.Unreadable, "name too long"},
		{"empty", store.Invalid, "the file is empty"}, {"torn", store.Invalid, "ends too early"},
	} {
		t.Run(fmt.Sprintf("%.20s", tc.name), instantly(func(t *testing.T) {
			path := tc.name
			if !filepath.IsAbs(path) {
				path = in(path)
			}
			l, err := Read(t.Context(), path)
			if tc.want == nil {
				if err != nil || l.Path != path || l.name() != filepath.Base(path) {
					t.Errorf("got %+v (%v)", l, err)
				}
				return
			}
			wantError(t, err, tc.want, path, tc.says)
			if l != nil {
				t.Errorf("it was read: %+v", l)
			}
		}))
	}
}

// instantly makes a test with a clock of its own, on which nothing but waiting
// takes time. For it every file is from the future, and counts as just written.
func instantly(f func(t *testing.T)) func(t *testing.T) {
	return func(t *testing.T) { synctest.Test(t, f) }
}

// A file that was written long ago is believed at once.
func TestAQuietFileCostsNoTime(t *testing.T) {
	instantly(func(t *testing.T) {
		path := legacyFile(t, "{}")
		old := time.Now().Add(-stillWhole)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if _, err := Read(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took > 0 {
			t.Errorf("it took %v", took)
		}
	})(t)
}

// writing keeps writing a file until the test ends.
func writing(t *testing.T, write func(round int) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		for round := 0; ctx.Err() == nil; round++ {
			if err := write(round); err != nil {
				t.Error(err)
				return
			}
		}
	})
	t.Cleanup(func() { cancel(); wg.Wait() })
}

// Case 136: a file that is rewritten in place is read whole or not at all, never
// empty and never as a mixture.
func TestAFileRewrittenInPlaceIsNeverRead(t *testing.T) {
	path := legacyFile(t, "{}")
	big := func(round int) string {
		return fmt.Sprintf(`{"round": %d, "text": "%s", "again": %d}`, round, strings.Repeat("x", 200<<10), round)
	}
	writing(t, func(round int) error { return os.WriteFile(path, []byte(big(round%10)), 0o600) })
	for range 3 {
		l, err := Read(t.Context(), path)
		if err == nil && string(l.object[0].Value) != string(l.object[2].Value) {
			t.Errorf("a mixture of %s and %s", l.object[0].Value, l.object[2].Value)
		}
		if err != nil {
			wantError(t, err, store.Busy, "keeps changing")
			said.Same(t, "read: rewritten again and again", err, filepath.Dir(path), "DIR")
		}
	}
}

// A file that was torn for a moment, as any writer in place tears it, is read
// when it is whole again.
func TestATornFileIsReadWhenItIsWhole(t *testing.T) {
	instantly(func(t *testing.T) {
		path := legacyFile(t, `{"a":`)
		time.AfterFunc(stillBroken/2, func() {
			if err := os.WriteFile(path, []byte(`{"a": 1}`), 0o600); err != nil {
				t.Error(err)
			}
		})
		l, err := Read(t.Context(), path)
		if err != nil || string(l.object[0].Value) != "1" {
			t.Errorf("got %+v (%v)", l, err)
		}
	})(t)
}

// One that stays torn is broken, and one that is torn again and again is being
// rewritten.
func TestATornFileIsBrokenOrBeingRewritten(t *testing.T) {
	instantly(func(t *testing.T) {
		path := legacyFile(t, `{"a":`)
		start := time.Now()
		_, err := Read(t.Context(), path)
		wantError(t, err, store.Invalid, "ends too early")
		if took := time.Since(start); took < stillBroken || took > stillBroken+pause {
			t.Errorf("it took %v", took)
		}
	})(t)
	instantly(func(t *testing.T) {
		path := legacyFile(t, `{"a":`)
		writing(t, func(round int) error {
			time.Sleep(3 * pause)
			return os.WriteFile(path, fmt.Appendf(nil, `{"a": %d`, round), 0o600)
		})
		start := time.Now()
		_, err := Read(t.Context(), path)
		wantError(t, err, store.Busy, "keeps changing")
		said.Same(t, "read: rewritten again and again", err, filepath.Dir(path), "DIR")
		if took := time.Since(start); took < patience || took > patience+pause {
			t.Errorf("it took %v", took)
		}
	})(t)
}

// A writer that removes the file for a moment has not made it absent.
func TestAFileThatIsReplacedByRemovalIsNotAbsent(t *testing.T) {
	instantly(func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "runtime.json")
		time.AfterFunc(stillAbsent/2, func() {
			if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
				t.Error(err)
			}
		})
		if _, err := Read(t.Context(), path); err != nil {
			t.Error(err)
		}
	})(t)
}

// Case 129: a writer that replaces the file again and again is found out before
// anything is written.
func TestALegacyWriterIsFoundOutBefore(t *testing.T) {
	instantly(func(t *testing.T) {
		path := legacyFile(t, `{"n": 0}`)
		writing(t, func(round int) error {
			time.Sleep(50 * time.Millisecond)
			temp := path + ".t"
			if err := os.WriteFile(temp, fmt.Appendf(nil, `{"n": %d}`, round), 0o600); err != nil {
				return err
			}
			return os.Rename(temp, path)
		})
		_, err := Read(t.Context(), path)
		wantError(t, err, store.Busy, path, "the file keeps changing")
	})(t)
}

func TestAReadEndsWithItsContext(t *testing.T) {
	path := legacyFile(t, `{"a":`)
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	_, err := Read(ctx, path)
	wantError(t, err, why)
}

// Case 129: a change of the legacy file during the commits is reported with its
// places.
func TestALegacyWriterIsFoundOutAfterwards(t *testing.T) {
	for _, tc := range []struct {
		name, now string // empty: the file is removed
		changed   []string
		says      string
	}{
		{"values", `{"version": 2, "cost_total": 12.50, "a": {"b": 2}, "new": 1}`, []string{"/version", "/opened_at", "/a/b", "/new"}, "other values at /version, /opened_at, /a/b, /new"},
		{"layout", `{"version": 1,"cost_total": 12.50,"opened_at":"2026-08-10T08:02:11+0100", "a": {"b": 1, "c": 1}}`, nil, "rewritten with the same values"},
		{"torn", `{"version"`, nil, "the file was rewritten"},
		{"removed", "", nil, "removed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			const before = `{"version": 1, "cost_total": 12.50, "opened_at": "2026-08-10T08:02:11+0100", "a": {"b": 1, "c": 1}}`
			dir, p := newState(t, flat()), planned(t, flat(), before)
			if tc.name == "values" {
				tc.now = strings.Replace(tc.now, `{"b": 2}`, `{"b": 2, "c": 1}`, 1)
			}
			err := os.Remove(p.legacy.Path)
			if tc.now != "" {
				err = os.WriteFile(p.legacy.Path, []byte(tc.now), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			r, err := p.Apply(t.Context(), dir, nil)
			wantError(t, err, store.Busy, p.legacy.Path, tc.says)
			var changed []string
			for _, pointer := range r.Changed {
				changed = append(changed, string(pointer))
			}
			if fmt.Sprint(changed) != fmt.Sprint(tc.changed) {
				t.Errorf("changed %v, want %v", changed, tc.changed)
			}
			if got := len(imported(r)); got != 2 {
				t.Errorf("%d values were imported, want 2", got)
			}
		})
	}
}
