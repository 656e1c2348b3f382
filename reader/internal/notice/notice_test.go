package notice

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/fsnotify/fsnotify"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fed returns a Source that received what the system is made to say.
func fed(events []fsnotify.Event, errs []error) *Source {
	s := newSource()
	eventsOut, errsOut := make(chan fsnotify.Event), make(chan error)
	go func() {
		for _, e := range events {
			eventsOut <- e
		}
		for _, err := range errs {
			errsOut <- err
		}
		close(errsOut)
		close(eventsOut)
	}()
	s.receive(eventsOut, errsOut)
	return s
}

func rang(s *Source) bool {
	select {
	case <-s.Rings():
		return true
	default:
		return false
	}
}

// Case 81: an overflow is about no file, and is not lost on the way through what
// is filtered by names.
func TestAnOverflowWithoutAPathRings(t *testing.T) {
	s := newSource()
	s.failed(fsnotify.ErrEventOverflow)
	if !rang(s) || !s.Overflowed() {
		t.Error("nobody is told")
	}
	if s.Overflowed() || s.Err() != nil {
		t.Errorf("told twice, or as an end: %v", s.Err())
	}
	if s := fed([]fsnotify.Event{{Name: "/s/.cost.json100000000000000", Op: fsnotify.Create}}, []error{fsnotify.ErrEventOverflow}); !s.Overflowed() {
		t.Error("nobody is told behind a file in the making")
	}
}

// Case 77: that the notices have ended goes somewhere.
func TestAnErrorOfTheSystemRingsAndStays(t *testing.T) {
	broken := errors.New("broken")
	s := fed(nil, []error{broken, errors.New("another")})
	if !rang(s) || s.Err() != broken {
		t.Errorf("got %v", s.Err())
	}
	if s := fed(nil, nil); !rang(s) || s.Err() == nil {
		t.Error("the end was silent")
	}
}

func TestManyChangesRingOnce(t *testing.T) {
	s := newSource()
	for range 1000 {
		s.ring()
	}
	if !rang(s) || rang(s) {
		t.Error("not once")
	}
}

func TestOnlyFilesInTheMakingAreNoise(t *testing.T) {
	for name, want := range map[string]bool{
		"/s/.cost.json123000000000000": true, "/s/.freehold/.manifest.json700000000000000": true,
		"/s/cost.json": false, "/s/.freehold": false, "/s/.freehold/claims/hook/fired": false, "/s": false, "": false,
	} {
		if got := noise(name); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}

// Case 75: every replacement rings, not only the first.
func TestEveryReplacementOfAFileRings(t *testing.T) {
	dir := t.TempDir()
	s, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 2 { // the second does nothing
		if err := s.Watch(dir); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Watch(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a directory that is not there: %v", err)
	}
	for range 20 {
		fresh := filepath.Join(dir, ".fresh")
		if err := os.WriteFile(fresh, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(fresh, filepath.Join(dir, "cost.json")); err != nil {
			t.Fatal(err)
		}
		<-s.Rings()
	}
}
