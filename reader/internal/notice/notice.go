// Package notice tells that something in a few directories may have changed. It
// does not say what, since the answer to any notice is to read everything: a
// state is small, and a notice about one file may have been lost behind that
// about another.
package notice

import (
	"errors"
	"path/filepath"
	"strings"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// A Source gives notices of the changes in directories. Its methods are safe
// for concurrent use.
type Source struct {
	watcher *fsnotify.Watcher
	ended   chan struct{} // closed when nothing is received any more
	rings   chan struct{} // holds one

	mu       sync.Mutex
	overflow bool
	err      error
}

// New returns a Source of no directory yet. It fails if the system gives no
// notices, or not to one more.
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

// Watch has notices given of what changes in dir from now on. It may be called
// again at any time, and then does nothing unless dir is another directory now.
//
// The directory is watched, never a file in it: an atomic replacement takes the
// watched file away.
func (s *Source) Watch(dir string) error { return s.watcher.Add(dir) }

// Rings returns a channel that receives after something may have changed, once
// for any number of changes since it was received from last.
func (s *Source) Rings() <-chan struct{} { return s.rings }

// Overflowed reports whether notices were lost since it was called last. That
// rings too.
func (s *Source) Overflowed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	lost := s.overflow
	s.overflow = false
	return lost
}

// Err returns why no more notices come, or nil. That rings too.
func (s *Source) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Close ends the notices. When it returns, no goroutine of the Source is left.
func (s *Source) Close() {
	s.watcher.Close()
	<-s.ended
}

// receive takes what the system says until it says no more. It never waits for
// anybody, so that the system's queue fills only while this process does not
// run.
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

// failed notes an error, which is about no file: nothing is filtered by a name
// that it does not have.
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
	default: // who has not yet answered the last one will see this change too
	}
}

// noise reports whether name is that of a file in the making, of which every
// commit gives several notices. A view reads no file whose name begins with a
// dot; of directories, only .freehold, which is Freehold's own.
func noise(name string) bool {
	base := filepath.Base(name)
	return strings.HasPrefix(base, ".") && base != "." && base != ".freehold"
}
