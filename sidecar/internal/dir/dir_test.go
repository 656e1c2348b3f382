package dir

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLocatedErrorsNameTheWholePath(t *testing.T) {
	failed := errors.New("failed")
	d := open(t, t.TempDir())
	dir, at := d.Path(), d.Join("a")
	for want, err := range map[string]error{
		"open " + at + ": failed":                 &fs.PathError{Op: "open", Path: "a", Err: failed},
		"read " + at + ": failed":                 &fs.PathError{Op: "read", Path: at, Err: failed},
		"rename " + at + " " + dir + "/b: failed": &os.LinkError{Op: "rename", Old: "a", New: "b", Err: failed},
		"failed": failed,
	} {
		if got := d.Located(err); got.Error() != want || !errors.Is(got, failed) {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
	if err := d.Located(nil); err != nil {
		t.Error(err)
	}
}

// Both ways to make a file keep one promise: of many at once, one makes it,
// whole; the others are told so; no other file is left.
func TestOneOfManyMakesTheFile(t *testing.T) {
	for name, draft := range map[string]func(*Dir, string, []byte) (*Draft, error){
		"without a name first":     (*Dir).Draft,
		"under another name first": draftStaged,
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t, t.TempDir())
			var made [][]byte
			var mu sync.Mutex
			var wg sync.WaitGroup
			for i := range 16 {
				raw := []byte{'a' + byte(i)}
				wg.Go(func() {
					draft, err := draft(d, "fired", raw)
					if err == nil {
						err = draft.publishAndClose("fired")
					}
					mu.Lock()
					defer mu.Unlock()
					if err == nil {
						made = append(made, raw)
					} else if !errors.Is(err, fs.ErrExist) {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			raw, err := d.ReadFile("fired", nil, 10)
			if err != nil || len(made) != 1 || !bytes.Equal(made[0], raw) {
				t.Errorf("made by %q, and it holds %q (%v)", made, raw, err)
			}
			names, err := d.Names()
			if diff := cmp.Diff([]string{"fired"}, names); diff != "" || err != nil {
				t.Errorf("%v, names (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestProbeLeavesNothing(t *testing.T) {
	d := open(t, t.TempDir())
	if err := errors.Join(d.ProbeCreate(), probeStaged(d)); err != nil {
		t.Error(err)
	}
	if names, err := d.Names(); names != nil || err != nil {
		t.Errorf("left: %v (%v)", names, err)
	}
}
