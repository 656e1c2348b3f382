package adopt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// Waits for a legacy file to stand still. Its writers take no lock: a file may
// be half written, or about to be written again.
const (
	stillWhole  = 250 * time.Millisecond // a valid file
	stillBroken = time.Second            // an invalid file, which may be half written
	stillAbsent = 50 * time.Millisecond  // a missing file, which may be about to be replaced
	patience    = time.Second            // the longest wait for a file that keeps changing
	pause       = 20 * time.Millisecond  // between two reads
)

// Read reads the legacy file at path: a regular file, or a link to one, of at
// most [MaxSize] bytes. A file that was just written is watched for up to a
// second.
//
// It returns an error that wraps [ErrAbsent] if there is no file at path;
// [store.Unreadable] if the file cannot be read; [store.Invalid] if
// it is not a JSON object; and [ErrActive] if it keeps changing.
func Read(ctx context.Context, path string) (*Legacy, error) {
	start := time.Now()
	last, err := look(path)
	if err != nil {
		return nil, err
	}
	since, moved := last.since(start), false
	l, verdict := last.judge(path)
	for {
		switch {
		case time.Since(since) >= last.still(verdict):
			return l, verdict
		case moved && time.Since(start) >= patience:
			return nil, store.WithRemedy(fmt.Errorf("%s: %w: the file keeps changing", path, ErrActive), store.Remedy{Note: "stop the program that writes the file, then adopt it"})
		}
		if err := sleep(ctx, pause); err != nil {
			return nil, err
		}
		next, err := look(path)
		if err != nil {
			return nil, err
		}
		if !next.equal(last) {
			since, moved = time.Now(), true
			l, verdict = next.judge(path)
		}
		last = next
	}
}

// A glance is one reading of the path of a legacy file.
type glance struct {
	absent bool
	steady bool // the file did not change while it was read
	text   []byte
	info   fs.FileInfo
}

// look reads the file at path once.
func look(path string) (*glance, error) {
	info, err := os.Stat(path) // opening a device or a pipe may block or have effects
	if err != nil {
		return missing(path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, unreadable(path, fmt.Errorf("not a regular file but a %s", typeName(info.Mode())))
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return missing(path, err)
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, unreadable(path, err)
	}
	if !info.Mode().IsRegular() { // replaced between the two calls
		return nil, unreadable(path, fmt.Errorf("not a regular file but a %s", typeName(info.Mode())))
	}
	if info.Size() > MaxSize {
		return nil, unreadable(path, fmt.Errorf("it has %d bytes, more than the %d allowed", info.Size(), MaxSize))
	}
	text, whole, err := readWithin(f, int(info.Size()))
	if err != nil {
		return nil, unreadable(path, err)
	}
	after, err := f.Stat()
	if err != nil {
		return nil, unreadable(path, err)
	}
	steady := after.Size() == info.Size() && after.ModTime().Equal(info.ModTime()) && (!whole || int64(len(text)) == info.Size())
	return &glance{steady: steady, text: text, info: after}, nil
}

// readWithin reads r, a file of size bytes, up to the first excess of the
// limits. whole reports whether the end was reached; otherwise [Parse] reports
// the excess.
func readWithin(r io.Reader, size int) (text []byte, whole bool, err error) {
	const step = 64 << 10
	meter := schema.Meter{Limits: limits}
	text = make([]byte, 0, min(size+1, step)) // one more byte, to see the end
	for {
		n, err := r.Read(text[len(text):min(len(text)+step, cap(text))])
		text = text[:len(text)+n]
		if _, over := meter.Write(text[len(text)-n:]); over != nil {
			return text, false, nil
		}
		if len(text) > MaxSize {
			return nil, false, fmt.Errorf("it grew past the %d bytes allowed", MaxSize)
		}
		if err == io.EOF {
			return text, true, nil
		}
		if err != nil {
			return nil, false, err
		}
		if len(text) == cap(text) {
			text = slices.Grow(text, max(min(len(text), size+1-len(text)), step)) // the file may have grown
		}
	}
}

// missing tells an absent file from an unreachable one. A dangling link is
// unreachable.
func missing(path string, err error) (*glance, error) {
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, unreadable(path, err)
	}
	for at := filepath.Clean(path); ; at = filepath.Dir(at) {
		if info, err := os.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			if _, err := os.Stat(at); err != nil {
				return nil, unreadable(path, fmt.Errorf("%s is a symbolic link that leads nowhere", at))
			}
		}
		if at == filepath.Dir(at) {
			return &glance{absent: true, steady: true}, nil
		}
	}
}

func unreadable(path string, err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = fmt.Errorf("%s: %w", e.Op, e.Err)
	}
	return store.WithRemedy(fmt.Errorf("%s: %w: %w", path, store.Unreadable, err), store.Remedy{Note: "make the file readable, or name another one"})
}

func typeName(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "directory"
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeDevice != 0:
		return "device"
	}
	return "file of unknown type"
}

// since returns the time of the last known write. A time stamp in the future is
// ignored.
func (g *glance) since(now time.Time) time.Time {
	if !g.absent && g.steady && g.info.ModTime().Before(now) {
		return g.info.ModTime()
	}
	return now
}

// still returns the time without change after which the verdict err is final.
func (g *glance) still(err error) time.Duration {
	switch {
	case g.absent:
		return stillAbsent
	case err != nil:
		return stillBroken
	}
	return stillWhole
}

func (g *glance) judge(path string) (*Legacy, error) {
	if g.absent {
		return nil, fmt.Errorf("%s: %w: nothing to do", path, ErrAbsent)
	}
	return Parse(path, g.text)
}

func (g *glance) equal(other *glance) bool {
	if g.absent || other.absent {
		return g.absent == other.absent
	}
	return g.steady && os.SameFile(g.info, other.info) && g.info.ModTime().Equal(other.info.ModTime()) && bytes.Equal(g.text, other.text)
}

// sleep waits for d. It returns the cause if ctx ends first.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
