// Package notice tells that a file in one of a few directories may have changed.
// It does not name the file: the answer to any notice is to read everything, since
// a state is small and notices get lost.
package notice

import (
	"errors"
	"path/filepath"
	"strings"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// A Source gives notices of changes in directories. It is safe for concurrent use.
type Source struct {
	watcher *fsnotify.Watcher
	ended   chan struct{} // closed when nothing is received any more
	rings   chan struct{} // holds one

	mu       sync.Mutex
	overflow bool
	err      error
}

// New returns a Source of no directory yet. It returns an error if the system gives
// no more notices.
func New() (*Source, error) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	s := newSource()
	s.watcher = watcher
	go s.receive(watcher.Events, watcher.Errors)
	return s, nil
}

func newSource() *Source {
	return &Source{ended: make(chan struct{}), rings: make(chan struct{}, 1)}
}

// Watch starts notices of changes in dir. A second call does nothing, unless dir is
// another directory now. It watches the directory and no file in it, because an
// atomic replacement would take the watched file away.
func (s *Source) Watch(dir string) error { return s.watcher.Add(dir) }

// Rings returns a channel that receives once for any number of changes since the
// last receive.
func (s *Source) Rings() <-chan struct{} { return s.rings }

// Overflowed reports whether notices were lost since the last call. A loss rings.
func (s *Source) Overflowed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	lost := s.overflow
	s.overflow = false
	return lost
}

// Err returns the reason for the end of the notices, or nil. The end rings.
func (s *Source) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Close ends the notices, and returns when no goroutine of the Source is left.
func (s *Source) Close() {
	s.watcher.Close()
	<-s.ended
}

// receive receives from the system until both channels are closed. It never waits
// for another goroutine, so that the system's queue stays short.
func (s *Source) receive(events <-chan fsnotify.Event, errs <-chan error) {
	defer close(s.ended)
	for events != nil || errs != nil {
		select {
		case event, ok := <-events:
			if !ok {
				events = nil
			} else if !noise(event.Name) {
				s.ring()
			}
		case err, ok := <-errs:
			if !ok {
				errs = nil
			} else {
				s.failed(err)
			}
		}
	}
	s.failed(errEnded)
}

var errEnded = errors.New("the system's notices have ended")

// failed notes an error of the system and rings.
func (s *Source) failed(err error) {
	s.mu.Lock()
	if errors.Is(err, fsnotify.ErrEventOverflow) {
		s.overflow = true
	} else if s.err == nil {
		s.err = err
	}
	s.mu.Unlock()
	s.ring()
}

func (s *Source) ring() {
	select {
	case s.rings <- struct{}{}:
	default: // the answer to the last ring will find this change too
	}
}

// noise reports whether name begins with a dot, as that of a file in the making,
// of which every commit gives several notices. A view reads no such file.
func noise(name string) bool {
	base := filepath.Base(name)
	return strings.HasPrefix(base, ".") && base != "." && base != ".freehold"
}
