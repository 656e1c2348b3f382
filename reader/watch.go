package reader

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/freehold-dev/freehold/reader/internal/notice"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// Watch yields a view at once and then one after every change, until ctx is done
// or the caller breaks off. Changes while the caller is busy, or within a hundredth
// of a second, are yielded together; the last state is never missed. No two views
// in a row have one [View.ID].
//
//	for v, err := range r.Watch(ctx) {
//		if err != nil {
//			log.Print(err) // and go on: the watch does, if it can
//			continue
//		}
//		…
//	}
//
// An error comes with a nil View. Each error of [Reader.View] is yielded once in a
// row, and the watch goes on with a view, even if that is the same as the last. Two
// errors end the watch: one that wraps [store.Moved], because a directory in the
// place of this one is another state, and [ErrClosed]. [ErrPolling] and [ErrResync]
// say how the watch goes on. The end of ctx is no error.
//
// Watch takes the system's notices of changes in the directories and, because some
// file systems give none, looks every second all the same. It leaves no goroutine
// and no open file.
func (r *Reader) Watch(ctx context.Context) iter.Seq2[*View, error] {
	return r.watch(ctx, func() (notices, error) { return notice.New() })
}

const (
	// burst is the shortest time between two looks: to look at every commit of
	// fast writers would take the processor from them.
	burst = 10 * time.Millisecond
	// idle is the time between looks without a notice: the renaming of a directory
	// further up gives none, nor do some file systems.
	idle = time.Second
	// often is the time between looks of a watch that polls.
	often = 100 * time.Millisecond
)

// notices are the methods of [notice.Source] that a watch needs.
type notices interface {
	Watch(dir string) error
	Rings() <-chan struct{}
	Overflowed() bool
	Err() error
	Close()
}

// A watch is one call of Watch under way.
type watch struct {
	r       *Reader
	yield   func(*View, error) bool
	notices notices // nil when polling
	last    *View   // the last view yielded; nil if an error was yielded since
	said    string  // the last error yielded; empty if a view was yielded since
	rang    bool    // this look follows a notice
	unrung  bool    // a look without a notice found a change, and none came since
	silent  bool    // none came in all the time until the look after that
}

func (r *Reader) watch(ctx context.Context, start func() (notices, error)) iter.Seq2[*View, error] {
	return func(yield func(*View, error) bool) {
		w := &watch{r: r, yield: yield}
		defer w.stop()
		var err error
		if w.notices, err = start(); err != nil {
			w.notices = nil
			if !yield(nil, r.polling(err)) {
				return
			}
		}
		for w.look(ctx) && w.wait(ctx) { // until one of them says that it is over
		}
	}
}

// look reads the state, yields a new view, and reports whether to go on. The
// directories are watched before they are read, so that each change is read or
// gives a notice.
func (w *watch) look(ctx context.Context) bool {
	for {
		folders := w.r.folders()
		if !w.heed(folders) {
			return false
		}
		v, err := w.r.View(ctx)
		if ctx.Err() != nil || !w.show(v, err) {
			return false
		}
		if slices.Equal(folders, w.r.folders()) {
			return true
		}
	}
}

// heed watches the folders, yields errors about the notices, and reports whether to
// go on.
func (w *watch) heed(folders []string) bool {
	if w.notices == nil {
		return true
	}
	err := w.notices.Err()
	for i := 0; i < len(folders) && err == nil; i++ {
		err = w.notices.Watch(folders[i])
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			err = nil // the view has an error too, and the next look tries again
		}
	}
	if err == nil && w.silent {
		err = errNoNotice
	}
	if err != nil {
		w.stop()
		return w.yield(nil, w.r.polling(err))
	}
	if w.notices.Overflowed() {
		return w.yield(nil, fmt.Errorf("%s: %w: nothing to do, for everything is read again", w.r.dir.Path(), ErrResync))
	}
	return true
}

var errNoNotice = errors.New("a change came without one")

// polling returns the [ErrPolling] of a watch without notices.
func (r *Reader) polling(why error) error {
	return fmt.Errorf("%s: %w every %v, because the system gives no notices of changes: %w: if that is for want of inotify instances or watches, allow more of them with sysctl fs.inotify",
		r.dir.Path(), ErrPolling, often, why)
}

// stop closes the notices, if there are any.
func (w *watch) stop() {
	if w.notices != nil {
		w.notices.Close()
		w.notices = nil
	}
}

// show yields the result of a look, if it is new, and reports whether to go on.
func (w *watch) show(v *View, err error) bool {
	if err != nil {
		ends := errors.Is(err, store.Moved) || errors.Is(err, ErrClosed)
		if err.Error() != w.said && !w.yield(nil, err) {
			return false
		}
		w.last, w.said = nil, err.Error()
		return !ends
	}
	if w.last != nil && w.last.id == v.id && w.last.declared == v.declared {
		return true
	}
	w.unrung = w.unrung || w.last != nil && !w.rang
	w.last, w.said = v, ""
	return w.yield(v, nil)
}

// wait waits for the time of the next look, and reports whether to go on.
func (w *watch) wait(ctx context.Context) bool {
	rings, pause := (<-chan struct{})(nil), often
	if w.notices != nil {
		rings, pause = w.notices.Rings(), idle
	}
	early := time.NewTimer(burst)
	defer early.Stop()
	late := time.NewTimer(pause)
	defer late.Stop()
	w.rang = false
	select {
	case <-ctx.Done():
		return false
	case <-w.r.closing:
		return true // the look says it
	case <-late.C:
		w.silent = w.unrung
		return true
	case <-rings:
		w.rang, w.unrung = true, false
	}
	select {
	case <-ctx.Done():
		return false
	case <-w.r.closing:
	case <-early.C:
	}
	return true
}

// folders returns the absolute paths of the directories of a view's files.
func (r *Reader) folders() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := &schema.Declaration{}
	if r.declared != nil { // else the manifest cannot be used just now
		d = r.declared.declaration
	}
	folders := store.Folders(d)
	for i, f := range folders {
		folders[i] = filepath.Join(r.dir.Path(), f)
	}
	return folders
}
